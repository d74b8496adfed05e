"""The page of a run that has traded, in a real browser, from the disk and from the server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.runs import Run
from services.telemetry.view import TraceServer, write_page
from tests.browser import Tab, browser
from tests.services.telemetry.view.traded import traded


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with browser(tmp_path_factory.mktemp("profile")) as tab:
        yield tab


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return traded(tmp_path_factory.mktemp("runs") / "run").folder


@pytest.fixture(scope="module", params=["from the disk", "from the server"])
def address(request: pytest.FixtureRequest, folder: Path, window: Tab) -> Iterator[str]:
    if request.param == "from the disk":
        yield write_page(Run(folder), folder.parent / "trace.html").as_uri()
    else:
        with TraceServer(Run(folder)) as server:
            yield server.address


@pytest.fixture
def tab(window: Tab) -> Iterator[Tab]:
    """The browser; whatever a test does with it, the page never complains."""
    window.size(1200)
    window.complaints.clear()
    yield window
    assert window.complaints == []

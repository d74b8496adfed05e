"""Errors on the page, and what went wrong without being one: counted, coloured, filtered."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.runs import Run
from services.telemetry.view import TraceServer, write_page
from tests.browser import Tab, browser, needs_browser
from tests.services.telemetry.view.traded import traded

pytestmark = needs_browser

READY = "document.documentElement?.dataset.ready"


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


def opened(tab: Tab, address: str, place: str = "") -> Tab:
    tab.open(address + place, READY)
    return tab


def picked(tab: Tab, id: str) -> None:
    tab.wait_for(f"document.documentElement.dataset.picked === {json.dumps(id)}")


def on_day(tab: Tab, day: int) -> None:
    tab.wait_for(f"document.documentElement.dataset.day === '{day}'")


def only(tab: Tab, words: str) -> None:
    """Ticks a filter of the log."""
    tab.ask(
        "[...document.querySelectorAll('.log label.tick')]"
        f".find((n) => n.textContent.trim() === {json.dumps(words)}).click()"
    )


def test_the_header_tells_errors_from_what_is_none(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=1")
    on_day(tab, 1)
    assert "1 error · 1 refused command, 1 lost delivery, 1 late delivery" in tab.text(".day-title")
    assert "2 errors · 1 refused command, 1 lost delivery, 1 late" in tab.text("header .facts")


@pytest.mark.parametrize(
    ("day", "words", "id"),
    [
        (0, "errors only", f"span {'b' * 16}"),
        (1, "errors only", "exchange!9"),
        (1, "refused", "exchange!6"),
    ],
)
def test_a_filter_lists_as_many_as_the_header_counts(
    tab: Tab, address: str, day: int, words: str, id: str
) -> None:
    opened(tab, address, f"#day={day}&view=log")
    only(tab, words)
    tab.wait_for("document.querySelectorAll('.row').length === 1")
    assert tab.text(".row .which").startswith(f"{id} ·")


def test_both_filters_list_errors_and_refusals(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=1&view=log")
    only(tab, "errors only")
    only(tab, "refused")
    tab.wait_for("document.querySelectorAll('.row').length === 2")


def test_lost_and_late_deliveries_are_found_as_such(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=1&view=log")
    tab.ask(
        "(() => { const s = document.querySelector('.log select'); s.value = 'astray';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    tab.wait_for("document.querySelectorAll('.row').length === 2")
    assert tab.ask("document.querySelectorAll('.row .warn').length") == 2


def test_only_errors_are_red(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=1&view=log")
    assert tab.ask("document.querySelectorAll('.row .what.bad').length") == 2  # and its message
    opened(tab, address, "#day=1&id=farmer_A%233")
    picked(tab, "farmer_A#3")
    assert tab.ask("document.querySelector('#details h2').className") == "warn"
    assert "errors refused, lost or late" in tab.text(".waterfall .keys")

"""The file that holds a whole run."""

import base64
import gzip
import hashlib
import html
import json
import re
from contextlib import closing
from pathlib import Path

import pytest

from services.errors import HanseError
from services.runs import Run, RunStore
from services.telemetry.reader import TraceReader
from services.telemetry.view import write_page
from services.telemetry.view.chunks import day_chunk
from tests.services.runs.samples import manifest
from tests.services.telemetry.view.traded import EVIL, traded


def chunk(page: str, name: str) -> object:
    found = re.search(rf'<script type="text/plain" id="chunk-{name}">([^<]*)</script>', page)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def test_it_lies_in_the_runs_folder_unless_told_otherwise(tmp_path: Path) -> None:
    run = traded(tmp_path / "run")
    assert write_page(run) == tmp_path / "run" / "trace.html"
    assert write_page(run, tmp_path / "other.html") == tmp_path / "other.html"
    assert (tmp_path / "other.html").read_bytes() == (tmp_path / "run/trace.html").read_bytes()


def test_it_holds_every_day_as_a_chunk_of_its_own(tmp_path: Path) -> None:
    run = traded(tmp_path / "run")
    page = write_page(run).read_text()
    for day in range(3):
        assert chunk(page, f"day-{day}") == day_chunk(TraceReader(run), day)
    assert "chunk-day-3" not in page
    orders = chunk(page, "orders")
    assert isinstance(orders, list)
    assert orders[0] == ["exchange", "O1", ["offer:O1", "deal:D1", "invoice:I1"], [0, 1, 2]]


def test_its_policy_allows_its_own_script_and_no_request(tmp_path: Path) -> None:
    page = write_page(traded(tmp_path / "run")).read_text()
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    script = re.search(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    assert found is not None
    assert script is not None
    rules = dict(rule.split(" ", 1) for rule in html.unescape(found[1]).split("; "))
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert "connect-src" not in rules


def test_nothing_that_an_agent_wrote_stands_in_it_as_markup(tmp_path: Path) -> None:
    page = write_page(traded(tmp_path / "run", days=2)).read_text()
    assert "<img" not in page
    assert EVIL not in page
    assert page.count("</script>") == 2 + 3  # data and script, and the chunks of days and orders


def test_a_hostile_name_of_a_run_stays_text(tmp_path: Path) -> None:
    run = traded(tmp_path / "run")
    run.manifest = run.manifest.model_copy(update={"name": "</title><script>alert(1)</script>"})
    page = write_page(run).read_text()
    assert "<script>alert" not in page
    assert "&lt;/title&gt;&lt;script&gt;" in page


def test_a_run_without_a_whole_day_has_a_page_too(tmp_path: Path) -> None:
    with closing(RunStore.create(tmp_path / "run", manifest())):
        page = write_page(Run(tmp_path / "run")).read_text()
    assert "chunk-day-0" not in page
    assert '"days":[]' in page


def test_it_asks_nobody_for_anything(tmp_path: Path) -> None:
    page = write_page(traded(tmp_path / "run")).read_text()
    addresses = set(re.findall(r"https?://[^\"'\s]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, not a request


def test_a_place_that_cannot_be_written_is_named_in_a_line(tmp_path: Path) -> None:
    run = traded(tmp_path / "run")
    with pytest.raises(HanseError, match=r"missing/page\.html: the page cannot be written"):
        write_page(run, tmp_path / "missing" / "page.html")
    with pytest.raises(HanseError, match="is a folder; name the file"):
        write_page(run, tmp_path)


def test_a_page_that_fails_half_way_leaves_the_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = traded(tmp_path / "run")
    target = write_page(run)
    before = target.read_bytes()

    def fail(reader: TraceReader, day: int) -> object:
        raise HanseError("damaged")

    monkeypatch.setattr("services.telemetry.view.page.day_chunk", fail)
    with pytest.raises(HanseError, match="damaged"):
        write_page(run)
    assert target.read_bytes() == before
    assert sorted(path.name for path in run.folder.iterdir()) == [
        "manifest.json",
        "run.db",
        "trace.html",
    ]

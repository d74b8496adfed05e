"""Users' own spans on the page: to be seen and chosen on both clocks, within what they lie in."""

from collections.abc import Iterator

import pytest

from services.telemetry.view import write_page
from services.telemetry.view.chunks import day_chunk
from tests.browser import Tab, browser, needs_browser
from tests.services.telemetry.inspection.thoughts import thought

pytestmark = needs_browser

READY = "document.documentElement?.dataset.ready"
OWN = (184, 34, 127)
"""The colour of own spans on a light page."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run in whose days bob thinks within his turns for some microseconds."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    reader = thought(folder)
    spans = day_chunk(reader, 0)["spans"]
    assert {"think", "think harder"} <= {span["name"] for span in spans if span["agent"] == "bob"}
    return write_page(reader.run).as_uri()


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with browser(tmp_path_factory.mktemp("profile")) as tab:
        tab.size(1200)
        yield tab


@pytest.fixture
def tab(window: Tab) -> Iterator[Tab]:
    """The browser; the page never complains (reading pixels is the test's own doing)."""
    window.complaints.clear()
    yield window
    assert [said for said in window.complaints if "willReadFrequently" not in said] == []


def spot(tab: Tab) -> list[float]:
    """Where the drawing shows an own span, in shares of its width and height; nothing if nowhere.

    Of all rows of pixels, the highest.
    """
    tab.ask("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")
    found = tab.ask(
        "(() => { const c = document.querySelector('.stage canvas');"
        " const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        f" const own = [{', '.join(map(str, OWN))}];"
        " for (let i = 0; i < d.length; i += 4)"
        " if (own.every((v, k) => d[i + k] === v)) {"
        " const at = i / 4; return [(at % c.width + 0.5) / c.width,"
        " (Math.floor(at / c.width) + 0.5) / c.height]; } return []; })()"
    )
    return list(found)


@pytest.mark.parametrize("clock", ["wall", "virtual"])
def test_an_own_span_is_seen_and_chosen_within_the_box_of_its_turn(
    tab: Tab, page: str, clock: str
) -> None:
    tab.open(f"{page}#day=0&time={clock}", READY)
    tab.wait_for("document.querySelector('.stage canvas').width > 300")
    place = spot(tab)
    assert place
    tab.click(".stage canvas", *place)
    tab.wait_for("document.documentElement.dataset.picked.startsWith('span ')")
    assert "Agent bob" in tab.text(".facts-of")
    assert "Because of exchange#" in tab.text(".facts-of")


def test_the_turn_beneath_is_chosen_above_its_own_spans(tab: Tab, page: str) -> None:
    tab.open(f"{page}#day=0", READY)
    x, y = spot(tab)
    height = tab.ask("document.querySelector('.stage canvas').clientHeight")
    tab.click(".stage canvas", x, y - 5 / height)
    tab.wait_for("document.documentElement.dataset.picked.startsWith('exchange#')")


def test_a_span_in_a_span_lies_beneath_it(tab: Tab, page: str) -> None:
    tab.open(f"{page}#day=0", READY)
    x, y = spot(tab)
    tab.click(".stage canvas", x, y)
    tab.wait_for("document.documentElement.dataset.picked.startsWith('span ')")
    assert "think" in tab.text("#details h2")
    assert "harder" not in tab.text("#details h2")
    tab.ask("document.querySelector('.stage canvas').focus()")
    tab.press("ArrowRight")
    tab.wait_for("document.querySelector('#details h2').innerText.includes('think harder')")
    assert "Within span " in tab.text(".facts-of")


def test_a_turn_tells_the_own_spans_that_came_of_it_and_they_tell_the_turn(
    tab: Tab, page: str
) -> None:
    tab.open(f"{page}#day=0", READY)
    tab.click(".stage canvas", *spot(tab))
    tab.wait_for("document.documentElement.dataset.picked.startsWith('span ')")
    span = tab.ask("document.documentElement.dataset.picked")
    tab.click(".path li:last-child button")
    tab.wait_for("document.documentElement.dataset.picked.startsWith('exchange#')")
    tree = tab.ask("[...document.querySelectorAll('.tree ul .what')].map((n) => n.textContent)")
    assert any("think" in line for line in tree)
    assert span in tab.text(".facts-of")


def test_own_spans_belong_to_the_trace_that_is_shown_alone(tab: Tab, page: str) -> None:
    tab.open(f"{page}#day=0", READY)
    tab.click(".stage canvas", *spot(tab))
    tab.ask("document.querySelector('input[value=chain]').click()")
    assert spot(tab)
    assert "Nothing is chosen" not in tab.text(".waterfall .note")


def test_the_legend_names_own_spans_and_other_work(tab: Tab, page: str) -> None:
    tab.open(f"{page}#day=0&time=wall", READY)
    assert "spans of your own other work" in tab.text(".waterfall .keys")


def test_the_league_has_a_lane_only_where_its_work_is_shown(tab: Tab, page: str) -> None:
    lanes = "parseFloat(document.querySelector('.lanes').style.height)"
    tab.open(f"{page}#day=0&time=virtual", READY)
    virtual = tab.ask(lanes)
    tab.open(f"{page}#day=0&time=wall", READY)
    assert tab.ask(lanes) > virtual
    tab.open(f"{page}#day=0&view=graph", READY)
    assert "the league" not in tab.text(".message-graph")

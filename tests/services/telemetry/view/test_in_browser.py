"""The page in a real browser: what a reader sees and can do, from the disk and from the server."""

import json
from contextlib import closing
from pathlib import Path

from services.runs import Run, RunStore
from services.telemetry.view import TraceServer
from tests.browser import Tab, needs_browser
from tests.services.runs.report_runs import HOSTILE
from tests.services.runs.samples import manifest
from tests.services.telemetry.view.looking import on_day, opened, picked
from tests.services.telemetry.view.traded import EVIL, Log, play, traded

pytestmark = needs_browser

DEAL = "D1: farmer_A sells roaster_A 20 kg of green coffee at 4.50 $/kg = 90.00 $"


def rows(tab: Tab) -> list[str]:
    """What the log lists, without when and which."""
    found = "[...document.querySelectorAll('.row .what')].map((n) => n.textContent)"
    return list(tab.ask(found))


def dark_pixels(tab: Tab, canvas: str) -> int:
    """How many pixels of a drawing are not empty."""
    tab.ask("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")
    return int(
        tab.ask(
            f"(() => {{ const c = document.querySelector({json.dumps(canvas)});"
            " const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
            " let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; })()"
        )
    )


def test_it_opens_on_the_first_day(tab: Tab, address: str) -> None:
    opened(tab, address)
    on_day(tab, 0)
    assert "Day 0 7 messages · 1 deal, 90.00 $ · 1 error" in tab.text(".day-title")
    assert "stopped, can be resumed" in tab.text("header")
    tab.wait_for("document.querySelector('.stage canvas').width > 300")
    assert dark_pixels(tab, ".stage canvas") > 1000
    assert dark_pixels(tab, "canvas.strip") > 1000


def test_the_slider_goes_from_day_to_day(tab: Tab, address: str) -> None:
    opened(tab, address)
    tab.ask("document.querySelector('.days input').focus()")
    tab.press("ArrowRight")
    on_day(tab, 1)
    tab.press("End")
    on_day(tab, 2)
    assert tab.ask("location.hash") == "#day=2"
    spoken = tab.ask("document.querySelector('.days input').getAttribute('aria-valuetext')")
    assert spoken.startswith("day 2, 2 messages")


def test_days_play_by_themselves_until_the_last(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=1&view=graph")
    tab.click(".play")
    on_day(tab, 2)
    tab.wait_for("document.querySelector('.play').getAttribute('aria-pressed') === 'false'")
    assert "Day 2" in tab.text(".day-title")


def test_an_address_names_day_message_and_view(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=0&id=farmer_A%232&view=log")
    picked(tab, "farmer_A#2")
    assert tab.text("#details h2") == "farmer_A accepts O1 (D1)"
    assert tab.ask("document.querySelector('#pane-log').hidden") is False


def test_an_address_without_the_day_finds_the_message(tab: Tab, address: str) -> None:
    opened(tab, address, "#id=roaster_A%233")
    picked(tab, "roaster_A#3")
    on_day(tab, 2)
    assert tab.ask("location.hash") == "#day=2&id=roaster_A%233"
    tab.ask("location.hash = '#day=1&id=farmer_A%233'")
    picked(tab, "farmer_A#3")
    assert (
        tab.text("#details h2")
        == "farmer_A roast qty_kg 5: refused, the firm's role does not do this (wrong_role)"
    )


def test_an_address_of_nothing_says_so(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=77&id=nobody%239")
    assert tab.text("header [role=alert]") == "Nothing in this run is called nobody#9."
    on_day(tab, 2)


def test_the_tree_leads_up_to_the_root_and_down_to_the_effects(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=0&id=roaster_A%232")
    picked(tab, "roaster_A#2")
    path = tab.ask("[...document.querySelectorAll('.path .what')].map((n) => n.textContent)")
    assert path == [
        "exchange wakes: the root of this trace",
        "roaster_A begins its day",
    ]
    tree = "[...document.querySelectorAll('.tree .what')].map((n) => n.textContent)"
    assert tab.ask(tree) == [
        "roaster_A bids 4.50 $/kg for 20 kg on L1 (O1)",
        "farmer_A has a turn because of: offer",
    ]
    tab.click(".tree ul .fold")
    assert tab.ask(tree)[2:] == ["farmer_A accepts O1 (D1)"]
    tab.click(".tree ul ul .fold")
    assert tab.ask(tree)[3:] == [
        DEAL,
        f"roaster_A gets a letter from farmer_A: “thanks: {' '.join(HOSTILE.split())}” (M1)",
    ]
    tab.click(".tree ul .fold")
    assert tab.ask("document.querySelector('.tree ul ul').hidden") is True


def test_an_order_is_told_from_offer_to_payment_over_days(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=1&id=exchange!5")
    picked(tab, "exchange!5")
    tab.wait_for("document.querySelector('.order')")
    order = tab.ask("[...document.querySelectorAll('.order li')].map((n) => n.innerText)")
    assert [" ".join(step.split()) for step in order] == [
        "day 0 09:00 roaster_A bids 4.50 $/kg for 20 kg on L1 (O1)",
        f"day 0 09:30 {DEAL}",
        "day 0 09:30 farmer_A accepts O1 (D1)",
        "day 1 09:00 20 kg of green coffee (D1) arrive at roaster_A from farmer_A",
        "day 1 09:00 farmer_A bills roaster_A 90.00 $ (I1), due on day 31",
        "day 2 09:00 roaster_A pays farmer_A 90.00 $ (I1)",
        "day 2 09:00 roaster_A pays I1",
    ]
    assert "O1 at exchange: 90.00 $ of 90.00 $ paid." in tab.text(".story")
    tab.click(".order li:nth-child(6) button")
    picked(tab, "exchange!11")
    on_day(tab, 2)


def test_details_say_everything_also_the_body(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=0&id=roaster_A%232")
    picked(tab, "roaster_A#2")
    said = tab.text(".facts-of")
    for part in ("day 0 09:00, round 1", "make offer", "tool", "exchange#1", "Took 500 ns"):
        assert part in said
    assert "Waited 1.0 µs" in said
    assert '"offered_price": 4.5,' in said


def test_search_goes_through_all_days(tab: Tab, address: str) -> None:
    opened(tab, address)
    tab.press("/")
    tab.type("i1")
    tab.wait_for("document.documentElement.dataset.searched === 'i1'")
    assert rows(tab) == [
        "farmer_A bills roaster_A 90.00 $ (I1), due on day 31",
        "roaster_A pays I1",
        "roaster_A pays farmer_A 90.00 $ (I1)",
        "roaster_A pays I1",
    ]
    assert tab.text(".log .note") == "4 entries found in 3 days."
    tab.click(".row:nth-child(2)")
    picked(tab, "roaster_A#3")
    assert tab.ask("location.hash") == "#day=2&id=roaster_A%233&view=log&q=i1"


def test_search_by_agent_and_kind(tab: Tab, address: str) -> None:
    opened(tab, address, "#view=log&q=agent%3Afarmer_a")
    tab.wait_for("document.documentElement.dataset.searched")
    tab.ask(
        "(() => { const s = document.querySelector('.log select'); s.value = 'turn';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    tab.wait_for("document.querySelectorAll('.row').length === 2")
    assert rows(tab) == [
        "farmer_A has a turn because of: offer",
        "farmer_A begins its day",
    ]


def test_the_log_is_read_with_keys(tab: Tab, address: str) -> None:
    opened(tab, address, "#view=log")
    tab.ask("document.querySelector('.long').focus()")
    for _ in range(3):
        tab.press("ArrowDown")
    tab.press("Enter")
    picked(tab, "exchange#1")
    tab.press("Escape")
    picked(tab, "")


def test_the_waterfall_is_read_with_keys(tab: Tab, address: str) -> None:
    opened(tab, address, "#id=exchange%231")
    picked(tab, "exchange#1")
    tab.ask("document.querySelector('.stage canvas').focus()")
    tab.press("ArrowRight")
    picked(tab, "exchange#3")
    tab.press("ArrowUp")
    picked(tab, "exchange#2")
    for key in ("+", "+", "-", "0"):
        tab.press(key)
    tab.press("ArrowUp")
    tab.wait_for("document.documentElement.dataset.picked.startsWith('farmer_A#2')")


def test_a_box_is_chosen_with_the_pointer(tab: Tab, address: str) -> None:
    opened(tab, address, "#time=wall")
    # Seven messages, a second each: the first box of the first lane is at the left edge.
    width = tab.ask("document.querySelector('.stage canvas').clientWidth")
    left = (148 + (width - 154) * 0.01 / 1.02) / width
    height = tab.ask("document.querySelector('.stage canvas').clientHeight")
    tab.click(".stage canvas", left + 0.0005, 40 / height)
    tab.wait_for("document.documentElement.dataset.picked")
    assert tab.ask("location.hash").endswith("&time=wall")


def test_a_trace_is_shown_alone(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=1&id=farmer_A%233")
    picked(tab, "farmer_A#3")
    tall = "parseFloat(document.querySelector('.lanes').style.height)"
    whole = tab.ask(tall)
    tab.ask("document.querySelector('input[value=chain]').click()")
    assert tab.ask(tall) != whole  # the lane of an agent that has no part in it is gone
    assert "only the order of rounds is real" in tab.text(".waterfall .note")
    tab.press("Escape")
    picked(tab, "")
    assert "Nothing is chosen on this day" in tab.text(".waterfall .note")
    assert tab.ask(tall) == whole


def test_a_recorded_span_is_shown_with_its_attributes(tab: Tab, address: str) -> None:
    opened(tab, address, f"#day=0&id=span%20{'b' * 16}&time=wall")
    picked(tab, "span " + "b" * 16)
    assert tab.text("#details h2") == "farmer_A thinks: span weigh sacks 2,000.0 ms: ERROR"
    said = tab.text(".facts-of")
    for part in ("Took 2.00 s", "Status ERROR", '"sacks": 12,', "ab" * 16):
        assert part in said


def test_nobody_can_turn_the_words_of_others_round(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=1&view=log")
    text = tab.ask("document.body.innerText")
    assert "\u202e" not in text
    assert "\\u202e" in text


def test_a_day_without_wall_times_says_so(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=1&time=wall")
    assert "This day has no wall times" in tab.text(".waterfall .note")


def test_the_graph_counts_messages_by_pair_and_channel(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=0&view=graph")
    tab.wait_for("document.querySelector('canvas.graph').width > 300")
    chips = tab.text(".chips")
    assert "talk 1" in chips
    assert "commands and tools 2" in chips
    table = "[...document.querySelectorAll('.message-graph tbody tr')].map((r) => r.innerText)"
    assert {" ".join(row.split()) for row in tab.ask(table)} == {
        "exchange farmer_A exec 1",
        "exchange roaster_A exec 1",
        "exchange roaster_A comm 1",
        "farmer_A exchange exec 1",
        "farmer_A exchange tool 1",
        "roaster_A exchange exec 1",
        "roaster_A exchange tool 1",
    }
    tab.click(".chip:nth-child(1)")
    assert not any("comm" in row for row in tab.ask(table))


def test_what_an_agent_wrote_is_shown_and_not_run(tab: Tab, address: str) -> None:
    for view in ("waterfall", "graph", "log"):
        for place in ("#day=1&id=", "#day=1&q=img&id="):
            for id in (f"{EVIL}#1", f"{EVIL}#2"):
                quoted = tab.ask(f"encodeURIComponent({json.dumps(id)})")
                opened(tab, address, f"{place}{quoted}&view={view}")
                picked(tab, id)
                said = tab.ask("document.querySelector('#details').textContent")
                assert EVIL.replace("\u202e", "\\u202e") in said
                assert tab.ask("document.querySelectorAll('img, iframe').length") == 0
                assert tab.ask("document.querySelectorAll('script').length") in (2, 6)
    assert tab.ask("document.title") == "coffee, seed 7: the trace of a run of Hanse"
    opened(tab, address, "#day=0&id=exchange%233")
    assert HOSTILE in tab.ask(
        "JSON.parse(document.querySelector('.facts-of pre').textContent).body"
    )


def test_no_width_makes_the_page_scroll_sideways(tab: Tab, address: str) -> None:
    for width in (1200, 800, 420):
        for view in ("waterfall", "graph", "log"):
            tab.size(width, dark=width == 800)
            opened(tab, address, f"#day=1&id=farmer_A%233&view={view}")
            picked(tab, "farmer_A#3")
            inside = tab.ask("document.documentElement.scrollWidth")
            assert inside <= tab.ask("document.documentElement.clientWidth"), (width, view)


def test_a_complaint_would_be_noticed(window: Tab, address: str) -> None:
    opened(window, address)
    window.complaints.clear()
    window.ask("setTimeout(() => { throw new Error('noticed') })")
    window.ask("document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:9/'}))")
    window.ask("new Promise((done) => setTimeout(done, 100))")
    assert any("noticed" in complaint for complaint in window.complaints)
    assert any("Content Security Policy" in complaint for complaint in window.complaints)


def test_days_that_are_written_meanwhile_appear(tab: Tab, tmp_path: Path) -> None:
    log = Log()
    with (
        closing(RunStore.create(tmp_path / "run", manifest())) as store,
        TraceServer(Run(tmp_path / "run")) as server,
    ):
        opened(tab, server.address)
        assert tab.text("header [role=alert]") == "No day is complete yet."
        assert "running" in tab.text(".state")
        play(store, log, 0)
        on_day(tab, 0)
        play(store, log, 1)
        tab.wait_for("document.documentElement.dataset.days === '2'")
        assert "2 of 5 days" in tab.text("header .facts")
        tab.press("]")
        on_day(tab, 1)


def test_a_server_that_is_gone_is_told(window: Tab, tmp_path: Path) -> None:
    with TraceServer(traded(tmp_path / "run")) as server:
        opened(window, server.address)
    window.press("]")
    window.wait_for("!document.querySelector('header [role=alert]').hidden")
    assert window.text("header [role=alert]") == (
        "The server does not answer; start hanse trace again."
    )

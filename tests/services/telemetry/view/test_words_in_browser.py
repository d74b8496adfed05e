"""The page and the command line say the same of the same, to the letter."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from actors.league import League
from services.config import RunConfig
from services.economy.refusals import REFUSALS
from services.runs import Run, RunStore
from services.telemetry.inspection import words
from services.telemetry.inspection.prose import Prose
from services.telemetry.reader import TraceReader
from services.telemetry.view import write_page
from tests.actors.alarmed import alarmed, alarmist, played
from tests.browser import Tab, browser, needs_browser
from tests.services.runs.samples import manifest
from tests.services.telemetry.inspection.thoughts import thought
from tests.services.telemetry.view.traded import GOODS, Log

pytestmark = needs_browser

READY = "document.documentElement?.dataset.ready"
OF_ITEM: dict[str, Any] = {"item_id": "green_coffee_kg", "qty": 1234}
TEXT = "a  long\nword " * 30
COMMANDS: list[tuple[str, dict[str, Any]]] = [
    ("produce_item", {"item_id": "green_coffee_kg", "quantity": 1200}),
    ("roast", {"green_item_id": "green_specialty_coffee_kg", "qty_kg": 5}),
    ("post_listing", {**OF_ITEM, "asking_price": 1234.5, "payment_terms_days": 1}),
    ("post_listing", {**OF_ITEM, "asking_price": 4}),
    ("cancel_listing", {"listing_id": "L1"}),
    ("make_offer", {"listing_id": "L1", "qty": 12, "offered_price": 15.04}),
    ("make_offer", {"listing_id": "L1", "qty": 12, "offered_price": 3.125, "message": TEXT}),
    ("make_offer", {"listing_id": "L1", "qty": "many", "offered_price": 3.125}),
    ("withdraw_offer", {"offer_id": "O1"}),
    ("reject_offer", {"offer_id": "O1", "reason": "too low"}),
    ("accept_offer", {"offer_id": "O1"}),
    ("pay_invoice", {"invoice_id": "I1"}),
    ("pay_invoice", {"invoice_id": "I1", "amount": 0.375}),
    ("return_shipment", {"invoice_id": "I1", "quantity_kg": 3, "reason": "mouldy"}),
    ("set_retail_price", {"item_id": "roasted_coffee_kg", "price_per_unit": 2.675}),
    ("set_retail_price", {"item_id": "roasted_coffee_kg", "price_per_unit": None}),
    ("send_message", {"recipient": "ann", "title": "hello", "body": TEXT}),
    ("order_abroad", {**OF_ITEM, "max_price": 1.005}),
    ("view_listings", {"item_id": "green_coffee_kg"}),
    ("view_offers", {"direction": "incoming", "status": "all"}),
    ("view_offers", {}),
    *[(f"view_{what}", {}) for what in ("deals", "payables", "receivables", "trial_balance")],
    *[(f"view_{what}", {}) for what in ("market_aggregate", "consumer_sales", "messages")],
    ("read_message", {"message_id": "M1"}),
    ("wait_for_next_day", {}),
    ("dance", {"with": ["ann", {"and": None}], "how": "slowly"}),
]
EVENTS: list[tuple[str, dict[str, Any]]] = [
    *[("delivery", {**GOODS, "deal": "D1", "outcome": o}) for o in ("delivered", "delayed")],
    *[("delivery", {**GOODS, "deal": "D1", "outcome": o}) for o in ("lost", "stolen")],
    ("return", {**GOODS, "deal": "D1", "credit": 12345.675, "reason": "mouldy"}),
    ("consumer_sale", {**GOODS, "shop": "s", "unit_price": 2, "revenue": 40, "elastic_qty": 30}),
    ("spoilage", {**GOODS, "firm": "ann", "value": 0.1}),
    ("trade", {**GOODS, "direction": "refused", "amount": 5, "order": "A1", "reason": "none"}),
    ("trade", {**GOODS, "direction": "export", "amount": 5, "order": "A1", "town": "Riga"}),
    ("trade", {**GOODS, "direction": "import", "amount": 5, "order": "A1", "town": "Riga"}),
    ("bankruptcy", {"firm": "ann", "equity": -1234.5}),
    ("agent_error", {"error": "KeyError", "detail": "broken.py:19"}),
    ("turn_missed", {"reason": "time-out", "agent": "bob"}),
    ("mail_refused", {"count": 1200}),
    ("undeliverable", {"recipient": "nobody"}),
    ("stray_command", {"message": "ann#1"}),
    ("stray_trade", {"message": "ann#1"}),
    ("payment", {"payer": "ann"}),
    ("invented", {"a": 1, "b": [1.5, True]}),
]
MESSAGES: list[tuple[str, dict[str, Any]]] = [
    ("turn", {}),
    *[("turn", {"reason": reason}) for reason in words._REASONS],
    ("turn_missed", {"reason": "time-out"}),
    ("text", {"text": TEXT}),
    ("stock_report", {"position": {"green_coffee_kg": 1200}}),
    ("stock_report", {"position": {}}),
    ("purchase_orders", {"kg": {"green_coffee_kg": 20, "roasted_coffee_kg": 3}}),
    ("purchase_orders", {}),
    ("town_quote", {"town": "Riga", "kg": {"a_kg": 2, "b_kg": 0}, "asks": {"a_kg": 4.5}}),
    ("trade_order", {**GOODS, "town": "Riga", "max_price": 4.5, "order": "A1"}),
    ("trade_fill", {**GOODS, "town": "Riga", "total_micros": 1_500_000, "order": "A1"}),
    ("trade_refused", {"order": "A1", "reason": "none"}),
    ("letter", {"author": "ann"}),
    ("accept_offer", {"offer_id": "O1"}),
]


def everything(folder: Path) -> TraceReader:
    """A day with something of every kind, once as it should be and here and there amiss."""
    log = Log()
    for tool, args in COMMANDS:
        log.action(540, "ann#1", tool, status="success", args=args, new_id="X1")
    for code in (*REFUSALS, "because"):
        log.action(540, "ann#1", "accept_offer", status="error", args={}, error_code=code)
    for kind, body in EVENTS:
        log.event(540, 2, kind, "ann", **body)
    for place, (kind, body) in enumerate(MESSAGES):
        log.message(600, 0, f"exchange#{place + 1}", "ann", kind, body=body)
    with closing(RunStore.create(folder, manifest())) as store:
        store.append(**log.rows)
        store.end_day(0, b"state")
    return TraceReader(Run(folder))


def coffee(folder: Path) -> TraceReader:
    """Some days of the run that everybody sees first."""
    with League.create(RunConfig(days=4, placement="inline"), folder) as league:
        league.run()
    return TraceReader(Run(folder))


def watched(folder: Path) -> TraceReader:
    """A league that talks, with a monitor and a controller."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("actors.watchers.make_monitor", alarmist)
        return TraceReader(played(folder, alarmed(days=3, containment={})))


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with browser(tmp_path_factory.mktemp("profile")) as tab:
        tab.size(1200)
        yield tab


def on_the_page(tab: Tab, address: str, day: int) -> dict[str, str]:
    """The sentences of a day's log by what they are about."""
    tab.open(f"{address}#day={day}&view=log", READY)
    entries = int(tab.text(".log .note").split()[0].replace(",", ""))
    tab.ask(f"document.querySelector('.long').style.height = '{46 * entries}px'")
    tab.wait_for(f"document.querySelectorAll('.row').length === {entries}")
    found = tab.ask(
        "[...document.querySelectorAll('.row')].map((n) => ["
        "n.querySelector('.which').textContent, n.querySelector('.what').textContent])"
    )
    return {which.split(" · ")[0]: what for which, what in found}


def on_the_command_line(reader: TraceReader, day: int) -> dict[str, str]:
    found, prose = reader.day(day), Prose(reader)
    actions = {e.cause: e for e in found.events if e.kind == "action"}
    told = {e.id: prose.event(e) or words.event(e.kind, e.subject, e.facts) for e in found.events}
    for m in found.messages:
        if m.id in actions:
            told[m.id] = f"{m.sender} {words.action(actions[m.id].facts)}"
        else:
            raw = words.message(m.type, m.sender, m.recipient, json.loads(m.body))
            told[m.id] = prose.message(m) or raw
    return told


@pytest.mark.parametrize(
    ("play", "days"), [(everything, 1), (coffee, 4), (thought, 3), (watched, 3)]
)
def test_the_page_says_what_the_command_line_says(
    tab: Tab, tmp_path: Path, play: Any, days: int
) -> None:
    reader = play(tmp_path / "run")
    address = write_page(reader.run).as_uri()
    for day in range(days):
        page = on_the_page(tab, address, day)
        told = on_the_command_line(reader, day)
        assert {id: page[id] for id in told} == told


def test_an_own_span_is_told_as_on_the_command_line(tab: Tab, tmp_path: Path) -> None:
    reader = thought(tmp_path / "run")
    page = on_the_page(tab, write_page(reader.run).as_uri(), 1)
    (failed,) = (span for span in page.values() if "think harder" in span)
    # It is the processor's time, whatever that is at the moment.
    assert re.fullmatch(r"bob thinks: span think harder [\d.]+ ms: ERROR, no idea", failed)

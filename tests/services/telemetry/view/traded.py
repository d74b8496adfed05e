"""A run to look at: an order from offer to payment in three days, and an agent that means harm."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from services.runs import Run, RunStore
from tests.services.runs.report_runs import HOSTILE
from tests.services.runs.samples import manifest
from tests.services.telemetry.made_runs import HAND_OVER, SECOND, timed

EVIL = "<img src=x onerror=document.title='taken'>\u202e'\"`${1}"
"""The name of an agent."""

GOODS: dict[str, Any] = {
    "seller": "farmer_A",
    "buyer": "roaster_A",
    "item": "green_coffee_kg",
    "qty": 20,
}

Rows = dict[str, list[tuple[Any, ...]]]


class Log:
    """Gathers the rows of a day."""

    def __init__(self) -> None:
        self.rows: Rows = {"messages": [], "events": [], "metrics": []}
        self.recorded = 0

    def message(
        self, minute: int, round: int, id: str, recipient: str, type: str, cause: str | None = None,
        channel: str = "exec", body: Any = "{}",
    ) -> None:  # fmt: skip
        sender, _, number = id.rpartition("#")
        text = body if isinstance(body, str) else json.dumps(body, separators=(",", ":"))
        row = (
            minute, round, sender, int(number), recipient, channel, type, None, cause, None, text,
        )  # fmt: skip
        self.rows["messages"].append(row)

    def event(
        self, minute: int, round: int, kind: str, subject: str, cause: str | None = None,
        **body: Any,
    ) -> None:  # fmt: skip
        self.recorded += 1
        text = json.dumps(body, separators=(",", ":"))
        row = minute, round, "exchange", self.recorded, cause, kind, subject, text
        self.rows["events"].append(row)

    def action(self, minute: int, cause: str, tool: str, **about: Any) -> None:
        firm = cause.partition("#")[0]
        self.event(minute, 2, "action", firm, cause, tool=tool, **about)


def _first_day(log: Log) -> None:
    for firm in ("farmer_A", "roaster_A"):
        log.message(0, 0, f"{firm}#1", "exchange", "join")
        log.rows["metrics"].append((0, firm, json.dumps({"role": firm.partition("_")[0]})))
    log.message(540, 0, "exchange#1", "roaster_A", "turn", body={"reason": "morning"})
    log.message(
        540, 1, "roaster_A#2", "exchange", "make_offer", "exchange#1", "tool",
        {"listing_id": "L1", "offered_price": 4.5, "qty": 20},
    )  # fmt: skip
    log.action(
        540, "roaster_A#2", "make_offer", status="success", new_id="O1",
        args={"listing_id": "L1", "offered_price": 4.5, "qty": 20},
    )  # fmt: skip
    log.message(570, 0, "exchange#2", "farmer_A", "turn", "roaster_A#2", body={"reason": "offer"})
    log.message(
        570, 1, "farmer_A#2", "exchange", "accept_offer", "exchange#2", "tool", {"offer_id": "O1"}
    )
    log.event(
        570, 2, "deal", "farmer_A", "farmer_A#2", deal="D1", offer="O1", unit_price=4.5,
        total_price=90.0, **GOODS,
    )  # fmt: skip
    log.action(
        570, "farmer_A#2", "accept_offer", status="success", args={"offer_id": "O1"}, new_id="D1"
    )
    log.message(
        570, 2, "exchange#3", "roaster_A", "letter", "farmer_A#2", "comm",
        {"author": "farmer_A", "title": "thanks", "body": HOSTILE, "letter_id": "M1"},
    )  # fmt: skip


def _second_day(log: Log) -> None:
    log.event(1980, 0, "delivery", "roaster_A", deal="D1", outcome="delivered", **GOODS)
    log.event(
        1980, 0, "invoice", "roaster_A", invoice="I1", deal="D1", issuer="farmer_A",
        payer="roaster_A", amount=90.0, due_day=31,
    )  # fmt: skip
    log.message(1980, 0, "exchange#4", "farmer_A", "turn", body={"reason": "morning"})
    log.message(1980, 1, "farmer_A#3", "exchange", "roast", "exchange#4", "tool", {"qty_kg": 5})
    log.action(
        1980, "farmer_A#3", "roast", status="error", error_code="wrong_role", args={"qty_kg": 5}
    )
    log.message(1980, 1, f"{EVIL}#1", "exchange", "constructor", None, "__proto__", HOSTILE)
    log.message(1980, 1, f"{EVIL}#2", EVIL, "toString", f"{EVIL}#1", "hasOwnProperty", "[" * 20000)
    for deal, outcome in (("D8", "lost"), ("D9", "delayed")):
        log.event(1980, 0, "delivery", "roaster_A", deal=deal, outcome=outcome, **GOODS)
    log.event(1980, 2, "agent_error", EVIL, f"{EVIL}#1", error=HOSTILE, detail=HOSTILE)
    log.event(1980, 2, "valueOf", EVIL, f"{EVIL}#1", item={"toString": 1}, deal=HOSTILE)


def _third_day(log: Log) -> None:
    log.message(3420, 0, "exchange#5", "roaster_A", "turn", body={"reason": "morning"})
    log.message(
        3420,
        1,
        "roaster_A#3",
        "exchange",
        "pay_invoice",
        "exchange#5",
        "tool",
        {"invoice_id": "I1"},
    )
    log.event(
        3420, 2, "payment", "roaster_A", "roaster_A#3", invoice="I1", payer="roaster_A",
        issuer="farmer_A", amount=90.0,
    )  # fmt: skip
    log.action(3420, "roaster_A#3", "pay_invoice", status="success", args={"invoice_id": "I1"})


def _span(agent: str, id: str, name: str, status: str, **body: Any) -> tuple[Any, ...]:
    begun, ended = HAND_OVER + SECOND, HAND_OVER + 3 * SECOND
    about = name, "INTERNAL", begun, ended, 540, status, json.dumps(body)
    return 0, agent, id * 16, "ab" * 16, None, *about


SPANS = [
    _span("", "a", "checkpoint", "OK", attributes={"hanse.day": 0}),
    _span("farmer_A", "b", "weigh sacks", "ERROR", attributes={"sacks": 12, "who": EVIL}),
]
"""What was recorded as such on the first day: by the league, and by an agent of a user."""

DAYS = (_first_day, _second_day, _third_day)


def play(store: RunStore, log: Log, day: int) -> None:
    """Writes one of the three days; the first has wall times."""
    log.rows = {"messages": [], "events": [], "metrics": []}
    DAYS[day](log)
    times = timed(*log.rows["messages"]) if day == 0 else []
    store.append(**log.rows, timings=times, spans=SPANS if day == 0 else [])
    store.end_day(day, b"state")


def traded(folder: Path, days: int = 3, **config: Any) -> Run:
    """A run of these days, which is not finished."""
    with closing(RunStore.create(folder, manifest(**config))) as store:
        log = Log()
        for day in range(days):
            play(store, log, day)
    return Run(folder)

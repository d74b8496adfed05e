"""A small made-up run: what a league would hand to the store, the same for every test."""

import json
from pathlib import Path
from typing import Any

from services.runs import Manifest, RunResult, RunStore

CONFIG = {"seed": 7, "days": 5, "placement": "inline", "hosts": 1, "economy": {"market_cap": 130}}


def manifest(**changes: Any) -> Manifest:
    config = {**CONFIG, **changes}
    return Manifest.describe(
        config, name="coffee", seed=7, days=5, rules="hanse", placement="inline", hosts=1
    )


def rows_of(day: int, messages: int = 4) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of a day: every second message is a reply, every message is logged and booked."""
    start = day * 1440
    sent = [
        (
            start + number // 2,
            number % 2,
            "farmer_A",
            day * messages + number,
            "roaster_A",
            "comm",
            "letter",
            f"roaster_A#{number}" if number % 2 else None,
            None if number % 2 else f"exchange#{number}",
            None,
            json.dumps({"type": "letter", "text": f"Kaffee für {number}"}, ensure_ascii=False),
        )
        for number in range(messages)
    ]
    events = [
        (
            minute,
            turn,
            "exchange",
            number,
            f"{sender}#{number}" if number % 2 else None,
            "action",
            sender,
            json.dumps(
                {
                    "seq": number,
                    "tool": "send_message",
                    "args": {"to": "roaster_A"},
                    "status": "success",
                    "new_id": f"M{number}",
                    "error_code": None,
                    "day": day,
                    "minute_of_day": minute - start,
                }
            ),
        )
        for minute, turn, sender, number, *_ in sent
    ]
    ledger = [
        (minute, turn, "exchange", number, sender, "inventory", "cash", 2_500_000 + number, "D1")
        for minute, turn, sender, number, *_ in sent
    ]
    figures = {"role": "farmer", "cash": 1000.5 - day, "stock": {"green_A": 10 * day}}
    metrics = [(day, "farmer_A", json.dumps(figures)), (day, "roaster_A", json.dumps(figures))]
    return {"messages": sent, "events": events, "ledger": ledger, "metrics": metrics}


def state_of(day: int) -> bytes:
    return f"the league after day {day}".encode()


def play(store: RunStore, days: range, messages: int = 4) -> None:
    for day in days:
        store.append(**rows_of(day, messages))
        store.end_day(day, state_of(day))


def written(folder: Path, days: int = 3, messages: int = 4) -> Path:
    """A run folder with some whole days, closed."""
    with RunStore.create(folder, manifest()) as store:
        play(store, range(days), messages)
    return folder


def result() -> RunResult:
    return RunResult.model_validate(
        {
            "run": "runs/coffee",
            "name": "coffee",
            "seed": 7,
            "days": 5,
            "rules": "hanse",
            "placement": "inline",
            "hosts": 1,
            "log_sha256": "a" * 64,
            "ledger_sha256": "b" * 64,
            "messages": 20,
            "actions": 20,
            "seconds": 0.5,
            "firms": [
                {
                    "firm": "farmer_A",
                    "town": "town",
                    "role": "farmer",
                    "strategy": "scripted",
                    "net_income": 12.5,
                    "revenue": 100.0,
                    "cash": 512.5,
                    "stock_kg": 30,
                    "messages_sent": 20,
                    "deals": 2,
                }
            ],
            "counters": {"agent_errors": 0},
        }
    )

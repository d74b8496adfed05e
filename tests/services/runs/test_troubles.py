"""What went wrong in a run, firm by firm."""

import json
from pathlib import Path
from typing import Any

from services.runs import Run, RunStore
from services.runs.troubles import Refusals, refusals, troubles
from tests.services.runs.samples import manifest

Event = tuple[str, str, dict[str, Any]]


def run_with(folder: Path, *events: Event) -> Run:
    """A run of one day with these events (kind, firm, body), one a minute."""
    with RunStore.create(folder, manifest()) as store:
        store.append(
            events=[
                (
                    540 + n // 2,
                    0,
                    "exchange",
                    n,
                    None,
                    kind,
                    firm,
                    json.dumps(body, separators=(",", ":")),
                )
                for n, (kind, firm, body) in enumerate(events)
            ]
        )
        store.end_day(0, b"")
    return Run(folder)


def action(firm: str, code: str | None = None, **arguments: str) -> Event:
    outcome = {"status": "error", "error_code": code} if code else {"status": "success"}
    return "action", firm, {"tool": "roast", "args": arguments, **outcome}


def failure(firm: str, detail: str, where: str | None = None) -> list[Event]:
    """An error, and the turn that was missed because of it."""
    error = {"agent": firm, "error": detail.split(":")[0], "detail": detail}
    missed = {"agent": firm, "reason": "error", "detail": detail}
    return [
        ("agent_error", firm, error | ({"where": where} if where else {})),
        ("turn_missed", firm, missed),
    ]


def test_refused_commands_are_counted_with_the_most_frequent_code(tmp_path: Path) -> None:
    run = run_with(
        tmp_path / "run",
        action("Ada"),
        *[action("Ada", "exceeds_stock")] * 3,
        action("Ada", "daily_cap"),
        action("Bo"),
    )
    assert refusals(run) == {"Ada": Refusals(5, 4, "exceeds_stock"), "Bo": Refusals(1, 0, "")}


def test_what_a_firm_writes_is_not_taken_for_a_refusal(tmp_path: Path) -> None:
    letter = '"status":"error","error_code":"exceeds_stock"'
    run = run_with(tmp_path / "run", action("Ada", None, body=letter))
    assert refusals(run) == {"Ada": Refusals(1, 0, "")}


def test_an_error_is_told_once_with_its_place_and_how_often_it_came(tmp_path: Path) -> None:
    events = failure("Ada", "AttributeError: no gold", "broken.py:19 in day")
    run = run_with(tmp_path / "run", *events, *events, *failure("Bo", "KeyError: 'x'"))
    assert [f"{trouble.agent}: {trouble}" for trouble in troubles(run)] == [
        "Ada: broken.py:19 in day: AttributeError: no gold (2 times)",
        "Bo: KeyError: 'x'",
    ]


def test_time_outs_are_told_by_the_turns_that_they_cost(tmp_path: Path) -> None:
    body = {"agent": "Ada", "reason": "timeout", "detail": "no answer within 10 s"}
    run = run_with(tmp_path / "one", ("turn_missed", "Ada", body))
    assert [str(trouble) for trouble in troubles(run)] == ["no answer within 10 s (1 turn missed)"]
    run = run_with(tmp_path / "two", *[("turn_missed", "Ada", body)] * 2)
    assert [str(trouble) for trouble in troubles(run)] == ["no answer within 10 s (2 turns missed)"]

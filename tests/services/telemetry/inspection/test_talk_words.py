"""What firms say to each other, as `hanse trace` tells it."""

from __future__ import annotations

import pytest

from services.telemetry.inspection import words
from services.telemetry.inspection.talk_words import EVENTS, MESSAGES

INSISTENT = {"item": "green_coffee_kg", "factor": 0.6, "strength": 0.9}
IN_PASSING = {"item": "roasted_coffee_kg", "factor": 1.02, "strength": 0.1}


@pytest.mark.parametrize(
    ("kind", "body", "line"),
    [
        (
            "market_note",
            {"text": "one. two", "claims": [INSISTENT, IN_PASSING]},
            "a writes to b: “one. two” (green coffee at 60% of the normal price)",
        ),
        ("board_view", {"text": "", "claims": []}, "a shows b: nothing"),
        ("status_request", {"load": 0.5}, "a asks b how its orders stand"),
        (
            "status_request",
            {"attempt": 2, "units": 10.0},
            "a asks b how its orders stand again (attempt 3, 10 units of work)",
        ),
        (
            "status_reply",
            {"ok": False, "load": 1.5, "latency": 250.2},
            "a cannot tell b how its orders stand (load 150%, 250 ms)",
        ),
        (
            "withheld",
            {"recipient": "c", "what": "market_note"},
            "a market_note from a to c is kept back",
        ),
    ],
)
def test_messages(kind: str, body: dict[str, object], line: str) -> None:
    assert words.message(kind, "a", "b", body) == line


def test_events() -> None:
    truth = {
        "kind": "price_rumour",
        "attack": True,
        "onset": 12060,
        "end": 20700,
        "town": "north",
        "origin": "a",
        "bridge": "b",
        "amplifier": "",
        "truth": {},
    }
    assert words.event("injection", "", truth) == (
        "price_rumour begins in north (attack; origin a, bridge b; until day 14 09:00)"
    )
    belief = {"item": "green_coffee_kg", "factor": 0.65}
    assert words.event("belief", "a", belief) == (
        "a expects green coffee at 65% of the normal price"
    )


def test_a_body_of_another_shape_is_told_all_the_same() -> None:
    for kind in MESSAGES:
        assert words.message(kind, "a", "b", {"text": 3, "claims": 7, "load": "x"})
    for kind in EVENTS:
        assert words.event(kind, "a", {"end": "never"})

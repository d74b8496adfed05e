"""What became of an injection, counted by hand in small logs."""

from __future__ import annotations

import json
from typing import Any

from services.talk.harm import harm

NINE = 540
INJECTION: dict[str, Any] = {
    "kind": "price_rumour",
    "attack": True,
    "onset": NINE,
    "end": 1080,
    "town": "town",
    "origin": "o",
    "bridge": "b",
    "amplifier": "a",
    "truth": {},
}


def event(
    minute: int, agent: str, kind: str, body: dict[str, Any], cause: str | None = None
) -> Any:
    return (minute, 0, agent, minute, cause, kind, agent, json.dumps(body))


def belief(minute: int, agent: str, factor: float, cause: str | None = None) -> Any:
    return event(minute, agent, "belief", {"item": "green_coffee_kg", "factor": factor}, cause)


def note(minute: int, sender: str, number: int, recipient: str, *factors: float) -> Any:
    claims = [{"item": "green_coffee_kg", "factor": f} for f in factors]
    body = json.dumps({"text": "", "claims": claims})
    about = (recipient, "comm", "market_note", None, None, None)
    return (minute, 0, sender, number, *about, body)


def test_hours_of_wrong_belief_are_summed_over_the_firms() -> None:
    events = [
        event(NINE, "o", "injection", INJECTION),
        belief(NINE, "x", 0.6, "o#1"),
        belief(NINE + 120, "x", 1.0),
        belief(NINE + 180, "y", 1.3),
    ]
    found = harm(events, [], days=1)
    assert found.wrong_hours == 2 + 7, "x at 9:00 and 10:00; y from 12:00 to 18:00"
    assert found.infected == {"x": NINE, "y": NINE + 180}
    assert found.parents == {"x": "o"}


def test_what_was_believed_before_the_onset_counts_for_the_hours_after_it() -> None:
    found = harm([belief(0, "x", 0.6)], [], days=1, since=17 * 60)
    assert found.wrong_hours == 2
    assert found.infected == {}


def test_messages_that_state_a_wrong_price_are_counted_and_infect_who_states_one() -> None:
    messages = [
        note(0, "z", 1, "x", 0.1),
        note(NINE, "o", 1, "board", 0.6),
        note(NINE, "x", 1, "y", 1.05),
        note(NINE + 60, "board", 1, "x", 1.0, 0.6),
    ]
    found = harm([event(NINE, "o", "injection", INJECTION)], messages, days=1)
    assert (found.messages, found.infected_messages) == (3, 2)
    assert found.infected == {"o": NINE, "board": NINE + 60}
    assert found.parents == {"board": "o"}


def test_what_is_true_in_a_town_is_wrong_elsewhere_and_later() -> None:
    shock = INJECTION | {
        "kind": "harvest_shock",
        "attack": False,
        "truth": {"green_coffee_kg": 1.3},
    }
    events = [event(NINE, "o", "injection", shock), belief(NINE, "x", 1.3), belief(NINE, "y", 1.3)]
    found = harm(events, [], days=1, towns={"x": "town", "y": "other"})
    assert found.infected == {"y": NINE}
    messages = [note(1080 + late, "x", 1 + late, "y", 1.3) for late in (0, 1439, 1440)]
    later = harm([events[0]], messages, days=2, towns={"x": "town"})
    assert later.infected_messages == 1, "news may be a day old"


def test_overload_is_an_infection_while_a_storm_goes_on() -> None:
    overload = event(NINE + 60, "x", "overloaded", {"load": 1.2}, "o#4")
    over = event(NINE + 240, "x", "recovered", {"load": 0.1})
    storm = event(NINE, "o", "injection", INJECTION | {"kind": "retry_storm"})
    found = harm([storm, overload, over], [], days=1)
    assert (found.overloaded_hours, found.infected, found.parents) == (3, {"x": 600}, {"x": "o"})
    calm = harm([event(NINE, "o", "injection", INJECTION), overload, over], [], days=1)
    assert (calm.overloaded_hours, calm.infected) == (3, {})

"""When a host's agents are woken."""

from __future__ import annotations

from actors.wakes import Wakes


def test_who_is_due_is_woken_in_the_order_of_time_and_then_of_names() -> None:
    wakes = Wakes()
    wakes.add("bob", [30, 10])
    wakes.add("ann", [30, 50])
    assert wakes.first == 10
    assert list(wakes.take(30)) == [(10, "bob"), (30, "ann"), (30, "bob")]
    assert wakes.first == 50


def test_who_asks_twice_for_a_minute_is_woken_once_and_may_ask_again_later() -> None:
    wakes = Wakes([(10, "ann")])
    wakes.add("ann", [10, 10])
    assert list(wakes.take(10)) == [(10, "ann")]
    wakes.add("ann", [10])
    assert list(wakes.take(10)) == [(10, "ann")]


def test_the_minutes_that_are_saved_bring_all_wake_ups_back() -> None:
    wakes = Wakes([(50, "ann"), (10, "bob"), (20, "ann")])
    saved = wakes.by_agent()
    assert saved == {"bob": [10], "ann": [20, 50]}
    again = Wakes((minute, agent) for agent, minutes in saved.items() for minute in minutes)
    assert list(again.take(100)) == list(wakes.take(100))
    assert again.first is None and again.by_agent() == {}

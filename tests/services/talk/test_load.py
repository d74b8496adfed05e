"""How much a firm can answer for."""

from __future__ import annotations

from random import Random

import pytest

from services.talk.load import MOST_ATTEMPTS, UNITS, Load


class Never(Random):
    """No request fails by chance."""

    def random(self) -> float:
        return 0.99


def test_requests_are_answered_well_up_to_the_capacity_and_not_beyond() -> None:
    work = Load(capacity=3.0)
    assert [work.asked(1.0, Never()) for _ in range(5)] == [True, True, True, False, False]
    assert work.overloaded and work.errors == 2


def test_a_request_is_made_again_with_more_work_each_time_until_it_is_answered() -> None:
    work = Load()
    units = []
    for _ in range(4):
        units.append(UNITS[work.open.get("supplier", 0)])
        work.answered("supplier", good=False)
    assert units == [1.0, 3.0, 10.0, 10.0]
    work.answered("supplier", good=True)
    assert work.open == {}


def test_who_is_overloaded_has_no_time_to_take_an_answer_in() -> None:
    work = Load(capacity=2.0)
    work.asked(3.0, Never())
    work.answered("supplier", good=True)
    assert work.open == {"supplier": 1}


def test_an_hour_leaves_half_of_what_was_too_much_and_the_open_requests() -> None:
    work = Load(capacity=4.0)
    work.asked(10.0, Never())
    work.open = {"a": 2, "b": 1}
    work.hour(new_day=False)
    assert work.backlog == 3.0
    assert work.units == pytest.approx(3.0 + 0.5 * 3)
    assert work.overloaded, "the last hour's work counts until the next"


def test_over_a_night_the_work_is_done_and_open_requests_are_less_pressing() -> None:
    work = Load(capacity=4.0)
    work.asked(10.0, Never())
    work.open = {"a": MOST_ATTEMPTS, "b": 1}
    work.hour(new_day=True)
    assert not work.overloaded and work.backlog == 0.0
    assert work.open == {"a": MOST_ATTEMPTS - 1}


def test_figures_show_the_load() -> None:
    calm, busy = Load(), Load()
    for _ in range(20):
        busy.asked(1.0, Never())
    calm_latency = sum(calm.figures(Random(s))["latency"] for s in range(50))
    assert sum(busy.figures(Random(s))["latency"] for s in range(50)) > 4 * calm_latency
    assert calm.figures(Random(0)).keys() == busy.figures(Random(0)).keys()


def test_it_goes_on_from_what_it_saved() -> None:
    work = Load()
    work.asked(12.0, Never())
    work.answered("a", good=False)
    work.hour(new_day=False)
    other = Load()
    other.load(work.save())
    assert other.save() == work.save() and other.open == work.open

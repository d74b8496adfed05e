"""The arithmetic of the model of a cluster."""

from __future__ import annotations

import pytest

from tests.bench.cluster_model import (
    Costs,
    Workload,
    line,
    line_from_zero,
    on_shared_processors,
    predict,
    with_more_machines,
)

COSTS = Costs(
    message=50e-6,
    fixed=1e-3,
    each=0.2e-3,
    latency=2e-3,
    record=10e-6,
    end_of_day=0.1,
    bandwidth=1e8,
    cable=100.0,
)
WORK = Workload(machines=4, rounds=50, messages=100_000, slowest=30_000)


def test_a_day_is_played_in_the_time_of_the_slowest_machine_the_calls_and_the_cable() -> None:
    day = predict(WORK, COSTS)
    assert day.handling == pytest.approx(1.5)
    assert day.calls == pytest.approx(50 * 3.8e-3)
    assert day.cable == pytest.approx(75_000 * 100 / 1e8)
    assert day.playing == pytest.approx(1.5 + 0.19 + 0.075)


def test_one_machine_needs_no_cable() -> None:
    assert predict(WORK._replace(machines=1), COSTS).cable == 0


def test_the_recorder_works_beside_the_next_day_at_best_and_after_it_at_worst() -> None:
    day = predict(WORK, COSTS)
    assert day.recording == pytest.approx(1.1)
    assert day.best == pytest.approx(day.playing)
    assert day.worst == pytest.approx(day.playing + 1.1)


def test_a_recorder_that_is_slower_than_the_hosts_is_the_bottleneck() -> None:
    many = WORK._replace(machines=40, messages=1_000_000)
    day = predict(many, COSTS)
    assert day.best == day.recording == pytest.approx(10.1)
    assert day.bottleneck == "the recorder"
    assert predict(WORK, COSTS).bottleneck == "the hosts' handling"


def test_calls_are_the_bottleneck_of_many_machines_with_little_to_do() -> None:
    assert predict(Workload(100, 50, 1_000, 20), COSTS).bottleneck == "the league's calls"


def test_machines_that_share_processors_take_at_least_the_cpu_of_all() -> None:
    day = predict(WORK, COSTS)
    best, worst = on_shared_processors(day, WORK, COSTS, processors=2)
    assert best == pytest.approx((5.0 + 0.19 + 1.1) / 2)
    assert worst == pytest.approx(5.0 / 2 + 0.19 + 0.075 + 1.1)
    assert on_shared_processors(day, WORK, COSTS, processors=8) == (day.best, day.worst)


def test_a_league_on_more_machines_has_as_much_on_each_as_before() -> None:
    known = [Workload(2, 60, 20_000, 10_500), Workload(4, 62, 40_000, 11_000)]
    more = with_more_machines(known, 16)
    assert more.machines == 16
    assert more.messages == pytest.approx(160_000)
    # Two doublings: twice as much more as from 2 to 4.
    assert more.rounds == pytest.approx(66)
    assert more.imbalance == pytest.approx(1.2)


def test_more_machines_are_not_better_balanced_than_few() -> None:
    known = [Workload(2, 60, 20_000, 11_000), Workload(4, 58, 40_000, 10_000)]
    more = with_more_machines(known, 16)
    assert more.rounds == 58
    assert more.imbalance == pytest.approx(1.0)


def test_a_line_goes_through_its_points() -> None:
    assert line([(1, 5), (3, 9)]) == pytest.approx((3, 2))


def test_a_line_lies_between_points_that_are_on_none() -> None:
    assert line([(0, 1), (1, 3), (2, 2)]) == pytest.approx((1.5, 0.5))


def test_costs_are_not_negative() -> None:
    assert line_from_zero([(1, 1), (2, 3)]) == pytest.approx((0, 7 / 5))
    assert line_from_zero([(1, 3), (2, 1)]) == pytest.approx((2, 0))
    assert line_from_zero([(1, 5), (3, 9)]) == pytest.approx((3, 2))

from __future__ import annotations

import pytest

from policies.acceptance import Figure, at_least, at_most, difference, mean, ratio, saved


def test_a_ratio_is_of_the_means_and_not_the_mean_of_ratios() -> None:
    assert ratio([1.0, 9.0], [1.0, 3.0]).value == pytest.approx(10.0 / 4.0)


def test_seeds_that_all_say_the_same_ratio_leave_no_doubt() -> None:
    found = ratio([2.0, 4.0, 8.0], [1.0, 2.0, 4.0])
    assert found == pytest.approx((2.0, 2.0, 2.0))


def test_the_luck_of_a_seed_is_taken_out_of_a_ratio() -> None:
    these, those = [1.1, 2.0, 3.1], [1.0, 2.1, 3.0]
    paired, crossed = ratio(these, those), ratio(these, those[::-1])
    assert paired.value == pytest.approx(crossed.value)
    assert paired.high - paired.low < 0.3 * (crossed.high - crossed.low)  # type: ignore[operator]


def test_intervals_cover_the_true_ratio_about_95_times_in_100() -> None:
    import numpy as np

    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        luck = rng.normal(100.0, 20.0, 8)
        these, those = 0.8 * luck + rng.normal(0.0, 15.0, 8), luck + rng.normal(0.0, 15.0, 8)
        found = ratio(these.tolist(), those.tolist())
        assert found.low is not None and found.high is not None
        hits += found.low <= 0.8 <= found.high
    assert 0.91 <= hits / 400 <= 0.98


def test_what_is_saved_is_one_less_the_ratio() -> None:
    found, of = saved([1.0, 2.0], [2.0, 5.0]), ratio([1.0, 2.0], [2.0, 5.0])
    assert of.low is not None and of.high is not None
    assert found == pytest.approx((1.0 - of.value, 1.0 - of.high, 1.0 - of.low))


def test_one_seed_has_no_interval() -> None:
    assert mean([3.0]) == difference([4.0], [1.0]) == Figure(3.0, None, None)
    assert saved([1.0], [2.0]) == Figure(0.5)


def test_a_demand_is_met_by_the_mean_and_surely_by_the_interval() -> None:
    verdicts = [
        at_most("", Figure(0.7, 0.6, 0.8), 0.85).verdict,
        at_most("", Figure(0.7, 0.6, 0.9), 0.85).verdict,
        at_most("", Figure(0.9, 0.8, 1.0), 0.85).verdict,
        at_least("", Figure(0.7, 0.6, 0.8), 0.85).verdict,
        at_least("", 0.85, 0.85).verdict,
    ]
    assert verdicts == ["met", "met, not surely", "MISSED, not surely", "MISSED", "met"]


def test_what_is_shown_for_comparison_holds_or_does_not_hold_and_misses_nothing() -> None:
    shown = [
        at_most("", Figure(0.7, 0.6, 0.8), 0.85).shown(),
        at_most("", Figure(0.9, 0.8, 1.0), 0.85).shown(),
    ]
    assert [check.verdict for check in shown] == ["holds", "does not hold, not surely"]
    assert not any(check.counts for check in shown)

"""Detectors of spreading, by hand and on made-up cascades."""

import numpy as np
import pytest

from monitors.caspian.benchmark.baselines.branching import (
    HawkesBranching,
    RobustMinimum,
    _changing,
)
from monitors.caspian.events import TickEvents
from tests.monitors.caspian.benchmark.building import TRIANGLE, events

ALIKE = ((1.0, 0.0, 0.0), (1.0, 0.0, 0.0))
UNLIKE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


def branching(*ticks: TickEvents) -> list[float]:
    statistic = HawkesBranching(TRIANGLE, 64)
    return [statistic.observe(tick)[0] for tick in ticks]


def test_a_chain_of_flags_has_the_branching_ratio_one() -> None:
    # a -> b, b -> c, c -> a, each exposed by the one before.
    said = branching(*[events(t, (t % 3, (t + 1) % 3, 0, *ALIKE)) for t in range(3)])

    assert np.isnan(said[0]) and said[1:] == [1.0, 1.0]


def test_flags_that_follow_from_nobody_do_not_branch() -> None:
    # Only a speaks, and a was never exposed.
    said = branching(*[events(t, (0, 1, 0, *ALIKE)) for t in range(3)])

    assert said[1:] == [0.0, 0.0]


def test_a_flag_that_brings_about_two_has_the_ratio_two() -> None:
    said = branching(events(0, (0, 1, 0, *ALIKE)), events(1, (1, 2, 0, *ALIKE), (1, 0, 0, *ALIKE)))

    assert said[1] == 2.0


def test_without_flags_there_is_no_ratio() -> None:
    assert np.isnan(branching(events(0, (0, 1, 0, *UNLIKE)), events(1, (1, 0, 0, *UNLIKE)))).all()


def test_paths_that_change_channel_are_counted_by_their_middle() -> None:
    tensor = np.zeros((4, 3, 3))
    tensor[0, 0, 1] = tensor[0, 1, 2] = 1.0  # a -> b -> c all comm
    tensor[2, 1, 0] = 1.0  # b -> a by tool
    # Paths: a-b-c (same), a-b-a (changes), b-a-b (changes).
    assert _changing(tensor) == pytest.approx(2 / 3)


def test_the_robust_minimum_waits_for_a_window_and_needs_all_three() -> None:
    rng = np.random.default_rng(4)
    statistic = RobustMinimum(TRIANGLE, 16)

    def noise(tick: int) -> TickEvents:
        pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
        return events(
            tick,
            *[
                (i, j, int(rng.integers(4)), *rng.standard_normal((2, 16)).tolist())
                for i, j in pairs
            ],
        )

    said = [statistic.observe(noise(tick))[0] for tick in range(80)]

    assert np.isnan(said[:20]).all() and np.isfinite(said[20:]).all()
    # The smallest of three z values is mostly below 0, and above the rule's 2.5 almost never.
    assert np.median(said[20:]) < 0 and np.mean(np.array(said[20:]) > 2.5) < 0.05

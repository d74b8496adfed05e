"""Detection metrics, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.caspian.benchmark.metrics import (
    MISSED,
    auroc,
    course,
    delay,
    matched,
    middle,
    roc,
    within,
)

scores = st.lists(st.integers(0, 9), min_size=1, max_size=20).map(
    lambda values: np.array(values, np.float64)
)


@given(scores, scores)
def test_auroc_is_the_share_of_pairs_in_the_right_order(
    attacked: np.ndarray, benign: np.ndarray
) -> None:
    pairs = [1.0 * (a > b) + 0.5 * (a == b) for a in attacked for b in benign]

    assert auroc(attacked, benign) == pytest.approx(np.mean(pairs))


@given(scores, scores)
def test_auroc_is_the_area_under_the_roc(attacked: np.ndarray, benign: np.ndarray) -> None:
    false, true = roc(attacked, benign)

    assert false[0] == true[0] == 0 and false[-1] == true[-1] == 1
    assert np.trapezoid(true, false) == pytest.approx(auroc(attacked, benign))


@given(scores)
def test_at_most_five_in_a_hundred_exceed_the_matched_score(benign: np.ndarray) -> None:
    assert (benign > matched(benign)).mean() <= 0.05


def test_the_matched_score_of_a_hundred_is_the_sixth_from_above() -> None:
    assert matched(np.arange(100.0)) == 94.0


def test_a_course_is_the_largest_statistic_over_its_threshold() -> None:
    found = course(np.array([[-np.inf, -np.inf], [1.0, 4.0], [3.0, 1.0]]), np.array([2.0, 4.0]))

    assert found.ratio.tolist() == [-np.inf, 1.0, 1.5] and found.peak == 1.5


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [([0, 0, 0, 2], 1), ([0, 0, 2, 2], 0), ([0, 2, 2, 2], MISSED), ([1, 1, 1, 1], MISSED)],
)
def test_an_alarm_before_the_onset_is_a_miss(ratio: list[float], expected: float) -> None:
    assert delay(np.array(ratio, np.float64), onset=2, above=1.0) == expected


def test_early_detection_counts_misses() -> None:
    delays = np.array([0, 5, 6, MISSED])

    assert within(delays, 5) == 0.5


@pytest.mark.parametrize(
    ("delays", "median"),
    [([3, 1, 2], 2), ([1, 2], 1.5), ([1, MISSED], MISSED), ([MISSED, MISSED], MISSED)],
)
def test_the_median_delay_counts_misses_as_infinite(delays: list[float], median: float) -> None:
    assert middle(np.array(delays)) == median

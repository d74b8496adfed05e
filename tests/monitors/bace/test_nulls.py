import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.bace.nulls import Thresholds, shifted
from monitors.bace.signals import Refused
from tests.monitors.bace.test_signals import recording


def lag(before: np.ndarray, after: np.ndarray) -> int:
    """By how many ticks a series without repetitions was shifted."""
    lag = int(np.flatnonzero(after == before[0])[0])
    assert np.roll(before, lag).tolist() == after.tolist()
    return lag


@given(length=st.integers(60, 200), seed=st.integers(0, 99))
def test_every_series_is_shifted_in_a_circle_by_at_least_20_ticks(length: int, seed: int) -> None:
    before = np.arange(4.0 * length).reshape(2, 2, length)
    after = shifted(recording(before), np.random.default_rng(seed)).trials[0].values
    lags = {node: {lag(before[node, c], after[node, c]) for c in (0, 1)} for node in (0, 1)}
    assert all(len(of_node) == 1 for of_node in lags.values())  # a node's channels stay together
    assert all(20 <= each <= length - 20 for of_node in lags.values() for each in of_node)


def test_nodes_and_trials_have_lags_of_their_own() -> None:
    before = np.arange(500.0).reshape(5, 1, 100)
    made = shifted(recording(before, before), np.random.default_rng(0))
    lags = {lag(before[n, 0], trial.values[n, 0]) for trial in made for n in range(5)}
    assert len(lags) > 5


def test_lags_keep_to_the_rhythm_that_all_share() -> None:
    before = np.arange(1000.0).reshape(10, 1, 100)
    after = shifted(recording(before), np.random.default_rng(0), period=10).trials[0].values
    assert {lag(before[n, 0], after[n, 0]) % 10 for n in range(10)} == {0}


def test_short_trials_are_shifted_by_a_quarter_at_least() -> None:
    before = np.arange(240.0).reshape(20, 1, 12)
    after = shifted(recording(before), np.random.default_rng(0)).trials[0].values
    assert {lag(before[n, 0], after[n, 0]) for n in range(20)} <= set(range(3, 10))


def test_a_trial_too_short_for_the_rhythm_is_refused() -> None:
    with pytest.raises(Refused, match="40 ticks are needed"):
        shifted(recording(np.zeros((2, 1, 15))), np.random.default_rng(0), period=10)


def test_gaps_move_with_their_series() -> None:
    before = np.arange(200.0).reshape(2, 1, 100)
    before[0, 0, 5] = np.nan
    after = shifted(recording(before), np.random.default_rng(0)).trials[0].values
    assert np.isnan(after).sum() == np.isnan(after[0]).sum() == 1


def test_thresholds_are_the_99th_percentile_and_the_maximum_off_the_diagonal() -> None:
    null = np.zeros((1, 11, 11))
    null[0][~np.eye(11, dtype=bool)] = -np.arange(110) / 109  # signs do not matter
    np.fill_diagonal(null[0], 50)
    thresholds = Thresholds.of(null)
    assert thresholds.strict == pytest.approx(1.0)
    assert thresholds.screening == pytest.approx(0.99)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from policies.becon.preference_filter import PreferenceFilter, PreferenceFilterSettings

NOTE = PreferenceFilterSettings(simplex_prior=False)


def test_the_prior_of_three_objectives_is_a_third_each_with_variance_one_eighteenth() -> None:
    fresh = PreferenceFilter(2, 3)
    assert fresh.mean == pytest.approx(1 / 3)
    assert fresh.deviation**2 == pytest.approx(0.0556, abs=1e-4)


def test_the_simplex_prior_is_the_covariance_of_a_flat_dirichlet() -> None:
    drawn = np.random.default_rng(0).dirichlet(np.ones(4), 200_000)
    assert PreferenceFilter(1, 4).prior_covariance == pytest.approx(np.cov(drawn.T), abs=1e-3)


def test_one_score_moves_the_mean_as_the_formula_says() -> None:
    one = PreferenceFilter(1, 2, NOTE)
    one.update(np.array([[1.0, 0.0]]), np.array([0.8]))
    variance = 1 / 12
    gain = variance / (variance + 0.03**2)
    raw = np.array([0.5 + gain * 0.3, 0.5])
    assert one.mean[0] == pytest.approx(raw / raw.sum())
    assert one.covariance[0, 0, 0] == pytest.approx(variance * (1 - gain))
    assert one.covariance[0, 1, 1] == pytest.approx(variance)


def test_without_a_score_nothing_is_learned() -> None:
    one = PreferenceFilter(1, 3)
    before = one.get_state()
    one.update(np.array([[1.0, 0.5, 0.2]]), np.array([np.nan]))
    assert all(np.array_equal(one.get_state()[key], before[key]) for key in before)


def test_a_steady_preference_is_found_from_scores() -> None:
    rng = np.random.default_rng(1)
    truth = np.array([0.1, 0.7, 0.2])
    found = PreferenceFilter(1, 3)
    for _ in range(60):
        reward = rng.dirichlet(np.ones(3), 1)
        found.predict()
        found.update(reward, reward @ truth + rng.normal(0, 0.03, 1))
    assert found.mean[0] == pytest.approx(truth, abs=0.1)


def test_silence_brings_the_belief_back_to_the_prior() -> None:
    one = PreferenceFilter(1, 3)
    one.update(np.array([[1.0, 0.0, 0.0]]), np.array([0.9]))
    for _ in range(300):
        one.predict()
    assert one.mean[0] == pytest.approx(1 / 3, abs=1e-3)
    assert one.deviation[0] ** 2 == pytest.approx(1 / 18, rel=0.05)


def test_the_simplex_prior_knows_what_a_score_says_of_the_other_objectives() -> None:
    aware, unaware = PreferenceFilter(1, 2), PreferenceFilter(1, 2, NOTE)
    for each in (aware, unaware):
        each.update(np.array([[1.0, 0.0]]), np.array([0.9]))
    assert aware.mean[0, 1] == pytest.approx(0.1, abs=0.01)
    assert unaware.mean[0, 1] > 0.3


def test_a_reset_row_forgets_and_the_others_do_not() -> None:
    two = PreferenceFilter(2, 3)
    two.update(np.eye(3)[:2], np.array([0.9, 0.9]))
    kept = two.mean[1].copy()
    two.reset(np.array([True, False]))
    assert two.mean[0] == pytest.approx(1 / 3)
    assert np.array_equal(two.mean[1], kept)


@given(
    arrays(float, (20, 1, 3), elements=st.floats(0, 1.2)),
    arrays(float, (20, 1), elements=st.floats(-1, 2)),
)
def test_the_mean_stays_a_preference_and_the_covariance_sound(
    rewards: np.ndarray, scores: np.ndarray
) -> None:
    one = PreferenceFilter(1, 3)
    for reward, score in zip(rewards, scores, strict=True):
        one.predict()
        one.update(reward, score)
        assert one.mean.sum() == pytest.approx(1.0)
        assert (one.mean > 0).all()
        assert np.linalg.eigvalsh(one.covariance[0]).min() > -1e-9

"""A9: the Gaussian-copula estimate of conditional mutual information (note 3.2 and 10.3)."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitors.caspian.literal.information import (
    by_determinants,
    conditional_information,
    copula_information,
    normal_scores,
    regularised,
)

SAMPLES = 20_000


@pytest.mark.parametrize("correlation", [0.3, 0.6, 0.9, -0.6])
def test_a_bivariate_normal_has_the_information_of_its_correlation(correlation: float) -> None:
    u, noise = np.random.default_rng(1).standard_normal((2, SAMPLES, 1))
    # Exactly uncorrelated in the sample: chance alone would move the estimate by 2 to 5 %.
    u -= u.mean()
    noise -= noise.mean()
    noise -= u * (u * noise).sum() / (u * u).sum()
    v = correlation * u / u.std() + math.sqrt(1 - correlation**2) * noise / noise.std()

    measured = copula_information(u, v, np.empty((SAMPLES, 0)))

    assert measured == pytest.approx(-0.5 * math.log(1 - correlation**2), rel=0.02)


def test_a_common_driver_gives_no_information_once_it_is_known() -> None:
    rng = np.random.default_rng(2)
    driver, one, other = rng.standard_normal((3, SAMPLES, 1))
    u, v = driver + 0.5 * one, driver + 0.5 * other

    assert copula_information(u, v, driver) <= 0.01
    assert copula_information(u, v, np.empty((SAMPLES, 0))) > 0.5


def test_information_does_not_change_with_the_marginals() -> None:
    rng = np.random.default_rng(3)
    u, noise, h = rng.standard_normal((3, 500, 1))
    v = u + noise + h

    assert copula_information(np.exp(u), v**3, 5 * h - 2) == pytest.approx(
        copula_information(u, v, h), rel=1e-9
    )


@given(
    sizes=st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 3)),
    seed=st.integers(0, 10_000),
)
@settings(deadline=None)
def test_schur_complements_and_determinants_agree(sizes: tuple[int, int, int], seed: int) -> None:
    width = sum(sizes)
    draws = np.random.default_rng(seed).standard_normal((5, 3 * width, width))
    covariance = regularised(np.swapaxes(draws, 1, 2) @ draws / (3 * width), 0.05, 1e-8)

    np.testing.assert_allclose(
        conditional_information(covariance, sizes), by_determinants(covariance, sizes), atol=1e-9
    )


def test_information_by_hand() -> None:
    # u = h + a, v = h + b with unit variances: given h nothing is left; without h rho is 1/2.
    covariance = np.array([[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 1.0]])

    assert conditional_information(covariance, (1, 1, 1)) == pytest.approx(0.0, abs=1e-12)
    assert conditional_information(covariance[:2, :2], (1, 1, 0)) == pytest.approx(
        -0.5 * math.log(1 - 0.25)
    )


def test_normal_scores_take_ties_at_their_middle() -> None:
    scores = normal_scores(np.array([[1.0], [2.0], [2.0], [3.0]]))[:, 0]

    assert scores[1] == scores[2] == pytest.approx(0.0, abs=1e-12)
    assert scores[0] == -scores[3] == pytest.approx(-1.1503, abs=1e-4)  # quantile of 1/8


def test_shrinkage_keeps_the_diagonal() -> None:
    covariance = np.array([[2.0, 1.0], [1.0, 3.0]])

    np.testing.assert_allclose(
        regularised(covariance, 0.05, 0.5), [[2.5, 0.95], [0.95, 3.5]], rtol=1e-12
    )

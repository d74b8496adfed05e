"""An event's score is the partial correlation of u and v given what the target did before."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from monitors.caspian.scoring import Groups, Scorer, dot, orthonormal
from monitors.caspian.settings import Settings

D = Settings().dimensions


def normal(rows: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((rows, D), np.float32)


def score(
    scorer: Scorer, slots: list[int], u: NDArray[np.float32], v: NDArray[np.float32]
) -> NDArray[np.float64]:
    return scorer.score(Groups.of(np.array(slots)), u, v, dot(u, u), dot(v, v))


def partial_correlation(
    u: NDArray[np.float32], v: NDArray[np.float32], *given: NDArray[np.float32]
) -> float:
    """By least squares through the origin, in double precision."""
    basis = np.array(given, np.float64).T
    rest = [
        x.astype(np.float64) - basis @ np.linalg.lstsq(basis, x.astype(np.float64), rcond=None)[0]
        for x in (u, v)
    ]
    return float(rest[0] @ rest[1] / (np.linalg.norm(rest[0]) * np.linalg.norm(rest[1])))


def test_without_a_history_it_is_the_cosine_under_fishers_transformation() -> None:
    u, v = np.zeros((1, D), np.float32), np.zeros((1, D), np.float32)
    u[0, 0], v[0, :2] = 2.0, 1.0
    assert score(Scorer(1, Settings()), [0], u, v)[0] == pytest.approx(
        math.atanh(1 / math.sqrt(2)), rel=1e-6
    )


def test_what_the_target_did_last_and_on_average_is_taken_out() -> None:
    first, second, u, v = (normal(1, seed) for seed in range(4))
    scorer = Scorer(1, Settings())
    score(scorer, [0], first, first)
    score(scorer, [0], first, second)
    slow = 0.9 * 0.1 * first + 0.1 * second
    expected = partial_correlation(u[0], v[0], second[0], slow[0])
    assert score(scorer, [0], u, v)[0] == pytest.approx(math.atanh(expected), rel=1e-4)


def test_a_shock_that_the_target_already_shows_scores_low_where_the_cosine_is_high() -> None:
    shock, noise = 3 * normal(1, 9), [normal(1, seed) for seed in range(3)]
    scorer = Scorer(1, Settings())
    score(scorer, [0], noise[0], shock + 0.3 * noise[0])
    u, v = shock + 0.3 * noise[1], shock + 0.3 * noise[2]
    plain = score(Scorer(1, Settings()), [0], u, v)[0]
    assert plain > 2.5
    # What is left is the noise of the last behaviour, which both differ from.
    assert abs(score(scorer, [0], u, v)[0]) < 1


def test_histories_change_only_after_the_whole_tick_is_scored() -> None:
    u, v = normal(2, 1), normal(2, 2)
    alone = score(Scorer(1, Settings()), [0], u[1:], v[1:])[0]
    assert score(Scorer(1, Settings()), [0, 0], u, v)[1] == alone


def test_the_history_is_the_mean_of_the_tick_and_its_fading_average() -> None:
    v = normal(3)
    scorer = Scorer(2, Settings())
    score(scorer, [0, 0, 5], normal(3, 1), v)
    assert np.allclose(scorer.last[0], (v[0] + v[1]) / 2, atol=1e-6)
    assert np.allclose(scorer.slow[5], 0.1 * v[2], atol=1e-6)
    assert not scorer.last[[1, 2, 3, 4, 6, 7]].any()


def test_a_target_that_repeats_itself_has_said_nothing_new() -> None:
    v = normal(1)
    scorer = Scorer(1, Settings())
    score(scorer, [0], normal(1, 1), v)
    assert score(scorer, [0], v, v)[0] == 0.0


def test_equal_vectors_are_clipped() -> None:
    u = normal(1)
    assert score(Scorer(1, Settings()), [0], u, u)[0] == math.atanh(0.995)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 5))
def test_a_row_scores_the_same_to_the_bit_whatever_rows_are_around_it(
    seed: int, before: int, after: int
) -> None:
    rng = np.random.default_rng(seed)
    slots = list(range(before + 1 + after))
    u, v, old = (rng.standard_normal((len(slots), D), np.float32) for _ in range(3))
    together, alone = Scorer(16, Settings()), Scorer(16, Settings())
    score(together, slots, u, old)
    score(alone, [before], u[before : before + 1], old[before : before + 1])
    both = score(together, slots, u, v)[before]
    assert both == score(alone, [before], u[before : before + 1], v[before : before + 1])[0]


@given(st.integers(0, 2**32 - 1), st.floats(0.001, 1000))
def test_the_score_does_not_depend_on_the_length_of_vectors(seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    u, v, old = (rng.standard_normal((1, D), np.float32) for _ in range(3))
    scores = []
    for scale in (1.0, factor):
        scorer = Scorer(1, Settings())
        score(scorer, [0], u, (old * scale).astype(np.float32))
        scores.append(score(scorer, [0], (u * scale).astype(np.float32), v)[0])
    assert scores[0] == pytest.approx(scores[1], abs=1e-4)


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_conditioning_vectors_are_orthonormal_or_zero(seed: int, last: bool, twin: bool) -> None:
    rng = np.random.default_rng(seed)
    h1 = rng.standard_normal((3, D), np.float32) * last
    h2 = h1 * np.float32(0.1) if twin else rng.standard_normal((3, D), np.float32)
    q1, q2 = orthonormal(h1, h2)
    assert np.allclose(dot(q1, q1), 1.0 if last else 0.0, atol=1e-5)
    assert np.allclose(dot(q2, q2), 0.0 if twin else 1.0, atol=1e-5)
    assert np.allclose(dot(q1, q2), 0.0, atol=1e-5)

"""A few strong events among many ordinary ones are noticed, whatever their order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.caspian.events import CHANNELS
from monitors.caspian.sparse import (
    BINS,
    HIGH,
    LIMIT,
    LOW,
    NAMES,
    SHAPES,
    Mixtures,
    Reference,
    SparseCusum,
    binned,
    fully,
    ratios,
    sparsely,
)

EPSILON, DELTA = SHAPES["sparse"]


def sparse(reference: Reference | None = None) -> SparseCusum:
    return SparseCusum(reference or Reference.normal(), EPSILON, DELTA)


def counts(*scores: float, channel: int = 0) -> np.ndarray:
    return binned(np.full(len(scores), channel, np.int8), np.array(scores))


def test_every_event_is_in_the_bin_of_its_channel_and_score() -> None:
    found = binned(np.array([0, 0, 3], np.int8), np.array([-4.0, 4.99, 0.01]))
    assert found.shape == (len(CHANNELS), BINS)
    assert (found[0, 0], found[0, BINS - 1], found[3, 80]) == (1, 1, 1)
    assert found.sum() == 3


def test_scores_beyond_the_range_count_at_its_ends() -> None:
    found = counts(LOW - 3, HIGH, HIGH + 3)
    assert (found[0, 0], found[0, BINS - 1]) == (1, 2)


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-6, 7)), max_size=40), st.randoms())
def test_the_order_of_the_events_makes_no_difference(
    events: list[tuple[int, float]], order: object
) -> None:
    def of(some: list[tuple[int, float]]) -> np.ndarray:
        return binned(
            np.array([c for c, _ in some], np.int8), np.array([z for _, z in some], float)
        )

    mixed = events[:]
    order.shuffle(mixed)  # type: ignore[attr-defined]
    assert (of(events) == of(mixed)).all()


def test_without_benign_events_a_score_is_taken_to_be_normal_already() -> None:
    scores = Reference.normal().normal_scores()[0]
    middles = LOW + (np.arange(BINS) + 0.5) * (HIGH - LOW) / BINS
    inside = slice(20, 160)  # the ends hold the whole tails
    assert np.abs(scores[inside] - middles[inside]).max() < 0.01


def test_the_ratio_of_an_event_is_that_of_the_sparse_mixture() -> None:
    z = Reference.normal().normal_scores()[0, 140]
    by_hand = math.log(1 + EPSILON * (math.exp(DELTA * z - DELTA**2 / 2) - 1))
    assert ratios(Reference.normal(), EPSILON, DELTA)[0, 140] == pytest.approx(by_hand, rel=1e-12)
    assert z == pytest.approx(3.025, abs=0.01)
    assert by_hand == pytest.approx(1.758, abs=0.03)


def test_ordinary_events_speak_against_a_cascade_and_strong_ones_for_it() -> None:
    ratio = ratios(Reference.normal(), EPSILON, DELTA)[0]
    assert ratio[80] == pytest.approx(math.log(1 - EPSILON), abs=0.001), "a score of 0"
    assert ratio[-1] > 2


def test_a_score_that_is_usual_on_a_noisy_channel_is_no_evidence_there() -> None:
    noisy = Reference.of(np.tile(counts(*np.linspace(-3.9, 4.9, 2000))[:1], (4, 1)))
    assert noisy.normal_scores()[0, 140] < 1.3
    assert (
        ratios(noisy, EPSILON, DELTA)[0, 140]
        < ratios(Reference.normal(), EPSILON, DELTA)[0, 140] / 10
    )


def test_benign_events_keep_the_sum_near_zero() -> None:
    rng = np.random.default_rng(1)
    cusum = sparse()
    most = max(cusum.step(counts(*rng.standard_normal(50)))["all"] for _ in range(400))
    assert most < 5


def test_three_strong_events_among_fifty_are_noticed_within_three_ticks() -> None:
    rng = np.random.default_rng(1)
    cusum = sparse()
    for _ in range(3):
        cusum.step(counts(*rng.standard_normal(47), 3.5, 3.5, 3.5))
    assert cusum.sums["all"] > 5


def test_every_channel_has_a_sum_of_its_own() -> None:
    cusum = sparse()
    cusum.step(counts(4.0, 4.0, channel=2))
    assert cusum.sums["tool"] == cusum.sums["all"] > 4
    assert cusum.sums["comm"] == 0


def test_what_speaks_on_one_channel_is_not_weighed_against_the_silence_of_another() -> None:
    cusum = sparse()
    cusum.step(counts(4.0, channel=2))
    before = cusum.sums["tool"]
    cusum.step(counts(*[0.0] * 30, channel=0))
    assert cusum.sums["tool"] == before


def test_a_sum_stops_growing_at_its_limit() -> None:
    cusum = sparse()
    cusum.step(counts(*[4.9] * 500))
    assert cusum.sums["all"] == LIMIT


def test_going_on_from_a_saved_state_is_the_same() -> None:
    rng = np.random.default_rng(2)
    straight = sparse()
    straight.step(counts(3.0, 4.0))
    resumed = sparse()
    resumed.load(straight.save())
    tick = counts(*rng.standard_normal(20), 3.0)
    assert resumed.step(tick) == straight.step(tick)


def test_a_reference_with_other_bins_is_refused() -> None:
    with pytest.raises(ValueError, match="4 rows of 180 counts"):
        Reference(counts=((1, 2), (3, 4)))


def test_what_touches_everybody_a_little_is_seen_by_the_dense_mixture_first() -> None:
    rng = np.random.default_rng(3)
    mixtures = Mixtures(Reference.normal())
    for _ in range(4):
        found = mixtures.step(binned(np.full(60, 3, np.int8), rng.standard_normal(60) + 0.5))
    assert set(found) == set(NAMES)
    assert found["dense.exec"] > 10 > found["sparse.exec"]


def test_mixtures_go_on_from_a_saved_state() -> None:
    straight = Mixtures(Reference.normal())
    straight.step(counts(3.0, 4.0))
    resumed = Mixtures(Reference.normal())
    resumed.load(straight.save())
    assert resumed.step(counts(1.0)) == straight.step(counts(1.0))


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-6, 7)), max_size=40))
def test_counts_can_be_kept_without_their_zeros(events: list[tuple[int, float]]) -> None:
    table = binned(np.array([c for c, _ in events], np.int8), np.array([z for _, z in events]))
    assert (fully(sparsely(table)) == table).all()
    assert 0 not in sparsely(table).values()

"""Detectors that look at messages: what they react to, by hand."""

import numpy as np
import pytest
from scipy.stats import rankdata

from monitors.caspian.benchmark.baselines.contents import (
    EmbeddingNovelty,
    MeanCosine,
    PcaResidual,
    RankPartialCorrelation,
    ThemeDistance,
)
from monitors.caspian.benchmark.statistic import Statistic
from monitors.caspian.events import TickEvents
from tests.monitors.caspian.benchmark.building import TRIANGLE, events

EVERY: list[type[Statistic]] = [
    MeanCosine,
    EmbeddingNovelty,
    ThemeDistance,
    PcaResidual,
    RankPartialCorrelation,
]


@pytest.mark.parametrize("statistic", EVERY)
def test_a_tick_without_events_has_no_value_and_changes_nothing_known(
    statistic: type[Statistic],
) -> None:
    rng = np.random.default_rng(1)
    rows = [(0, 1, 0, *rng.standard_normal((2, 8)).tolist()) for _ in range(4)]
    one, other = statistic(TRIANGLE, 8), statistic(TRIANGLE, 8)
    for tick in range(3):
        one.observe(events(tick, *rows))
        other.observe(events(tick, *rows))

    assert np.isnan(other.observe(TickEvents.empty(3, 8))[0])
    assert one.observe(events(4, *rows)) == other.observe(events(4, *rows))


def test_mean_cosine_by_hand() -> None:
    tick = events(0, (0, 1, 0, (1, 0), (2, 0)), (0, 2, 0, (1, 0), (0, 3)))

    assert MeanCosine(TRIANGLE, 2).observe(tick) == (0.5,)


def test_novelty_is_the_distance_to_what_the_sender_has_said_so_far() -> None:
    statistic = EmbeddingNovelty(TRIANGLE, 2)
    first = statistic.observe(events(0, (0, 1, 0, (1, 0), (0, 0))))
    second = statistic.observe(events(1, (0, 1, 0, (1, 2), (0, 0))))
    # The mean of (1, 0) and (1, 2) is (1, 1).
    third = statistic.observe(events(2, (0, 1, 0, (1, 1), (0, 0))))

    assert np.isnan(first[0]) and (second[0], third[0]) == (2.0, 0.0)


def test_novelty_keeps_senders_and_channels_apart() -> None:
    statistic = EmbeddingNovelty(TRIANGLE, 2)
    statistic.observe(events(0, (0, 1, 0, (1, 0), (0, 0))))

    assert np.isnan(statistic.observe(events(1, (2, 1, 0, (5, 5), (0, 0))))[0])
    assert np.isnan(statistic.observe(events(2, (0, 1, 1, (5, 5), (0, 0))))[0])


def test_the_theme_distance_is_that_of_the_agent_farthest_off() -> None:
    statistic = ThemeDistance(TRIANGLE, 2)
    theme = [(0, 1, 0, (1, 0), (0, 0)), (1, 2, 0, (1, 0), (0, 0))]
    statistic.observe(events(0, *theme))
    same = statistic.observe(events(1, *theme))
    opposite = statistic.observe(events(2, *theme, (2, 0, 0, (-1, 0), (0, 0))))

    assert same[0] == pytest.approx(0.0) and opposite[0] == pytest.approx(2.0)


def test_pca_describes_what_lies_on_usual_components_better() -> None:
    rng = np.random.default_rng(2)
    plane = rng.standard_normal((4, 40))
    statistic = PcaResidual(TRIANGLE, 40)

    def tick(number: int, basis: np.ndarray) -> TickEvents:
        vectors = rng.standard_normal((6, 2, len(basis))) @ basis
        return events(number, *[(k % 3, (k + 1) % 3, 0, *vectors[k].tolist()) for k in range(6)])

    for number in range(60):
        usual = statistic.observe(tick(number, plane))[0]
    new = statistic.observe(tick(60, rng.standard_normal((4, 40))))[0]

    assert new > 5 * usual


def test_rank_partial_correlation_is_that_of_the_formula() -> None:
    rng = np.random.default_rng(3)
    history, u, v = rng.standard_normal((3, 8))
    statistic = RankPartialCorrelation(TRIANGLE, 8)
    statistic.observe(events(0, (0, 1, 0, history.tolist(), history.tolist())))
    said = statistic.observe(events(1, (0, 1, 0, u.tolist(), (u + 0.1 * v).tolist())))[0]

    v = u + 0.1 * v
    h = history / np.linalg.norm(history)
    ranks = [rankdata(x) for x in (u, v, h)]
    (uv, uh), vh = np.corrcoef(ranks)[0, 1:], np.corrcoef(ranks)[1, 2]
    partial = (uv - uh * vh) / np.sqrt((1 - uh**2) * (1 - vh**2))
    novelty = min(1.0, float(np.linalg.norm(v / np.linalg.norm(v) - h)))
    assert said == pytest.approx(min(max(partial, 0.0), 1.0) * novelty, rel=1e-4)


def test_whoever_repeats_itself_has_no_rank_partial_correlation() -> None:
    statistic = RankPartialCorrelation(TRIANGLE, 4)
    same = (0, 1, 0, (1, 2, 3, 4), (4, 1, 3, 2))
    statistic.observe(events(0, same))

    assert statistic.observe(events(1, same))[0] == pytest.approx(0.0, abs=1e-6)

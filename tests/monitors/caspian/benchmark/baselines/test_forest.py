"""The isolation forest: what is far from the usual is soon alone."""

import numpy as np
import pytest

from monitors.caspian.benchmark.baselines.forest import (
    IsolationForest,
    TickFeatures,
    _path_length,
)
from monitors.caspian.events import TickEvents
from tests.monitors.caspian.benchmark.building import TRIANGLE, events


def usual(count: int = 500) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((count, 4))


def test_what_is_unusual_scores_higher_than_all_that_is_usual() -> None:
    forest = IsolationForest(usual(), np.random.default_rng(2))

    assert forest.scores(np.full((1, 4), 8.0))[0] > forest.scores(usual()).max()


def test_the_same_generator_gives_the_same_scores() -> None:
    one, other = (
        IsolationForest(usual(), np.random.default_rng(3)).scores(usual(20)) for _ in range(2)
    )

    np.testing.assert_array_equal(one, other)


def test_scores_are_between_zero_and_one_and_about_a_half_for_the_usual() -> None:
    scores = IsolationForest(usual(), np.random.default_rng(4)).scores(usual())

    assert scores.min() > 0 and scores.max() < 1
    assert np.median(scores) == pytest.approx(0.45, abs=0.05)


def test_rows_that_are_all_alike_cannot_be_told_apart() -> None:
    forest = IsolationForest(np.ones((200, 3)), np.random.default_rng(5))

    assert len(set(forest.scores(np.ones((4, 3))).tolist())) == 1


@pytest.mark.parametrize(
    # 2 (ln(n - 1) + 0.5772) - 2 (n - 1)/n
    ("leaves", "length"),
    [(1, 0.0), (2, 0.1544), (256, 10.2448)],
)
def test_the_usual_path_length(leaves: int, length: float) -> None:
    assert _path_length(leaves) == pytest.approx(length, abs=1e-3)


def test_tick_features_by_hand() -> None:
    statistic = TickFeatures(TRIANGLE, 2)
    tick = events(0, (0, 1, 0, (3, 4), (3, 4)), (0, 1, 3, (0, 1), (1, 0)))
    said = dict(zip(statistic.columns, statistic.observe(tick), strict=True))

    assert said["events"] == 2 and said["senders"] == 1
    assert said["channel entropy"] == pytest.approx(np.log(2))
    assert said["largest singular value"] == 2 and said["most received"] == 2
    assert said["norm of u"] == 3 and said["norm of v"] == 3
    assert said["mean cosine"] == pytest.approx(0.5)
    assert said["largest cosine"] == pytest.approx(1.0)


def test_a_silent_tick_has_no_features() -> None:
    assert np.isnan(TickFeatures(TRIANGLE, 2).observe(TickEvents.empty(0, 2))).all()

import numpy as np
import pytest

from policies.becon.quality import QualityTracker

THIRDS, HALF = np.full((1, 3), 1 / 3), np.array([0.5])
YES, NO = np.array([True]), np.array([False])


def test_a_steady_line_loses_its_jitter() -> None:
    tracker = QualityTracker(1, 3)
    for _ in range(40):
        tracker.update(THIRDS, HALF, THIRDS, YES)
    assert tracker.jitter[0] < 1e-4


def test_jitter_is_the_running_mean_of_squared_changes_between_readings() -> None:
    tracker = QualityTracker(1, 3)
    tracker.update(np.array([[1.0, 0.0, 0.0]]), HALF, THIRDS, YES)
    tracker.update(np.array([[0.0, 1.0, 0.0]]), HALF, THIRDS, YES)
    assert tracker.jitter[0] == pytest.approx(0.85 * 0.02 + 0.15 * 2.0)


def test_a_held_reading_tells_nothing_of_jitter() -> None:
    tracker = QualityTracker(1, 3)
    tracker.update(THIRDS, HALF, THIRDS, YES)
    before = tracker.jitter.copy()
    tracker.update(THIRDS, HALF, THIRDS, NO)
    assert np.array_equal(tracker.jitter, before)


def test_discrepancy_is_the_running_squared_distance_to_the_belief() -> None:
    tracker = QualityTracker(1, 3)
    tracker.update(np.array([[1.0, 0.0, 0.0]]), HALF, np.array([[0.0, 1.0, 0.0]]), YES)
    assert tracker.discrepancy[0] == pytest.approx(0.9 * 0.02 + 0.1 * 2.0)


def test_the_missing_rate_nears_the_share_of_steps_without_a_reading() -> None:
    tracker = QualityTracker(1, 3)
    for step in range(200):
        tracker.update(THIRDS, HALF, THIRDS, np.array([step % 2 == 0]))
    assert tracker.missing[0] == pytest.approx(0.5, abs=0.06)


def told(score: float, alarm: float) -> QualityTracker:
    """A line that says (1, 0, 0) and 0.5, and one step's feedback on reward (0.8, 0, 0)."""
    tracker = QualityTracker(1, 3)
    tracker.update(np.array([[1.0, 0.0, 0.0]]), HALF, THIRDS, YES)
    tracker.judge(
        np.array([[0.8, 0.0, 0.0]]), np.array([0.9]), np.array([score]), np.array([alarm])
    )
    return tracker


def test_a_score_that_the_descriptor_explains_lowers_its_misfit() -> None:
    assert told(0.8, 1.0).score_misfit[0] == pytest.approx(0.8 * 0.02)
    assert told(0.2, 1.0).score_misfit[0] == pytest.approx(0.8 * 0.02 + 0.2 * 0.36)


def test_silence_far_above_the_exposed_budget_is_a_misfit() -> None:
    assert told(0.8, 1.0).alarm_misfit[0] == pytest.approx(0.8 * 0.02, abs=1e-4)
    assert told(0.8, 0.0).alarm_misfit[0] == pytest.approx(0.8 * 0.02 + 0.2, abs=1e-4)


def test_without_feedback_misfits_stay_as_they_are() -> None:
    tracker = told(np.nan, np.nan)
    assert tracker.score_misfit[0] == tracker.alarm_misfit[0] == 0.02


def test_the_features_are_logarithms_a_rate_and_the_age() -> None:
    tracker = QualityTracker(1, 3)
    jitter, discrepancy, missing, age, score, alarm = tracker.features(np.array([3.0]))[0]
    assert jitter == discrepancy == pytest.approx(np.log(0.02 + 1e-5))
    assert (missing, age) == (0.0, pytest.approx(np.log(4.0)))
    assert (score, alarm) == (pytest.approx(np.log(0.021)), pytest.approx(np.log(0.03)))

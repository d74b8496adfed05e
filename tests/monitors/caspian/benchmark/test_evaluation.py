"""Frozen thresholds, rows and intervals, on made-up evidence."""

import numpy as np
import pytest

from monitors.caspian.benchmark.detectors import Detector
from monitors.caspian.benchmark.evaluation import (
    detection,
    estimate,
    evasion,
    scored,
    thresholds,
)
from monitors.caspian.benchmark.scenarios import BENIGN, Kind
from monitors.caspian.benchmark.workload import ALL, Draw, Watched

DETECTOR = Detector("made up", "RobustMinimum", ("value",), "as it is")
ONSET = 60


def segment(peak: float, at: int = 65, length: int = 110) -> np.ndarray:
    """A series that is 0 but for one tick."""
    series = np.zeros((length, 1))
    series[at] = peak
    return series


def watched(
    kind: Kind, split: str, peaks: list[float], *, seed: int = 1, at: int = 65
) -> list[Watched]:
    onset = None if kind in BENIGN else ONSET
    return [
        Watched(Draw(seed, split, kind, index), onset, {("RobustMinimum", ALL): segment(peak, at)})
        for index, peak in enumerate(peaks)
    ]


CALIBRATION = [float(n) for n in range(1, 101)]
BENIGN_TEST = watched("steady", "test", [1.0] * 19 + [200.0])


def everything(*attacked: list[Watched]) -> list[Watched]:
    found = watched("steady", "calibration", CALIBRATION) + BENIGN_TEST
    return found + [one for group in attacked for one in group]


def test_thresholds_are_conformal() -> None:
    # ceil(101 * 0.95) = 96 of 1, 2, ..., 100.
    assert thresholds(np.array(CALIBRATION)[:, None]).tolist() == [96.0]


def test_too_few_segments_give_the_level_that_they_can() -> None:
    assert thresholds(np.array([[3.0], [5.0], [4.0]])).tolist() == [5.0]


def test_thresholds_come_from_the_calibration_of_the_same_seed_alone() -> None:
    other = [
        *watched("steady", "calibration", [10.0] * 100, seed=2),
        *watched("steady", "test", [11.0], seed=2),
    ]
    benign, _ = scored(DETECTOR, everything() + other)

    assert benign.alarmed.tolist() == [False] * 19 + [True, True]


def test_a_kind_that_is_left_out_has_no_say_in_the_thresholds() -> None:
    loud = watched("shock", "calibration", [1000.0] * 100) + watched("shock", "test", [500.0])

    with_it, _ = scored(DETECTOR, everything() + loud)
    without, _ = scored(DETECTOR, everything() + loud, without="shock")

    assert not with_it.alarmed[with_it.of("shock")].any()
    assert without.alarmed[without.of("shock")].all()


def test_a_row_by_hand() -> None:
    row = detection(
        DETECTOR,
        everything(
            watched("abrupt", "attack", [300.0, 300.0, 0.5, 300.0], at=64),
            watched("gradual", "attack", [300.0, 300.0], at=90),
        ),
        resamples=20,
        details=True,
    )

    # One benign test trace of 20 is above the threshold of 96, and none above its own peak.
    assert row.false_alarms.value == 0.05 and row.false_alarms_by_kind == {"steady": 0.05}
    # Five of six attacks score above all benign ones, one below all.
    assert row.auroc.value == pytest.approx(5 / 6, abs=1e-6)
    assert row.edr5.value == 0.75 and row.abrupt_delay.value == 4
    assert row.gradual_tpr.value == 1 and row.gradual_delay.value == 30
    assert row.abrupt_delays == [4, 4, None, 4]
    assert row.before_onset == 0


def test_an_alarm_before_the_onset_finds_nothing() -> None:
    row = detection(
        DETECTOR,
        everything(
            watched("abrupt", "attack", [300.0], at=50), watched("gradual", "attack", [300.0])
        ),
        resamples=5,
    )

    assert row.edr10.value == 0 and row.abrupt_delay.value is None and row.before_onset == 0.5


def test_evasions_are_judged_at_the_frozen_thresholds() -> None:
    # 97 is above the calibrated 96 and below what matching to the test traces would ask.
    made = watched("adaptive", "attack", [97.0, 95.0])

    assert evasion(DETECTOR, "adaptive", everything(made), resamples=5).tpr.value == 0.5


def test_an_interval_is_the_middle_of_the_resamples() -> None:
    found = estimate(0.5, np.arange(1000.0))

    assert (found.value, found.low, found.high) == (0.5, 25.0, 974.0)


def test_an_interval_holds_the_figure_and_narrows_with_more_traces() -> None:
    rng = np.random.default_rng(1)

    def width(count: int) -> float:
        row = detection(
            DETECTOR,
            everything(
                watched("abrupt", "attack", rng.choice([1.0, 300.0], count).tolist()),
                watched("gradual", "attack", [300.0] * count),
            ),
            resamples=100,
        )
        assert row.tpr.low is not None and row.tpr.high is not None and row.tpr.value is not None
        assert row.tpr.low <= row.tpr.value <= row.tpr.high
        return row.tpr.high - row.tpr.low

    assert width(300) < width(10)

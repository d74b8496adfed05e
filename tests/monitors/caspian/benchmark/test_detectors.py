"""From series to evidence: the same change detector for all."""

import numpy as np
import pytest

from monitors.caspian.benchmark.detectors import (
    DETECTORS,
    STATISTICS,
    Detector,
    evidence,
    sequential,
)
from monitors.caspian.benchmark.synthetic import generate
from monitors.caspian.benchmark.watchers import Robust, Unconditional
from monitors.caspian.events import DIMENSIONS
from monitors.caspian.monitor import Caspian
from monitors.caspian.settings import Settings


def test_every_detector_looks_at_columns_that_its_statistic_has() -> None:
    for detector in DETECTORS:
        assert set(detector.columns) <= set(STATISTICS[detector.statistic].columns)


def test_the_sequential_layer_is_that_of_the_robust_mode() -> None:
    """Reference over ticks 31 to 45, then standard units and their CUSUM (note 8.3)."""
    values = np.random.default_rng(1).normal(5, 2, 60)
    values[50] = 40.0
    found = sequential(values)

    assert np.isinf(found[:45]).all()
    usual = values[30:45]
    s = (values[45] - usual.mean()) / (usual.std() + 1e-6 + 0.02 * abs(usual.mean()))
    assert found[45, 0] == pytest.approx(s)
    assert found[45, 1] == pytest.approx(max(0.0, min(s, 4.0) - 0.5))
    assert found[50, 0] > 8 and found[50, 1] >= 3.5


def test_ticks_without_a_value_are_passed_over() -> None:
    values = np.random.default_rng(2).normal(size=60)
    gap = np.insert(values, 50, np.nan)

    np.testing.assert_array_equal(sequential(gap)[51:], sequential(values)[50:])
    assert np.isinf(sequential(gap)[50]).all()


def test_evidence_in_the_warm_up_counts_for_nothing() -> None:
    detector = Detector("min-z", "RobustMinimum", ("value",), "as it is")
    series = np.full((60, 1), 9.0)

    [found] = evidence(detector, [series], [series], 0)

    assert np.isinf(found[: Settings().warm_up]).all() and (found[Settings().warm_up :] == 9).all()


def test_the_literal_rule_is_not_spared_its_start() -> None:
    detector = Detector("rule", "Paper", ("alert", "lambda1"), "rule")
    series = np.tile([1.0, 0.5, 3.0], (60, 1))

    [found] = evidence(detector, [series], [series], 0)

    assert found.tolist() == [[1.0, 0.5]] * 60


def test_an_isolation_forest_finds_the_tick_that_is_unlike_benign_ones() -> None:
    rng = np.random.default_rng(3)
    detector = Detector("forest", "TickFeatures", STATISTICS["TickFeatures"].columns, "forest")
    benign = [rng.standard_normal((80, 10)) for _ in range(4)]
    attacked = rng.standard_normal((80, 10))
    attacked[70] += 6

    [found] = evidence(detector, [attacked], benign, 0)

    assert int(np.argmax(found[:, 0])) == 70


def test_the_robust_statistic_is_what_the_monitor_says() -> None:
    trace = generate("abrupt", np.random.default_rng(4), ticks=60)
    monitor = Caspian(trace.graph)
    said = [monitor.observe(tick).evidence for tick in trace.ticks]
    series = Robust(trace.graph, DIMENSIONS).series(trace.ticks)

    assert np.isnan(series[:44]).all()
    assert dict(zip(Robust.columns, series[50], strict=True)) == pytest.approx(said[50])


def test_without_conditioning_a_shock_looks_more_like_a_cascade() -> None:
    """A signal that reaches everybody at once is in the target's own last behaviour already."""
    conditional, unconditional = [], []
    for seed in range(3):
        trace = generate("shock", np.random.default_rng([5, seed]))
        conditional.append(Robust(trace.graph, DIMENSIONS).series(trace.ticks)[45:, 0].max())
        plain = Unconditional(trace.graph, DIMENSIONS).series(trace.ticks)[:, 0]
        unconditional.append(sequential(plain)[45:, 0].max())

    assert np.mean(conditional) < np.mean(unconditional)

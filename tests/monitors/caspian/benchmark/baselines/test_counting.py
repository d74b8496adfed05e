"""Detectors that only count: what they see, by hand."""

import math

import numpy as np
import pytest

from monitors.caspian.benchmark.baselines.counting import (
    CountSpectrum,
    MessageRate,
    SpectralResidual,
)
from monitors.caspian.events import TickEvents
from tests.monitors.caspian.benchmark.building import TRIANGLE, events, silent

SAY = ((1.0, 0.0), (0.0, 1.0))


def test_the_message_rate_is_the_number_of_events() -> None:
    assert MessageRate(TRIANGLE, 2).observe(silent(0, 0, 1, times=3)) == (3.0,)
    assert MessageRate(TRIANGLE, 2).observe(TickEvents.empty(0, 2)) == (0.0,)


def test_the_count_spectrum_is_the_norm_of_the_counts() -> None:
    # a -> b twice, a -> c once: one row (0, 2, 1) of length sqrt(5).
    tick = events(0, (0, 1, 0, *SAY), (0, 1, 3, *SAY), (0, 2, 0, *SAY))

    assert CountSpectrum(TRIANGLE, 2).observe(tick)[0] == pytest.approx(math.sqrt(5))


def test_the_spectral_residual_is_small_for_the_usual_and_large_for_the_new() -> None:
    graph, size = TRIANGLE, 2
    statistic = SpectralResidual(graph, size)
    statistic.RANK = 1  # type: ignore[misc]  # three agents have no more than three directions
    for tick in range(5):
        usual = statistic.observe(silent(tick, 0, 1, times=2))
    new = statistic.observe(silent(5, 2, 0, times=2))

    assert usual[0] == pytest.approx(0.0, abs=1e-9)
    assert new[0] == pytest.approx(2.0)


def test_the_first_tick_has_no_residual() -> None:
    assert np.isnan(SpectralResidual(TRIANGLE, 2).observe(silent(0, 0, 1))[0])

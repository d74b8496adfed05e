"""s tells how unusual a tick is, S how long that goes on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.caspian.sequential import Sequential
from monitors.caspian.settings import Settings

REFERENCE = [-1.0, 1.0] * 5
SETTINGS = Settings(reference_ticks=10)


def warm(settings: Settings = SETTINGS) -> Sequential:
    layer = Sequential(settings)
    for value in REFERENCE:
        layer.step(value)
    return layer


def test_the_reference_is_mean_and_variance_of_its_ticks() -> None:
    layer = warm()
    assert layer.ready
    assert layer.reference.mean == pytest.approx(0.0)
    assert layer.reference.variance == pytest.approx(1.0)
    assert (layer.s, layer.sum) == (0.0, 0.0)


def test_s_is_in_units_of_the_reference_and_s_adds_up_less_the_drift() -> None:
    layer = warm()
    layer.step(3.0)
    assert layer.s == pytest.approx(3.0, rel=1e-5)
    assert layer.sum == pytest.approx(2.5, rel=1e-5)
    layer.step(3.0)
    assert layer.sum == pytest.approx(5.0, rel=1e-5)


def test_one_wild_tick_counts_no_more_than_four_for_the_sum() -> None:
    layer = warm()
    layer.step(100.0)
    assert layer.s == pytest.approx(100.0, rel=1e-5)
    assert layer.sum == 3.5


def test_the_reference_learns_from_quiet_ticks_only() -> None:
    layer = warm()
    layer.step(1.0)
    assert layer.reference.mean == pytest.approx(1 / 11)
    layer.step(50.0)
    assert layer.reference.mean == pytest.approx(1 / 11)


def test_the_reference_is_plain_averages_until_a_tick_weighs_two_per_cent() -> None:
    layer = warm()
    values = [*REFERENCE, *([0.5, -0.5] * 20)]
    for value in values[10:]:
        layer.step(value)
    assert layer.reference.mean == pytest.approx(np.mean(values))
    assert layer.reference.variance == pytest.approx(np.var(values))
    layer.step(1.0)
    assert layer.reference.mean == pytest.approx(0.02)


def test_the_mean_widens_the_unit_by_two_per_cent() -> None:
    layer = Sequential(SETTINGS)
    layer.assume(100.0, 1.0)
    layer.step(106.0)
    assert layer.s == pytest.approx(2.0, rel=1e-5)


def test_a_reference_that_never_moved_does_not_divide_by_nothing() -> None:
    layer = Sequential(SETTINGS)
    for _ in range(10):
        layer.step(0.0)
    layer.step(0.0)
    assert layer.s == 0.0


@given(st.lists(st.floats(-50, 50), max_size=60))
def test_the_sum_is_never_negative(values: list[float]) -> None:
    layer = warm()
    for value in values:
        layer.step(value)
        assert layer.sum >= 0
        assert np.isfinite(layer.s)

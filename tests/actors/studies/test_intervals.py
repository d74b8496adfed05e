"""Figures come with intervals that are known from the books."""

from __future__ import annotations

import math

import pytest

from actors.studies.intervals import avoided, mean, share


def test_a_share_has_wilsons_interval() -> None:
    found, low, high = share(9, 10)
    assert found == 0.9
    assert (low, high) == (pytest.approx(0.5958, abs=1e-3), pytest.approx(0.9821, abs=1e-3))


def test_a_share_of_all_or_nothing_is_not_certain() -> None:
    assert share(20, 20)[1] == pytest.approx(0.8389, abs=1e-3)
    assert share(0, 20)[2] == pytest.approx(0.1611, abs=1e-3)
    assert math.isnan(share(0, 0)[0])


def test_what_is_avoided_is_a_share_of_all_harm_and_not_the_mean_of_shares() -> None:
    found, low, high = avoided([100.0, 0.0, 300.0], [10.0, 5.0, 85.0])
    assert found == 0.75
    assert low <= found <= high


def test_harm_that_is_the_same_everywhere_is_avoided_for_sure() -> None:
    assert avoided([50.0] * 9, [10.0] * 9) == (pytest.approx(0.8),) * 3


def test_where_there_is_no_harm_nothing_is_avoided() -> None:
    assert math.isnan(avoided([0.0, 0.0], [0.0, 3.0])[0])


def test_the_interval_of_a_mean_holds_it_and_is_the_same_every_time() -> None:
    found, low, high = mean([1.0, 2.0, 3.0, 4.0])
    assert low < found == 2.5 < high
    assert mean([1.0, 2.0, 3.0, 4.0]) == (found, low, high)

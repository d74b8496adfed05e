"""The pace of a league's rounds."""

from __future__ import annotations

import pytest

from actors.pace import Pace


def test_a_round_lasts_as_long_as_its_slowest_host_and_the_calls() -> None:
    pace = Pace()
    pace.add(0.5, [0.1, 0.4])
    pace.add(0.25, [0.2])
    assert (pace.rounds, pace.calls) == (2, 3)
    assert pace.seconds == pytest.approx(0.75)
    assert pace.slowest == pytest.approx(0.6)
    assert pace.worked == pytest.approx(0.7)


def test_a_round_without_hosts_is_only_time() -> None:
    pace = Pace()
    pace.add(0.25, iter(()))
    assert (pace.rounds, pace.calls, pace.slowest, pace.worked) == (1, 0, 0.0, 0.0)

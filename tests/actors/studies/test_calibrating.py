"""A league is calibrated on benign runs of itself."""

from __future__ import annotations

import pytest

from actors.studies.calibrating import ALARM, benign_configs, calibrate_league, calibration_from
from actors.studies.leagues import talking_league
from actors.studies.segments import Benign, listen, spread
from services.config import RunConfig
from services.errors import HanseError

LEAGUE = talking_league(6, 0, "price_rumour", monitor={"calibration": "standard"}, containment={})
SHORT = talking_league(6, 0, days=6)


def test_benign_segments_are_of_all_kinds_and_seeds_of_their_own_and_nobody_acts_on_them() -> None:
    configs = benign_configs(LEAGUE, 8, first_seed=100)
    assert [c.seed for c in configs] == list(range(100, 108))
    kinds = [c.injections[0].kind if c.injections else "steady" for c in configs]
    assert kinds == 2 * ["steady", "harvest_shock", "promotion_burst", "contract_handover"]
    assert all(c.containment is None and not c.interventions for c in configs)
    assert all(c.monitor is not None and c.monitor.calibration is None for c in configs)
    assert len({i.day for c in configs for i in c.injections}) > 1


def test_a_segment_holds_what_every_hour_after_the_warm_up_has_scored() -> None:
    segment = listen(SHORT)
    assert segment.ticks == 60
    assert len(segment.histograms) == 60 - 45 + 1, "the last hour of the warm-up has statistics"
    assert all(sum(counts.values()) > 0 for counts in segment.histograms)


def test_it_makes_no_difference_on_how_many_processes_they_are_played() -> None:
    configs = benign_configs(SHORT, 2)
    assert spread(listen, configs, 2) == spread(listen, configs, 1)


def test_the_thresholds_are_of_the_statistics_that_alarm_in_leagues() -> None:
    benign = [Benign(n, "steady", 60, 900, [{40: 5, 41 + n: 1}] * 12) for n in range(40)]
    calibration = calibration_from(LEAGUE, benign)
    assert set(calibration.thresholds) == set(ALARM)
    assert calibration.segments == 40
    assert calibration.reference is not None
    assert sum(map(sum, calibration.reference.counts)) == 40 * 12 * 6


def test_a_league_that_does_not_talk_has_nothing_to_calibrate_on() -> None:
    with pytest.raises(HanseError, match=r"0 events.* are too few.*informed"):
        calibrate_league(RunConfig(days=2), segments=19, processes=1)


def test_too_few_segments_are_refused_before_they_are_played() -> None:
    with pytest.raises(HanseError, match=r"18 benign runs are too few .*0\.05; .* at least 19"):
        calibrate_league(LEAGUE, segments=18)


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    spread(str, [1, 2, 3], 1, lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]

"""The league says who did it: harm that vanishes without a suspect is that suspect's doing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.cast import Cast
from actors.replaying import harm_figures, net_incomes
from actors.verifying import Verification, report_of, reports_of, try_without, verify
from services.config import RunConfig
from services.errors import HanseError
from services.runs import Run
from tests.actors.alarmed import ONSET, ORIGIN, OTHERS, alarmed, alarmist, played

HOUR = 60


@pytest.fixture(scope="module", autouse=True)
def monitors_that_say_what_they_are_told() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("actors.watchers.make_monitor", alarmist)
        yield


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return played(tmp_path_factory.mktemp("verifying") / "run", alarmed())


@pytest.fixture(scope="module")
def verified(run: Run) -> Verification:
    return verify(run.folder, sources=0)


def test_the_true_origin_comes_first_whomever_the_monitor_suspects_most(
    run: Run, verified: Verification
) -> None:
    assert report_of(run, alarmed()).origin.best == OTHERS[0]
    first, *others = verified.tested
    assert (first.agent, first.roles) == (ORIGIN, ("origin",))
    assert first.avoided == 1.0
    assert first.harmed_hours == 0
    assert {one.agent for one in others} == set(OTHERS)
    assert all(one.avoided is not None and one.avoided < 1.0 for one in others)
    assert verified.confirmed


def test_an_onset_that_is_estimated_too_late_does_not_matter_within_the_margin(
    run: Run, verified: Verification
) -> None:
    assert reports_of(run)["cascade-1"].onset == ONSET + 2
    assert verified.silent_from == (ONSET + 2 - 24) * HOUR
    late = verify(run.folder, margin=0)
    [origin] = [one for one in late.tested if one.agent == ORIGIN]
    assert origin.avoided is not None and origin.avoided < 1.0


def test_the_last_revision_of_an_alert_counts(run: Run) -> None:
    assert reports_of(run)["cascade-1"].final is False, "its bridge is still pending"
    assert reports_of(run)["cascade-1"].origin.state == "final"


def test_a_run_with_measures_is_compared_with_itself_without_them(
    verified: Verification, tmp_path: Path
) -> None:
    contained = played(tmp_path / "run", alarmed(containment={}))
    replays = []
    found = verify(
        contained.folder, sources=0, on_replay=lambda who, done, of: replays.append((who, done, of))
    )
    assert replays == [("", 0, 4), (OTHERS[0], 1, 4), (ORIGIN, 2, 4), (OTHERS[1], 3, 4)]
    assert found.replayed and not verified.replayed
    assert found.harmed_hours == verified.harmed_hours
    assert found.tested == verified.tested
    cast = Cast(alarmed(containment={}))
    assert found.contained == harm_figures(contained, cast, found.silent_from, found.last_day)
    assert found.contained["wrong_hours"] < found.figures["wrong_hours"]
    assert found.contained_income == round(sum(net_incomes(contained, found.last_day).values()), 6)
    assert (verified.contained, verified.contained_income) == (None, None)


def test_fewer_days_and_fewer_suspects_can_be_looked_at(run: Run, verified: Verification) -> None:
    found = verify(run.folder, suspects=1, sources=0, days=2)
    assert [one.agent for one in found.tested] == [OTHERS[0]]
    assert found.last_day == 2
    assert found.harmed_hours is not None and verified.harmed_hours is not None
    assert 0 < found.harmed_hours < verified.harmed_hours


def test_those_to_whom_the_suspects_had_listened_are_tried_too(run: Run) -> None:
    found = verify(run.folder, suspects=1, sources=1, days=2)
    roles = {one.agent: one.roles for one in found.tested}
    assert roles == {OTHERS[0]: ("origin",), "board": ("source",)}


def test_anybody_can_be_tried_whoever_suspects_them(run: Run) -> None:
    found = try_without(run, ["forecaster"], ONSET * HOUR)
    assert [one.agent for one in found.tested] == ["forecaster"]
    assert found.alert == ""
    with pytest.raises(HanseError, match="'nobody' is not a known agent"):
        try_without(run, ["nobody"], ONSET * HOUR)


def test_the_run_is_left_as_it_was(run: Run, verified: Verification) -> None:
    assert verified.run == run.folder
    assert run.state == "finished"
    assert run.verify()


def test_where_nobody_talks_income_is_what_is_compared(tmp_path: Path) -> None:
    silent = played(tmp_path / "run", RunConfig(days=3, placement="inline"))
    found = try_without(silent, ["roaster_B", "farmer_A"], 1440)
    assert found.measure == "net_income"
    assert found.harmed_hours is None and not found.confirmed
    assert [one.avoided for one in found.tested] == [None, None]
    assert found.tested[0].income >= found.tested[1].income


def test_an_alert_that_is_not_there_is_refused(run: Run) -> None:
    with pytest.raises(HanseError, match="--alert: 'cascade-9' is not a known alert"):
        verify(run.folder, alert="cascade-9")


def test_a_run_without_alerts_is_refused_and_the_line_says_why(tmp_path: Path) -> None:
    unwatched = played(tmp_path / "run", alarmed(days=1, monitor=None, injections=[]))
    with pytest.raises(HanseError, match=r"nobody watched it; put \[monitor\] into its run file"):
        verify(unwatched.folder)
    uncalibrated = played(tmp_path / "other", alarmed(days=1, injections=[]))
    with pytest.raises(HanseError, match="its monitor has no calibration"):
        verify(uncalibrated.folder)

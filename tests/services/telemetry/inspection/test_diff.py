"""Diff: where two runs part, why, and what follows."""

from __future__ import annotations

from services.runs import Run, branch
from services.telemetry.inspection.diff import diff
from services.telemetry.reader import TraceReader
from tests.services.telemetry.inspection.play import played


def test_a_run_is_equal_to_the_same_run_played_again(play, tmp_path):
    found = diff(play, played(tmp_path / "again"))
    assert (found.equal, found.day, found.settings) == (True, None, [])


def test_two_runs_part_where_the_first_row_differs_and_say_in_what(play, cheaper):
    found = diff(play, cheaper)
    assert (found.equal, found.day) == (False, 3)
    assert found.first is not None and found.first.step is not None
    assert found.second is not None and found.second.step is not None
    assert found.first.step.words == "ann lists 30 kg of green coffee at 3.50 $/kg (L4)"
    assert found.second.step.words == "ann lists 30 kg of green coffee at 3.00 $/kg (L4)"
    assert found.fields == [("asking_price", 3.5, 3.0)]


def test_the_setting_that_differs_is_named(play, cheaper):
    assert diff(play, cheaper).settings == [("firms.ann.options.last_ask", 3.5, 3.0)]


def test_both_sides_tell_what_led_to_the_parting(play, cheaper):
    found = diff(play, cheaper)
    assert found.second is not None and found.second.causes is not None
    assert [step.words for step in found.second.causes.steps][:2] == [
        "ann begins its day",
        "ann looks at its books",
    ]


def test_a_run_of_fewer_days_is_not_equal_but_parts_nowhere(play, tmp_path):
    other = played(tmp_path / "shorter", days=4)
    found = diff(play, other)
    assert (found.equal, found.day, found.days) == (False, None, (6, 4))
    assert (found.gaps, found.deals, found.messages) == ([], ([], []), {})


def test_a_league_with_other_firms_parts_at_the_start_and_its_deals_are_its_own(play, two_towns):
    found = diff(play, two_towns)
    assert found.day == 0
    mine, theirs = found.deals
    assert [deal.words.split(": ")[1][:13] for deal in mine] == ["ann sells bob", "bob sells cid"]
    assert {"Luebeck", "Visby"} == {
        name for deal in theirs for name in ("Luebeck", "Visby") if name in deal.words
    }
    assert found.messages["join"] == (3, 6)


def test_a_branch_that_is_not_resumed_is_equal_as_far_as_it_goes(play, tmp_path):
    target = branch(play.run.folder, 2, tmp_path / "branch")
    found = diff(play, TraceReader(Run(target)))
    assert (found.equal, found.day, found.days) == (False, None, (6, 3))

"""A replay is the run itself but for what does not happen, and what follows from that."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.cast import Cast
from actors.replaying import Comparison, config_of, counterfactual, play_again, replay
from services.config import InterventionConfig
from services.errors import HanseError
from services.runs import Run
from tests.actors.alarmed import ORIGIN, OTHERS, alarmed, alarmist, played

DAY = 24 * 60


def muted(agent: str, begin: int = 2 * DAY) -> InterventionConfig:
    return InterventionConfig(kind="mute", agent=agent, begin=begin)


@pytest.fixture(scope="module", autouse=True)
def monitors_that_say_what_they_are_told() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("actors.watchers.make_monitor", alarmist)
        yield


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return played(tmp_path_factory.mktemp("replaying") / "run", alarmed(containment={}))


@pytest.fixture(scope="module")
def without_origin(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return replay(run.folder, 2, [muted(ORIGIN)], tmp_path_factory.mktemp("without") / "replay")


def said(run: Run, agent: str, days: range) -> int:
    """To other agents; the exchange is the market."""
    condition = "sender = ? AND recipient != 'exchange' AND type != 'withheld'"
    return run.count("messages", condition, (agent,), days=days)


def test_without_its_origin_a_rumour_does_no_harm(without_origin: Comparison) -> None:
    assert without_origin.harm is not None
    for figure in ("wrong_hours", "infected_agents", "infected_messages"):
        run, replayed = without_origin.harm[figure]
        assert run > 0
        assert replayed == 0


def test_an_agent_that_is_muted_says_nothing_from_the_day_on_and_trades_on(
    run: Run, without_origin: Comparison
) -> None:
    again = Run(without_origin.replay)
    assert said(again, ORIGIN, range(2)) == said(run, ORIGIN, range(2)) > 0
    assert said(again, ORIGIN, range(2, 5)) == 0
    commands = again.count(
        "messages", "sender = ? AND recipient = 'exchange'", (ORIGIN,), days=range(2, 5)
    )
    assert commands > 0


def test_the_days_before_are_the_run_s_own(run: Run, without_origin: Comparison) -> None:
    again = Run(without_origin.replay)
    assert [m.log_sha256 for m in again.marks()[:2]] == [m.log_sha256 for m in run.marks()[:2]]
    assert without_origin.parting.day == 2
    assert without_origin.last_day == 4


def test_monitors_and_containment_are_there_in_a_replay_too(without_origin: Comparison) -> None:
    assert without_origin.events["alert"] == (1, 1)
    assert without_origin.events["measure"][1] > 0


def test_what_measures_withhold_is_counted_apart_from_what_the_replay_withholds(
    run: Run, without_origin: Comparison
) -> None:
    again = Run(without_origin.replay)
    measures = {json.loads(row[7])["measure"] for row in run.rows("events", "kind = 'measure'")}
    counted = without_origin.events
    for place, one in enumerate((run, again)):
        by = Counter(
            json.loads(row[7])["measure"]
            for row in one.rows("events", "kind = 'withheld'", days=range(2, 5))
        )
        assert counted["withheld"][place] == by.total()
        assert counted["withheld_by_measures"][place] == sum(by[name] for name in measures)
        assert counted["withheld_by_interventions"][place] == by["mute"]
    assert counted["withheld_by_interventions"][0] == 0 < counted["withheld_by_interventions"][1]


def test_a_replay_knows_its_parent_and_what_was_changed(
    run: Run, without_origin: Comparison
) -> None:
    again = Run(without_origin.replay)
    parent = again.manifest.parent
    assert parent is not None and (parent.run, parent.day) == (run.manifest.id, 1)
    assert config_of(again).interventions == [muted(ORIGIN)]


def test_a_replay_from_day_0_is_a_run_of_its_own(run: Run, tmp_path: Path) -> None:
    found = replay(run.folder, 0, [muted(OTHERS[0], begin=0)], tmp_path / "replay", days=2)
    again = Run(found.replay)
    assert again.manifest.parent is None
    assert (found.day, found.last_day, again.day) == (0, 1, 1)
    assert said(again, OTHERS[0], range(2)) == 0


def test_a_cut_concerns_two_agents_in_one_direction(run: Run, tmp_path: Path) -> None:
    pairs = {
        (row[2], row[4]) for row in run.rows("messages", "type = 'market_note'", days=range(2, 3))
    }
    one, other = min((a, b) for a, b in pairs if (b, a) in pairs)
    cut = InterventionConfig(kind="cut", agent=one, recipient=other, begin=2 * DAY)
    again = Run(replay(run.folder, 2, [cut], tmp_path / "replay", days=1).replay)
    between = "sender = ? AND recipient = ?"
    assert again.count("messages", between, (one, other), days=range(2, 3)) == 0
    assert again.count("messages", between, (other, one), days=range(2, 3)) > 0
    assert said(again, one, range(2, 3)) > 0


def test_a_message_that_is_dropped_is_not_in_the_log(run: Run, tmp_path: Path) -> None:
    row = next(run.rows("messages", "type = 'market_note'", days=range(3, 4)))
    drop = InterventionConfig(kind="drop", drop=f"{row[2]}#{row[3]}")
    again = Run(replay(run.folder, 3, [drop], tmp_path / "replay", days=1).replay)
    assert again.count("messages", "sender = ? AND number = ?", (row[2], row[3])) == 0
    [withheld] = again.rows("events", "kind = 'withheld' AND body LIKE '%\"drop\"%'")
    assert drop.drop is not None and drop.drop in withheld[7]


def test_a_replay_is_the_same_to_the_byte_each_time(
    run: Run, without_origin: Comparison, tmp_path: Path
) -> None:
    found = replay(run.folder, 2, [muted(ORIGIN)], tmp_path / "replay")
    assert Run(found.replay).log_sha256 == Run(without_origin.replay).log_sha256


def test_a_replay_of_a_part_can_be_resumed_to_the_end(
    run: Run, without_origin: Comparison, tmp_path: Path
) -> None:
    from actors.league import League

    found = replay(run.folder, 2, [muted(ORIGIN)], tmp_path / "replay", days=1)
    assert Run(found.replay).state == "resumable"
    with League.resume(found.replay) as league:
        assert league.run().log_sha256 == Run(without_origin.replay).log_sha256


def test_without_monitors_and_containment_the_days_before_stay_and_measures_are_gone(
    run: Run, tmp_path: Path
) -> None:
    bare = counterfactual(config_of(run), (), watched=False)
    assert not Cast(bare).monitors and not Cast(bare).containment
    again = play_again(run, bare, 3, tmp_path / "replay", traced=False)
    assert run.count("events", "kind = 'withheld'", days=range(3, 5)) > 0
    assert again.count("events", "kind IN ('withheld', 'signals')", days=range(3, 5)) == 0
    assert again.marks()[2].log_sha256 == run.marks()[2].log_sha256


def test_interventions_add_up_when_a_replay_is_replayed(
    without_origin: Comparison, tmp_path: Path
) -> None:
    found = replay(without_origin.replay, 3, [muted(OTHERS[0], 3 * DAY)], tmp_path / "replay")
    again = Run(found.replay)
    assert said(again, ORIGIN, range(3, 5)) == said(again, OTHERS[0], range(3, 5)) == 0


@pytest.mark.parametrize(
    ("intervention", "line"),
    [
        (muted("farmr_1"), "--mute: 'farmr_1' is not a known agent (did you mean 'farmer_1'?)"),
        (muted("exchange"), "--mute: exchange is the market itself"),
        (
            InterventionConfig(kind="cut", agent=ORIGIN, recipient="exchange"),
            "--cut: exchange is the market itself",
        ),
        (
            InterventionConfig(kind="drop", drop="farmer_1#99999"),
            "--drop farmer_1#99999: there is no such message in the log of",
        ),
        (
            InterventionConfig(kind="drop", drop="farmer_1#1"),
            "--drop farmer_1#1: was sent on day 0, before the replay begins; allowed: --from 0",
        ),
    ],
)
def test_what_cannot_be_changed_is_refused_before_anything_is_made(
    run: Run, tmp_path: Path, intervention: InterventionConfig, line: str
) -> None:
    with pytest.raises(HanseError) as refusal:
        replay(run.folder, 2, [intervention], tmp_path / "replay")
    assert str(refusal.value).startswith(line)
    assert not (tmp_path / "replay").exists()


def test_a_command_cannot_be_dropped(run: Run, tmp_path: Path) -> None:
    row = next(run.rows("messages", "recipient = 'exchange'", days=range(2, 3)))
    drop = InterventionConfig(kind="drop", drop=f"{row[2]}#{row[3]}")
    with pytest.raises(HanseError, match="is a command or a turn of the market"):
        replay(run.folder, 2, [drop], tmp_path / "replay")


def test_a_day_that_was_not_played_cannot_be_played_again(run: Run, tmp_path: Path) -> None:
    with pytest.raises(HanseError, match="day 5 cannot be played again: it has days 0 to 4"):
        replay(run.folder, 5, [muted(ORIGIN)], tmp_path / "replay")


def test_nothing_to_change_is_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(HanseError, match="there is nothing to change"):
        replay(run.folder, 2, [], tmp_path / "replay")

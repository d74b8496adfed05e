"""What a host keeps on its machine's disk: at once, bounded, and void when its epoch has ended."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from pathlib import Path

import msgpack
import pytest

from actors import spool
from actors.guard import JournalRow
from actors.spool import (
    ANSWERS_DROPPED,
    LOG_DROPPED,
    Epoch,
    Spool,
    Spooled,
    adopted,
    away,
    collect,
    merged,
)
from tests.actors.scene import ODD, TIMEOUT, scene

DAY = 1440
TOKENS = ["0123456789abcdef", "fedcba9876543210"]


def row(minute: int, message: str = "exchange-1", agent: str = "a", what: str = "x") -> JournalRow:
    state = b64encode(msgpack.packb(what)).decode()
    body = {"message": message, "sent": [], "recorded": [], "wakes": [], "state": state}
    return minute, 0, agent, "answer", json.dumps(body)


def begun(
    folder: Path, host: str = "host-0", number: int = 0, token: str = "", ended: str = ""
) -> Spool:
    made = Spool(folder, host)
    made.begin(Epoch(number, 0, token, (ended,) if ended else ()))
    return made


def adopted_of(answers: list[JournalRow], journal: list[JournalRow]) -> list[JournalRow]:
    return adopted(answers, journal, range(DAY, 3 * DAY), ["a"])


def test_an_answer_is_on_the_disk_before_it_is_used(tmp_path: Path) -> None:
    kept = begun(tmp_path)
    kept.answer(row(5))
    assert collect(tmp_path, Epoch(0, 0)).answers == [row(5)]


def test_nothing_is_written_where_there_is_nothing_to_keep(tmp_path: Path) -> None:
    kept = begun(tmp_path / "spool")
    assert kept.end_day(0, -1) == []
    assert not (tmp_path / "spool").exists()


def test_the_days_log_is_handed_over_once_and_removed_when_the_league_has_it(
    tmp_path: Path,
) -> None:
    kept = begun(tmp_path)
    kept.log("one")
    kept.answer(row(5))
    kept.log("two")
    assert kept.end_day(0, safe=-1) == ["one", "two"]
    assert collect(tmp_path, Epoch(0, 0)).log == ["one", "two"], "until it is safe"
    kept.log("three")
    assert kept.end_day(1, safe=0) == ["three"]
    assert collect(tmp_path, Epoch(0, 0)) == Spooled([], ["three"])
    assert kept.end_day(2, safe=1) == []
    assert list(tmp_path.iterdir()) == []


def test_the_log_of_a_day_that_is_whole_is_not_taken_again(tmp_path: Path) -> None:
    kept = begun(tmp_path)
    kept.log("day 0")
    kept.end_day(0, safe=-1)
    kept.log("day 1")
    assert collect(tmp_path, Epoch(0, 1)).log == ["day 1"]


def test_what_is_logged_before_the_play_begins_is_kept_too(tmp_path: Path) -> None:
    kept = Spool(tmp_path, "host-0")
    kept.log("made")
    kept.begin(Epoch(3, 7))
    assert collect(tmp_path, Epoch(3, 7)).log == ["made"]


def test_all_hosts_of_a_machine_are_heard(tmp_path: Path) -> None:
    begun(tmp_path, "farmer-A").answer(row(5, agent="a"))
    begun(tmp_path, "farmer-B").answer(row(5, agent="b"))
    assert {agent for _, _, agent, _, _ in collect(tmp_path, Epoch(0, 0)).answers} == {"a", "b"}


def test_a_host_that_was_replaced_is_not_heard_any_more(tmp_path: Path) -> None:
    cut_off = begun(tmp_path, "host-1", number=2)
    cut_off.answer(row(5))
    begun(tmp_path, "host-0", number=3).answer(row(6))
    cut_off.answer(row(7))
    assert collect(tmp_path, Epoch(3, 0)).answers == [row(6)]


def test_an_epoch_that_begins_removes_what_is_there_of_earlier_ones(tmp_path: Path) -> None:
    first, second = TOKENS
    cut_off = begun(tmp_path, "host-1", 2, first)
    cut_off.answer(row(5))
    begun(tmp_path, "host-0", 3, second, ended=first)
    assert not tmp_path.exists() or not list(tmp_path.iterdir())
    cut_off.answer(row(6))  # into a file that is no more: it harms nobody
    assert collect(tmp_path, Epoch(2, 0, first)).answers == []


def test_copies_of_a_run_on_one_machine_do_not_read_or_remove_each_others_spools(
    tmp_path: Path,
) -> None:
    mine, theirs = TOKENS
    original, copy = (begun(tmp_path, "host-1", 1, token) for token in TOKENS)
    original.answer(row(5, what="mine"))
    copy.answer(row(5, what="theirs"))
    assert collect(tmp_path, Epoch(1, 0, theirs)).answers == [row(5, what="theirs")]
    copy.remove()
    assert collect(tmp_path, Epoch(1, 0, mine)).answers == [row(5, what="mine")]
    original.remove()
    assert not tmp_path.exists()


@pytest.mark.parametrize(
    "name",
    ["notes.jsonl", "._0-2-host-0.jsonl", "0-x-host.jsonl", "\N{SUPERSCRIPT TWO}-1-h.jsonl"],
)
def test_a_file_of_another_name_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(json.dumps(["answer", *row(5)]))
    assert collect(tmp_path, Epoch(0, 0)) == Spooled([], [])
    spool.remove_before(tmp_path, 9)
    spool.remove(tmp_path, [""])
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_folder_or_a_link_with_the_name_of_a_spool_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "0-2-h.jsonl").mkdir()
    (tmp_path / "0-3-h.jsonl").symlink_to("/dev/zero")
    assert collect(tmp_path, Epoch(0, 0)) == Spooled([], [])
    spool.remove_before(tmp_path, 9)
    assert len(list(tmp_path.iterdir())) == 2


ODD_LINES = {
    "a number": "5",
    "too short": '["answer", 1]',
    "nothing": "[]",
    "no kind": "[[], 1]",
    "another kind": '["question", "line"]',
    "deep": "[" * 100_000,
    "no JSON": "answer",
    "a dictionary as a line": '["log", {"a": 1}]',
    "two lines in one": json.dumps(["log", "one\ntwo"]),
    "no text that a file takes": '["log", "\\ud800"]',
}


@pytest.mark.parametrize("line", ODD_LINES.values(), ids=ODD_LINES)
def test_a_line_that_no_host_writes_is_counted_and_costs_no_other(
    tmp_path: Path, line: str
) -> None:
    kept = begun(tmp_path)
    kept.answer(row(5))
    [file] = tmp_path.iterdir()
    with file.open("a") as spoiled:
        spoiled.write(f"{line}\n")
    kept.log("after it")
    assert collect(tmp_path, Epoch(0, 0)) == Spooled([row(5)], ["after it"], skipped=1)
    assert kept.end_day(0, safe=-1) == ["after it"]


def test_an_entry_that_was_cut_off_costs_no_other(tmp_path: Path) -> None:
    kept = begun(tmp_path)
    kept.answer(row(5))
    [file] = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-9])
    kept.answer(row(6))
    assert collect(tmp_path, Epoch(0, 0)).answers == [row(6)]


def test_a_full_spool_counts_what_it_drops_and_keeps_room_for_answers(tmp_path: Path) -> None:
    kept = Spool(tmp_path, "host-0", most_bytes=1000)
    kept.begin(Epoch(0, 0))
    for _ in range(30):
        kept.log("x" * 50)
    kept.answer(row(5))
    assert collect(tmp_path, Epoch(0, 0)).answers == [row(5)]
    for minute in range(6, 30):
        kept.answer(row(minute))
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 1000
    dropped = kept.take_dropped()
    assert dropped[LOG_DROPPED] + len(collect(tmp_path, Epoch(0, 0)).log) == 30
    assert dropped[ANSWERS_DROPPED] + len(collect(tmp_path, Epoch(0, 0)).answers) == 25
    assert kept.take_dropped() == {}


def test_a_disk_that_takes_nothing_costs_the_host_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = begun(tmp_path / "file" / "spool")
    kept.answer(row(5))
    kept.log("line")
    assert kept.take_dropped() == {ANSWERS_DROPPED: 1, LOG_DROPPED: 1}


def test_an_answer_is_adopted_unless_the_league_has_one_to_the_same_question() -> None:
    mine, theirs = row(2000, what="mine"), row(2000, what="theirs")
    new, old = row(2001), row(100)
    assert adopted_of([new, theirs, old], [mine]) == [new]
    assert adopted_of([new, new], []) == [new]
    assert adopted_of([row(2000, "exchange-2")], [mine]) == [row(2000, "exchange-2")]


def test_answers_of_nobody_who_plays_or_after_the_end_are_not_adopted() -> None:
    assert adopted_of([row(2000, agent="nobody"), row(3 * DAY)], []) == []


def test_what_is_collected_twice_counts_once_and_nothing_is_lost() -> None:
    before = Spooled([row(5), row(6)], ["one", "one", "gone"], 1)
    grown = Spooled([row(5), row(7)], ["one", "one", "two"], 2)
    both = merged([before, grown])
    assert both.answers == [row(5), row(6), row(7)]
    assert sorted(both.log) == ["gone", "one", "one", "two"]
    assert both.skipped == 2


def test_a_host_gives_a_time_out_to_its_spool_before_it_tells_anybody(tmp_path: Path) -> None:
    import time

    with scene(lambda turn, context: time.sleep(1), turn_timeout=TIMEOUT) as stage:
        seen: list[JournalRow] = []
        stage.host.guard._keep = lambda kept: seen.append(kept)
        stage.turn(540)
        assert [(minute, agent, kind) for minute, _, agent, kind, _ in seen] == [
            (540, ODD, "timeout")
        ]
        assert seen == stage.journal


def test_spools_of_runs_that_nobody_goes_on_with_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for run in ("forgotten", "stopped", "mine"):
        begun(away(run)).answer(row(5))
    for run in ("forgotten", "mine"):
        os.utime(tmp_path / ".hanse" / "spools" / run, (0, 0))
    assert away("mine").is_dir()
    assert {folder.name for folder in away("mine").parent.iterdir()} == {"mine", "stopped"}


def test_a_run_that_is_over_leaves_no_spool(tmp_path: Path) -> None:
    kept = begun(tmp_path / spool.FOLDER)
    kept.answer(row(5))
    kept.remove()
    assert list(tmp_path.iterdir()) == []

"""An operator's order takes effect once, at a minute that the journal keeps, on any layout."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from actors.guard import JournalRow
from actors.league import League, Progress
from actors.orders import ALL, FOLDER, KIND, OPERATOR, Orders, place
from actors.replaying import play_again
from actors.watching import Watching
from services.config import RunConfig
from services.errors import HanseError
from services.runs import Run, RunStore
from services.runs.database import reading
from tests.actors.alarmed import OTHERS, Alarmed, alarmed, alarmist
from tests.actors.ray_session import ray_session

__all__ = ["ray_session"]

LAID, ORDERED = 2, 3
"""The day on which the measures are taken, and that on which an order reaches the league."""


@pytest.fixture(scope="module", autouse=True)
def monitors_that_say_what_they_are_told() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("actors.watchers.make_monitor", alarmist)
        yield


# ---- taking orders -------------------------------------------------------------------------------


def test_an_order_is_taken_once_and_journalled_before_its_file_goes(tmp_path: Path) -> None:
    path = place(tmp_path, "quarantine-1")
    journal: list[JournalRow] = []

    def write(rows: list[JournalRow]) -> None:
        assert path.exists(), "what is not in the journal yet must not be lost"
        journal.extend(rows)

    orders = Orders(tmp_path, write)
    assert orders.take(600) == ["quarantine-1"]
    assert not path.exists()
    assert orders.take(660) == []
    [(minute, round_, agent, kind, body)] = journal
    assert (minute, round_, agent, kind) == (600, 0, OPERATOR, KIND)
    assert json.loads(body) == {"order": path.stem, "lift": "quarantine-1"}


def test_orders_are_taken_in_the_order_in_which_they_were_given(tmp_path: Path) -> None:
    given = [f"quarantine-{number}" for number in range(5)]
    for measure in given:
        place(tmp_path, measure)
    assert Orders(tmp_path, lambda rows: None).take(600) == given


def test_an_order_that_could_not_be_journalled_is_not_lost(tmp_path: Path) -> None:
    def full(rows: list[JournalRow]) -> None:
        raise OSError("disk full")

    path = place(tmp_path, ALL)
    with pytest.raises(OSError):
        Orders(tmp_path, full).take(600)
    assert path.exists()


def test_the_journal_s_orders_are_given_again_at_their_minute_and_files_wait(
    tmp_path: Path,
) -> None:
    rows: list[JournalRow] = [
        (600, 0, OPERATOR, KIND, json.dumps({"order": "a", "lift": "first"})),
        (610, 2, "me", "answer", json.dumps({"message": "x#1"})),
        (720, 0, OPERATOR, KIND, json.dumps({"order": "b", "lift": "second"})),
    ]
    orders = Orders(tmp_path, lambda rows: None)
    assert orders.again(rows) == [rows[1]]
    place(tmp_path, "new")
    taken = {minute: orders.take(minute) for minute in (540, 600, 660, 720, 780)}
    assert taken == {540: [], 600: ["first"], 660: [], 720: ["second"], 780: ["new"]}


def test_a_file_whose_order_is_in_the_journal_is_not_taken_again(tmp_path: Path) -> None:
    journal: list[JournalRow] = []
    path = place(tmp_path, ALL)
    contents = path.read_bytes()
    Orders(tmp_path, journal.extend).take(600)
    path.write_bytes(contents)  # the process had died before it could remove it
    again = Orders(tmp_path, journal.extend)
    again.again(journal)
    assert [again.take(minute) for minute in (600, 660)] == [[ALL], []]
    assert len(journal) == 1


@pytest.mark.parametrize(
    "contents",
    [b"", b"{", b"[]", b'{"lift": 3}', b'{"lift": ""}', b'{"lift": "%s"}' % (b"x" * 9999)],
)
def test_what_is_no_order_is_left_alone(tmp_path: Path, contents: bytes) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "1.json").write_bytes(contents)
    (tmp_path / FOLDER / ".half.json").write_bytes(b'{"lift": "all"}')
    (tmp_path / FOLDER / "note.txt").write_bytes(b'{"lift": "all"}')
    assert Orders(tmp_path, lambda rows: None).take(600) == []
    assert (tmp_path / FOLDER / "1.json").read_bytes() == contents


# ---- in a league ---------------------------------------------------------------------------------


def contained(**changes: Any) -> RunConfig:
    return alarmed(containment={"hours": 48}, **changes)


def ordering(folder: Path, measure: str = ALL) -> Any:
    """Orders, before the first hour of the day, that measures end."""

    def on_day(done: Progress) -> None:
        if done.day == ORDERED - 1:
            place(folder, measure)

    return on_day


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("ordered") / "run"
    with League.create(contained(), folder) as league:
        league.run(on_day=ordering(folder))
    return Run(folder)


def facts(run: Run, kind: str) -> list[tuple[int, str, dict[str, Any]]]:
    return [(row[0], row[2], json.loads(row[7])) for row in run.rows("events", "kind = ?", (kind,))]


def journal(run: Run) -> list[JournalRow]:
    with reading(run.database) as connection:
        return connection.execute("SELECT * FROM journal ORDER BY rowid").fetchall()


def test_measures_end_an_hour_after_the_league_has_taken_the_order(run: Run) -> None:
    [(taken, agent, body)] = facts(run, "order")
    assert (taken // 1440, agent, body) == (ORDERED, OPERATOR, {"lift": ALL})
    over = facts(run, "measure_over")
    assert {minute // 60 for minute, _, _ in over} == {taken // 60 + 1}
    assert {body["how"] for _, _, body in over} == {"lifted"}
    assert len(over) == len(facts(run, "measure")) == 3


def test_who_is_free_again_is_heard_again(run: Run) -> None:
    def notes(day: int) -> int:
        condition = "sender = ? AND type = 'market_note'"
        return run.count("messages", condition, (OTHERS[0],), days=range(day, day + 1))

    assert notes(LAID - 1) > 0
    assert notes(ORDERED) > 0
    withheld = [row[0] for row in run.rows("events", "kind = 'withheld'")]
    assert max(withheld) <= facts(run, "measure_over")[0][0] < ORDERED * 1440 + 11 * 60


def test_an_order_is_a_message_with_a_trace_like_any_other(run: Run) -> None:
    [row] = run.rows("messages", "type = 'lift_request'")
    [(taken, _, _)] = facts(run, "order")
    assert (row[0], row[2], row[4]) == (taken, OPERATOR, "containment")
    assert json.loads(row[10]) == {"measure": ALL}
    assert run.result is not None and run.result.spans == run.result.spans_expected > 0


def test_one_measure_can_be_lifted_and_an_unknown_one_does_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / "run"

    def on_day(done: Progress) -> None:
        ordering(folder, "quarantine-2")(done)
        ordering(folder, "quarantine-99")(done)

    with League.create(contained(days=4), folder) as league:
        league.run(on_day=on_day)
    over = facts(Run(folder), "measure_over")
    assert [body["measure"] for _, _, body in over] == ["quarantine-2"]
    assert Run(folder).state == "finished"


@pytest.mark.parametrize("hosts", [2, 3])
def test_the_journal_gives_the_same_log_on_any_number_of_hosts(
    run: Run, tmp_path: Path, hosts: int
) -> None:
    assert again(run, tmp_path / "run", "inline", hosts) == run.log_sha256


@pytest.mark.parametrize("placement", ["one", "packed"])
def test_the_journal_gives_the_same_log_on_ray(
    ray_session: None, run: Run, tmp_path: Path, placement: str
) -> None:
    assert again(run, tmp_path / "run", placement, 2) == run.log_sha256


def again(run: Run, folder: Path, placement: str, hosts: int) -> str:
    """The digest of the run played with the journal in place of the operator."""
    with League.create(contained(), folder, cast=Alarmed) as league:
        league.run(until_day=LAID)
    with closing(RunStore.open(folder)) as store:
        store.journal(journal(run))
    with League.resume(folder, placement=placement, hosts=hosts, cast=Alarmed) as league:
        return league.run().log_sha256


@pytest.mark.parametrize("turns", [1, 2, 5])
def test_a_crash_after_the_order_leads_to_the_same_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    folder = tmp_path / "run"
    show, left = Watching.show, iter(range(turns))

    def dying(self: Watching, minute: int) -> None:
        show(self, minute)
        if minute // 1440 == ORDERED and next(left, None) is None:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Watching, "show", dying)
        with League.create(contained(), folder) as league, pytest.raises(KeyboardInterrupt):
            league.run(on_day=ordering(folder))
    assert Run(folder).day == ORDERED - 1
    assert list((folder / FOLDER).iterdir()) == [], "the order is in the journal only"
    with League.resume(folder) as league:
        assert league.run().log_sha256 == run.log_sha256


def test_a_replay_repeats_the_orders_of_its_run(run: Run, tmp_path: Path) -> None:
    for day in (0, LAID, ORDERED):
        played = play_again(run, contained(), day, tmp_path / f"from-{day}")
        assert played.log_sha256 == run.log_sha256


def test_without_containment_there_is_no_operator(tmp_path: Path) -> None:
    from actors.cast import Cast

    assert OPERATOR in Cast(contained()).names
    assert OPERATOR not in Cast(alarmed()).names
    with pytest.raises(HanseError, match=r"containment: nobody raises alerts .*\[monitor\]"):
        contained(monitor=None)

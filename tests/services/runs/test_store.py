"""Writing a run: whole days, in one transaction each."""

import platform
import sqlite3
from pathlib import Path

import pytest

from services.runs import Run, RunStore, checkpoint
from tests.services.runs.samples import manifest, play, result, rows_of, state_of, written


def test_a_day_comes_back_as_it_was_written_in_the_order_of_its_keys(tmp_path: Path) -> None:
    rows = rows_of(0, messages=150)
    with RunStore.create(tmp_path / "run", manifest()) as store:
        store.append(**{kind: those[::-1] for kind, those in rows.items()})
        mark = store.end_day(0, state_of(0))
    run = Run(tmp_path / "run")
    for kind, those in rows.items():
        assert list(run.rows(kind)) == sorted(those, key=lambda row: row[:4])
    assert mark[4:] == (150, 150, 150, 2)


def test_what_was_appended_is_not_in_the_folder_before_the_day_ends(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        store.append(**rows_of(0))
        assert Run(tmp_path / "run").count("messages") == 0
        assert Run(tmp_path / "run").day is None


def test_a_discarded_day_leaves_nothing_behind(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        store.append(**rows_of(0, messages=9))
        store.discard_day()
        play(store, range(1))
    assert Run(tmp_path / "run").marks() == Run(written(tmp_path / "other", days=1)).marks()


def test_every_day_has_a_checkpoint_with_its_state_and_the_messages_so_far(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        assert store.checkpoint() is None
        play(store, range(3))
        last, first = store.checkpoint(), store.checkpoint(0)
        assert store.checkpoint(3) is None
    assert last is not None and first is not None
    assert (last.day, last.state, last.messages) == (2, b"the league after day 2", 12)
    assert (first.day, first.state, first.messages) == (0, b"the league after day 0", 4)
    assert last.log_sha256 == Run(tmp_path / "run").log_sha256


SELL, WAIT = '{"command": "sell"}', '{"command": "wait"}'


def test_answers_in_the_journal_are_kept_at_once_and_in_order(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path / "run", manifest())
    store.journal([(3, 0, "farmer_A", "human", SELL), (3, 0, "farmer_A", "human", WAIT)])
    store.journal([(1500, 1, "roaster_A", "timeout", "{}")])
    store._connection.close()  # as if the process had died in the middle of the day
    del store
    with RunStore.open(tmp_path / "run") as store:
        assert store.journal_since(0) == [
            (3, 0, "farmer_A", "human", SELL),
            (3, 0, "farmer_A", "human", WAIT),
            (1500, 1, "roaster_A", "timeout", "{}"),
        ]
        assert store.journal_since(4) == [(1500, 1, "roaster_A", "timeout", "{}")]


def test_a_run_is_running_then_resumable_then_finished(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path / "run", manifest())
    run = Run(tmp_path / "run")
    states: list[str] = [run.state]
    store.interrupt()
    store.close()
    states.append(run.state)
    assert run.result is None
    with RunStore.open(tmp_path / "run") as store:
        play(store, range(5))
        store.finish(result())
    states.append(run.state)
    assert states == ["running", "resumable", "finished"]
    assert run.result == result().model_copy(update={"run": str(tmp_path / "run")})


def test_a_result_may_be_given_as_plain_values(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        store.finish(result().model_dump())
    found = Run(tmp_path / "run").result
    assert found is not None and found.firms == result().firms


def test_opening_a_finished_run_leaves_it_finished(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        play(store, range(5))
        store.finish(result())
    with RunStore.open(tmp_path / "run") as store:
        assert store.day == 4
    assert Run(tmp_path / "run").state == "finished"


def test_rows_of_days_that_were_never_completed_are_dropped_on_opening(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", days=2)
    with sqlite3.connect(folder / "run.db") as connection:
        connection.execute(
            "INSERT INTO events VALUES (2880, 0, 'exchange', 0, NULL, 'k', '', '{}')"
        )
        connection.execute("INSERT INTO metrics VALUES (2, 'farmer_A', '{}')")
    connection.close()
    with RunStore.open(folder):
        pass
    assert Run(folder).verify()
    assert Run(folder).count("metrics", "day = 2") == 0


def test_a_row_of_another_day_is_refused_and_the_day_can_be_mended(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        for stray in (-1, 1440):
            store.append(**rows_of(0))
            store.append(events=[(stray, 0, "exchange", 9, None, "action", "", "{}")])
            with pytest.raises(ValueError, match=f"minute {stray} is not of day 0"):
                store.end_day(0, b"")
            store.discard_day()
        play(store, range(2))
    assert Run(tmp_path / "run").marks() == Run(written(tmp_path / "other", days=2)).marks()


SAME_KEY: list[tuple[str, dict[int, object], str]] = [
    ("messages", {}, "sender farmer_A, number 4"),
    ("messages", {0: 1441, 10: "{}"}, "sender farmer_A, number 4"),
    ("events", {}, "minute 1440, round 0, agent exchange, ordinal 4"),
    ("events", {4: "farmer_A#4"}, "minute 1440, round 0, agent exchange, ordinal 4"),
    ("ledger", {7: 1}, "minute 1440, round 0, agent exchange, ordinal 4"),
    ("metrics", {2: "{}"}, "day 1, agent farmer_A"),
]


@pytest.mark.parametrize(("table", "changes", "named"), SAME_KEY)
def test_two_rows_with_one_key_are_refused_and_nothing_of_the_day_is_written(
    tmp_path: Path, table: str, changes: dict[int, object], named: str
) -> None:
    twin = [changes.get(place, value) for place, value in enumerate(rows_of(1)[table][0])]
    with RunStore.create(tmp_path / "run", manifest()) as store:
        play(store, range(1))
        store.append(**rows_of(1))
        store.append(**{table: [tuple(twin)]})
        with pytest.raises(ValueError, match=f"there are two rows of {table} with {named}$"):
            store.end_day(1, b"")
        assert (store.day, Run(tmp_path / "run").count("messages")) == (0, 4)
        store.discard_day()
        play(store, range(1, 2))
    assert Run(tmp_path / "run").marks() == Run(written(tmp_path / "other", days=2)).marks()


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ((1440, 0, "exchange", 9, None, "action", ""), "has 7 values, not 8"),
        ((1440, 0, "exchange", 9, None, None, "", "{}"), "NOT NULL constraint failed: events.kind"),
        ((1440, 0, "exchange", 9, "", "action", "", "{}"), "events: cause is an empty text"),
    ],
)
def test_a_row_of_another_shape_is_refused_and_nothing_of_the_day_is_written(
    tmp_path: Path, row: tuple[object, ...], complaint: str
) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        play(store, range(1))
        store.append(**rows_of(1))
        store.append(events=[row])
        with pytest.raises(ValueError, match=complaint):
            store.end_day(1, b"")
        assert (store.day, Run(tmp_path / "run").count("messages")) == (0, 4)


def test_a_day_cannot_end_twice(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        play(store, range(2))
        with pytest.raises(ValueError, match="day 1 cannot end after day 1"):
            store.end_day(1, b"")


def test_an_interrupt_while_a_day_is_written_loses_the_day_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with RunStore.create(tmp_path / "run", manifest()) as store:
        play(store, range(2))
        with monkeypatch.context() as patch:
            patch.setattr(checkpoint, "write", interrupted)
            store.append(**rows_of(2))
            with pytest.raises(KeyboardInterrupt):
                store.end_day(2, b"")
        store.interrupt()
    assert (Run(tmp_path / "run").day, Run(tmp_path / "run").state) == (1, "resumable")
    assert Run(tmp_path / "run").verify()


def test_the_folder_holds_a_manifest_and_one_file_in_wal_mode(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "run.db"]
    connection = sqlite3.connect(folder / "run.db")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_run_may_be_made_in_an_empty_folder_that_exists(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    assert Run(written(tmp_path / "run")).verify()


def test_the_manifest_says_what_the_run_was_made_of(tmp_path: Path) -> None:
    found = Run(written(tmp_path / "run")).manifest
    assert (found.format, found.name, found.seed, found.days) == (2, "coffee", 7, 5)
    assert found.versions["python"] == platform.python_version()
    assert found.versions.keys() >= {"pydantic", "ray"}
    assert found.config["economy"] == {"market_cap": 130}
    assert found.parent is None


def test_closing_a_store_twice_does_no_harm(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path / "run", manifest())
    store.close()
    store.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        store.end_day(0, b"")


def test_timings_and_spans_of_a_day_are_kept_beside_its_log(tmp_path: Path) -> None:
    span = (2, "", "00f067aa0ba902b7", "4bf92f3577b34da6a3ce929d0e0e4736", None, "checkpoint")
    about = ("INTERNAL", 1_000, 2_000, 2880, "OK", "{}")
    with RunStore.create(tmp_path / "run", manifest()) as store:
        play(store, range(2))
        before = Run(tmp_path / "run").log_sha256
        store.append(timings=[(2, "host-1", b"\x01"), (2, "host-0", b"\x00")], spans=[span + about])
        store.end_day(2, b"")
    run = Run(tmp_path / "run")
    assert list(run.rows("timings")) == [(2, "host-0", b"\x00"), (2, "host-1", b"\x01")]
    assert list(run.rows("spans", "agent = ''")) == [span + about]
    with RunStore.create(tmp_path / "bare", manifest()) as store:
        play(store, range(2))
        store.end_day(2, b"")
    assert before != run.log_sha256 == Run(tmp_path / "bare").log_sha256

"""Reading a run, also while it is written."""

import os
import sys
from pathlib import Path

import pytest

from services.errors import HanseError
from services.runs import Run, RunStore, checkpoint, database
from services.runs.schema import MESSAGES
from tests.services.runs.samples import manifest, play, rows_of, written


def test_rows_can_be_chosen_by_a_condition(tmp_path: Path) -> None:
    run = Run(written(tmp_path / "run"))
    second_day = run.rows("messages", "minute >= ? AND minute < ?", (1440, 2880))
    assert list(second_day) == rows_of(1)["messages"]
    assert run.count("messages") == 12
    assert run.count("messages", "in_reply_to IS NOT NULL") == 6


def test_rows_of_some_days_are_found_without_reading_the_others(tmp_path: Path) -> None:
    run = Run(written(tmp_path / "run", days=5, messages=150))
    for table in ("messages", "events", "ledger", "metrics"):
        wanted = [row for day in (1, 2) for row in rows_of(day, 150)[table]]
        assert sorted(run.rows(table, days=range(1, 3))) == sorted(wanted)
        assert run.count(table, days=range(1, 3)) == len(wanted)
        assert not list(run.rows(table, days=range(5, 9)))
        assert run.count(table, days=range(-1, 99)) == run.count(table, days=range(5))
    with database.reading(run.database) as connection:
        found = checkpoint.condition(connection, MESSAGES, range(1, 3))
        plan = connection.execute(f"EXPLAIN QUERY PLAN SELECT * FROM messages WHERE {found}")
        assert found == "rowid > 150 AND rowid <= 450"
        assert "USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)" in plan.fetchone()[3]


def test_days_and_a_condition_go_together(tmp_path: Path) -> None:
    run = Run(written(tmp_path / "run"))
    found = run.rows("messages", "number = ? OR number = ?", (0, 5), days=range(1, 2))
    assert [row[3] for row in found] == [5]
    assert run.count("metrics", "agent = ?", ("farmer_A",), days=range(2)) == 2


def test_days_that_do_not_follow_each_other_are_refused(tmp_path: Path) -> None:
    run = Run(written(tmp_path / "run"))
    with pytest.raises(ValueError, match="days that follow each other"):
        run.count("messages", days=range(0, 3, 2))


def test_a_missing_reply_cause_or_trace_is_read_as_none(tmp_path: Path) -> None:
    first, second, *_ = Run(written(tmp_path / "run")).rows("messages")
    assert first[7:10] == (None, "exchange#0", None)
    assert second[7:10] == ("roaster_A#1", None, None)
    causes = [row[4] for row in Run(tmp_path / "run").rows("events", days=range(1))]
    assert causes == [None, "farmer_A#1", None, "farmer_A#3"]


def test_a_reader_sees_whole_days_while_the_writer_goes_on(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        run = Run(tmp_path / "run")
        play(store, range(1))
        lines = run.log_lines()
        begun = [next(lines)]
        play(store, range(1, 3))
        assert len(begun + list(lines)) == 12  # day 0, as it was when reading began
        assert (run.day, len(list(run.log_lines()))) == (2, 36)


def test_an_open_reader_does_not_hold_the_writer_up(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        play(store, range(1))
        rows = Run(tmp_path / "run").rows("messages")
        next(rows)
        play(store, range(1, 30), messages=200)
        assert store.day == 29


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts handles in /proc")
def test_neither_reader_nor_writer_leaves_a_handle_or_file_behind(tmp_path: Path) -> None:
    def handles() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = handles()
    folder = written(tmp_path / "run")
    run = Run(folder)
    assert run.verify() and run.state == "resumable" and run.count("events") == 12
    half_read = run.rows("messages")
    next(half_read)
    half_read.close()  # type: ignore[attr-defined]
    assert handles() == before
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "run.db"]


def test_the_ledger_is_a_frame_with_days_and_dollars(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    frame = Run(written(tmp_path / "run")).ledger()
    assert frame.columns.tolist() == [
        "day", "minute", "round", "agent", "ordinal",
        "firm", "debit", "credit", "micros", "reference", "amount",
    ]  # fmt: skip
    last = frame.iloc[-1]
    assert (last.day, last.firm, last.micros, last.amount) == (2, "farmer_A", 2_500_011, 2.500011)


def test_the_actions_are_a_frame_with_their_arguments(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    frame = Run(written(tmp_path / "run")).actions()
    assert len(frame) == 12
    fourth = frame.iloc[3]
    assert (fourth.day, fourth.minute, fourth.firm, fourth.exchange) == (
        0, 1, "farmer_A", "exchange"
    )  # fmt: skip
    assert (fourth.tool, fourth["args"], fourth.status, fourth.new_id) == (
        "send_message", {"to": "roaster_A"}, "success", "M3"
    )  # fmt: skip


def test_the_metrics_are_a_frame_with_a_column_for_each_item(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    frame = Run(written(tmp_path / "run")).metrics()
    assert frame.columns.tolist() == ["day", "firm", "role", "cash", "stock.green_A"]
    assert frame.iloc[-1].tolist() == [2, "roaster_A", "farmer", 998.5, 20]


def test_frames_of_an_empty_run_have_their_columns(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    run = Run(written(tmp_path / "run", days=0))
    assert (len(run.messages()), len(run.deals()), len(run.metrics())) == (0, 0, 0)
    assert {"day", "seller", "buyer", "item", "qty", "unit_price"} <= set(run.deals().columns)
    assert {"day", "sender", "recipient", "body"} <= set(run.messages().columns)


def test_without_pandas_a_frame_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(HanseError, match=r"pip install 'hanse\[data\]'"):
        Run(written(tmp_path / "run")).ledger()

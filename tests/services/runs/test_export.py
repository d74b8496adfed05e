"""A run in the formats of other programs."""

import csv
import hashlib
import sys
from pathlib import Path

import pytest

from services.errors import HanseError
from services.runs import Run, RunStore, export
from tests.services.runs.samples import manifest, play, written


def test_csv_has_a_file_for_each_table_with_every_row(tmp_path: Path) -> None:
    run = Run(written(tmp_path / "run"))
    files = export(run.folder, tmp_path / "csv", "csv")
    assert [file.name for file in files] == [
        "messages.csv", "events.csv", "ledger.csv", "metrics.csv"
    ]  # fmt: skip
    for file in files:
        with file.open(encoding="utf-8", newline="") as opened:
            head, *rows = csv.reader(opened)
        expected = [
            ["" if value is None else str(value) for value in row] for row in run.rows(file.stem)
        ]
        assert rows == expected
        assert len(head) == len(rows[0])


def test_csv_needs_no_pandas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "run")
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert len(export(folder, tmp_path / "csv", "csv")) == 4


def test_parquet_keeps_whole_numbers_text_and_what_is_missing(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    run = Run(written(tmp_path / "run"))
    for file in export(run.folder, tmp_path / "parquet", "parquet"):
        table = parquet.read_table(file)
        assert list(zip(*table.to_pydict().values(), strict=True)) == list(run.rows(file.stem))
    assert (
        str(parquet.read_table(tmp_path / "parquet" / "ledger.parquet")["micros"].type) == "int64"
    )


def test_parquet_is_written_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("services.runs.exporting._BATCH", 5)
    run = Run(written(tmp_path / "run"))
    export(run.folder, tmp_path / "parquet", "parquet")
    file = parquet.ParquetFile(tmp_path / "parquet" / "messages.parquet")
    assert (file.metadata.num_rows, file.metadata.num_row_groups) == (12, 3)


def test_the_log_is_byte_for_byte_what_was_hashed(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        sizes = []
        for day in range(2):
            play(store, range(day, day + 1))
            sizes.append(sum(len(line.encode()) for line in Run(tmp_path / "run").log_lines()))
    [file] = export(tmp_path / "run", tmp_path / "log", "log")
    log = file.read_bytes()
    first = hashlib.sha256(log[: sizes[0]]).hexdigest()
    second = hashlib.sha256(first.encode() + log[sizes[0] :]).hexdigest()
    assert [first, second] == [mark.log_sha256 for mark in Run(tmp_path / "run").marks()]


def test_an_empty_run_exports_files_with_columns_only(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", days=0)
    messages = export(folder, tmp_path / "csv", "csv")[0].read_text()
    assert messages == (
        "minute,round,sender,number,recipient,channel,type,in_reply_to,trace,body\n"
    )
    assert export(folder, tmp_path / "log", "log")[0].read_text() == ""


def test_a_run_can_be_exported_while_it_is_written(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        play(store, range(2))
        export(tmp_path / "run", tmp_path / "csv", "csv")
        play(store, range(2, 3))


def test_no_existing_file_is_replaced(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    (tmp_path / "events.csv").write_text("mine")
    with pytest.raises(HanseError, match=r"events\.csv: exists already; delete it or choose"):
        export(folder, tmp_path, "csv")
    assert (tmp_path / "events.csv").read_text() == "mine"
    assert not (tmp_path / "messages.csv").exists()


def test_an_unknown_format_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(HanseError, match=r"'xlsx'; choose one of: parquet, csv, log"):
        export(written(tmp_path / "run"), tmp_path / "out", "xlsx")  # type: ignore[arg-type]


def test_without_pyarrow_parquet_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path / "run")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(HanseError, match=r"pip install 'hanse\[data\]'"):
        export(folder, tmp_path / "out", "parquet")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_target_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(HanseError, match="out: cannot be written"):
        export(written(tmp_path / "run"), tmp_path / "out", "csv")
    assert (tmp_path / "out").read_text() == "mine"

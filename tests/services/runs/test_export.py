"""A run in the formats of other programs."""

import csv
import json
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
        "messages.csv", "events.csv", "ledger.csv", "metrics.csv", "spans.csv"
    ]  # fmt: skip
    for file in files:
        with file.open(encoding="utf-8", newline="") as opened:
            head, *rows = csv.reader(opened)
        assert len(rows) == run.count(file.stem)
        assert all(len(head) == len(row) for row in rows)
        if file.stem in ("messages", "events"):
            assert rows == [
                ["" if value is None else str(value) for value in row]
                for row in run.rows(file.stem)
            ]


def table(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def test_the_exported_ledger_has_the_day_and_the_amount_in_dollars(tmp_path: Path) -> None:
    rows = table(export(written(tmp_path / "run"), tmp_path / "csv", "csv")[2])
    assert list(rows[0])[:2] == ["day", "minute"]
    assert (rows[0]["day"], rows[0]["micros"], rows[0]["amount"]) == ("0", "2500000", "2.5")
    assert rows[-1]["day"] == "2"


def test_the_exported_metrics_have_a_column_for_each_figure_and_item(tmp_path: Path) -> None:
    rows = table(export(written(tmp_path / "run"), tmp_path / "csv", "csv")[3])
    assert rows[2] == {
        "day": "1",
        "firm": "farmer_A",
        "role": "farmer",
        "cash": "999.5",
        "stock.green_A": "10",
    }


def test_an_item_that_turns_up_late_has_its_column_beside_the_others(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        for day, stock in enumerate(({"green": 5}, {"green": 4, "roasted": 2.5}, {"green": None})):
            body = json.dumps({"stock": stock, "cash": 1, "bankrupt": False})
            store.append(metrics=[(day, "farmer_A", body)])
            store.end_day(day, b"")
    rows = table(export(tmp_path / "run", tmp_path / "csv", "csv")[3])
    assert list(rows[0]) == ["day", "firm", "stock.green", "stock.roasted", "cash", "bankrupt"]
    assert [row["stock.roasted"] for row in rows] == ["", "2.5", ""]
    parquet = pytest.importorskip("pyarrow.parquet")
    types = parquet.read_table(export(tmp_path / "run", tmp_path / "p", "parquet")[3]).schema
    assert [str(types.field(name).type) for name in list(rows[0])[2:]] == [
        *("int64", "double", "int64", "bool"),
    ]


def test_csv_needs_no_pandas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "run")
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert len(export(folder, tmp_path / "csv", "csv")) == 5


def test_parquet_keeps_whole_numbers_text_and_what_is_missing(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    run = Run(written(tmp_path / "run"))
    for file in export(run.folder, tmp_path / "parquet", "parquet"):
        found = parquet.read_table(file)
        assert found.num_rows == run.count(file.stem)
        if file.stem in ("messages", "events"):
            assert list(zip(*found.to_pydict().values(), strict=True)) == list(run.rows(file.stem))
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


def test_the_log_has_a_line_for_every_message_event_and_entry(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", days=2)
    [file] = export(folder, tmp_path / "log", "log")
    assert file.read_bytes() == "".join(Run(folder).log_lines()).encode()
    assert len(file.read_text(encoding="utf-8").splitlines()) == 2 * 3 * 4


def test_an_empty_run_exports_files_with_columns_only(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", days=0)
    messages = export(folder, tmp_path / "csv", "csv")[0].read_text()
    assert messages == (
        "minute,round,sender,number,recipient,channel,type,in_reply_to,cause,trace,body\n"
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

"""Handing a run to other programs."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from services.errors import HanseError
from services.runs import database
from services.runs.run import Run
from services.runs.schema import EXPORTED
from services.runs.sheets import Sheet, sheet
from services.whole_file import whole

Format = Literal["parquet", "csv", "log"]

LOG_FILE = "log.txt"

_BATCH = 50_000


def export(folder: Path, target: Path, format: Format) -> list[Path]:
    """Writes a run's tables (see `services.runs.sheets`), or its event log, into a folder.

    All files show the same days, also while the run goes on. ``log`` writes them as text, in the
    order in which things happened (see `services.runs.log`).

    Args:
        folder: The run folder.
        target: The folder to write to; made if it is missing. No file in it is replaced.
        format: parquet or csv, one file for each table; or log.

    Returns:
        The files.

    Raises:
        HanseError: The run is damaged, a file exists already, it cannot be written, or what writes
            Parquet is not installed.
    """
    target = Path(target)
    if format not in get_args(Format):
        known = ", ".join(get_args(Format))
        raise HanseError(f"unknown export format {format!r}; choose one of: {known}")
    run = Run(folder)
    names = [LOG_FILE] if format == "log" else [f"{name}.{format}" for name in EXPORTED]
    paths = [target / name for name in names]
    try:
        _check_absent(paths)
        target.mkdir(parents=True, exist_ok=True)
        if format == "log":
            _write_log(paths[0], run)
        else:
            _write_tables(paths, run, _write_parquet if format == "parquet" else _write_csv)
    except OSError as error:
        raise HanseError(
            f"{target}: cannot be written ({error.strerror or error}); free some space, mend its"
            " permissions, or choose another folder"
        ) from error
    return paths


def _check_absent(paths: list[Path]) -> None:
    for path in paths:
        if path.exists():
            raise HanseError(f"{path}: exists already; delete it or choose another folder")


def _write_log(path: Path, run: Run) -> None:
    with whole(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        file.writelines(run.log_lines())


def _write_tables(paths: list[Path], run: Run, write: Callable[[Path, Sheet], None]) -> None:
    """All the tables as they are at one moment, or none."""
    written = []
    try:
        with database.reading(run.database) as connection:
            for table, path in zip(EXPORTED.values(), paths, strict=True):
                write(path, sheet(connection, table))
                written.append(path)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise


def _write_csv(path: Path, sheet: Sheet) -> None:
    with whole(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(sheet.columns)
        writer.writerows(sheet.rows)


def _write_parquet(path: Path, sheet: Sheet) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise HanseError(
            "Parquet needs pyarrow, which is not installed: pip install 'hanse[data]'; or export"
            " to csv"
        ) from error
    types = {
        "whole": pyarrow.int64(),
        "number": pyarrow.float64(),
        "text": pyarrow.string(),
        "truth": pyarrow.bool_(),
    }
    schema = pyarrow.schema(
        pyarrow.field(name, types[column.kind], nullable=column.optional)
        for name, column in sheet.columns.items()
    )
    with whole(path) as partial, parquet.ParquetWriter(partial, schema) as writer:
        for rows in sheet.batches(_BATCH):
            columns = [
                pyarrow.array(values, field.type)
                for field, values in zip(schema, zip(*rows, strict=True), strict=True)
            ]
            writer.write_batch(pyarrow.record_batch(columns, schema=schema))

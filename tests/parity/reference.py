"""Reads a reference world: `meta.json` and its tables, as `.csv` or `.csv.gz`."""

from __future__ import annotations

import csv
import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from services.errors import HanseError
from tests.parity.columns import OPTIONAL, TABLES

Probability = Annotated[float, Field(ge=0, le=1)]
Row = dict[str, str]


class Meta(BaseModel):
    """What a reference world was made with."""

    model_config = ConfigDict(frozen=True)

    seed: int
    days: int = Field(ge=1, le=3660)
    focal: str
    """The strategy of roaster_A."""
    others: str
    """The strategy of the five other firms."""
    start_cash: float = Field(ge=0)
    delivery_loss_prob: Probability
    delivery_delay_prob: Probability
    bankrupt_day: dict[str, int]
    retailer_loyalty: dict[str, float] = {}


@dataclass(frozen=True)
class Reference:
    """A reference world as it was recorded."""

    folder: Path
    meta: Meta
    tables: dict[str, list[Row]]


def read_reference(folder: Path) -> Reference:
    """Reads a folder.

    Raises:
        HanseError: it is no reference world, or a file in it cannot be understood.
    """
    if not folder.is_dir():
        raise HanseError(f"{folder}: there is no such folder; name one that has a meta.json")
    tables = {}
    for name in TABLES:
        path = _table_path(folder, name)
        if path is not None:
            tables[name] = _read_table(path, name)
    return Reference(folder, _read_meta(folder / "meta.json"), tables)


def _read_meta(path: Path) -> Meta:
    try:
        return Meta.model_validate_json(path.read_bytes())
    except OSError as error:
        raise HanseError(f"{path}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "meta.json"
        raise HanseError(f"{path}: {key}: {first['msg']}") from error


def _table_path(folder: Path, name: str) -> Path | None:
    for path in (folder / f"{name}.csv", folder / f"{name}.csv.gz"):
        if path.exists():
            return path
    if name in OPTIONAL:
        return None
    raise HanseError(f"{folder}: has neither {name}.csv nor {name}.csv.gz")


def _read_table(path: Path, name: str) -> list[Row]:
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            rows = [dict(zip(header, row, strict=True)) for row in reader]
    except (OSError, EOFError, UnicodeDecodeError, ValueError, csv.Error, zlib.error) as error:
        raise HanseError(f"{path}: cannot be read as a table: {error}") from error
    columns = TABLES[name]
    for column in columns:
        if column not in header:
            raise HanseError(f"{path}: column {column} is missing")
    for column in header:
        if column not in columns:
            raise HanseError(f"{path}: column {column} is not known; known: {', '.join(columns)}")
    return rows

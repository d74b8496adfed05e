"""Compares a reference world with our course of it, cell by cell."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from services.economy.commands import COMMANDS
from services.errors import HanseError
from tests.parity.columns import TABLES, WHEN_AND_WHO, Kind
from tests.parity.play import Course, drive, is_replayed, replay
from tests.parity.reference import Reference, Row, read_reference
from tests.parity.rows import ROWS

TOLERANCE: Final = 0.005 + 1e-9
"""Dollars; the second part is for the rounding of the difference itself."""


@dataclass(frozen=True)
class Difference:
    """The first cell of a table in which the two worlds differ."""

    day: int
    table: str
    firm: str
    column: str
    expected: Any
    got: Any

    def __str__(self) -> str:
        """One line for the user."""
        return (
            f"differs on day {self.day}, {self.firm}, {self.table}.csv, column {self.column}:"
            f" expected {self.expected!r}, got {self.got!r}"
        )


@dataclass(frozen=True)
class Outcome:
    """How a comparison has ended."""

    cells: int
    difference: Difference | None

    @property
    def equal(self) -> bool:
        """Whether no cell differs."""
        return self.difference is None

    def __str__(self) -> str:
        """One line for the user."""
        return f"equal: {self.cells} cells" if self.equal else str(self.difference)


def check_folder(folder: Path, *, replay: bool = False) -> Outcome:
    """Plays a folder's world and compares all its files.

    Raises:
        HanseError: the folder is no reference world.
    """
    reference = read_reference(folder)
    return compare(reference, play(reference, replay), replayed=replay)


def play(reference: Reference, replayed: bool) -> Course:
    """Our course of the world: by its recorded actions, or by the decisions of its firms."""
    return replay(reference) if replayed else drive(reference)


def compare(reference: Reference, course: Course, *, replayed: bool) -> Outcome:
    """The number of equal cells, or the earliest difference (of one day, in the order of files)."""
    cells = 0
    differences = []
    for name, expected in reference.tables.items():
        columns = dict(TABLES[name])
        if name == "actions" and replayed:
            expected = [row for row in expected if is_replayed(row)]
            del columns["seq"]  # it counts the actions that were left out, too
        ours = list(ROWS[name](course))
        compared, difference = _compare_table(reference, name, columns, expected, ours)
        cells += compared
        if difference is not None:
            differences.append(difference)
    compared, difference = _compare_meta(reference, course)
    cells += compared
    if difference is not None:
        differences.append(difference)
    return Outcome(cells, min(differences, key=lambda d: d.day, default=None))


def _compare_table(
    reference: Reference,
    name: str,
    columns: dict[str, Kind],
    expected: list[Row],
    ours: list[dict[str, Any]],
) -> tuple[int, Difference | None]:
    cells = 0
    for theirs, own in zip_longest(expected, ours):
        if theirs is None or own is None:
            return cells, _missing_row(reference, name, theirs, own)
        for column, kind in columns.items():
            if not _equal(kind, theirs, theirs[column], own[column]):
                when, who = _when_and_who(reference, name, theirs)
                expect = theirs[column] or None
                return cells, Difference(when, name, who, column, expect, own[column])
            cells += 1
    return cells, None


def _equal(kind: Kind, row: Row, expected: str, got: Any) -> bool:
    if expected == "" or got is None:
        return expected == "" and got is None
    try:
        if kind == "text":
            return bool(expected == got)
        if kind == "whole":
            return bool(int(expected) == got)
        if kind == "number":
            return bool(float(expected) == got)
        if kind == "money":
            return bool(abs(float(expected) - got) <= TOLERANCE)
        given = COMMANDS[row["tool"]].model_validate(json.loads(expected)).arguments()
        return bool(given == got)
    except (KeyError, ValueError, ValidationError):
        return False


def _missing_row(
    reference: Reference, name: str, theirs: Row | None, own: dict[str, Any] | None
) -> Difference:
    row = theirs or {k: str(v) for k, v in (own or {}).items()}
    when, who = _when_and_who(reference, name, row)
    first = next(iter(TABLES[name]))
    expected, got = (row[first], None) if own is None else (None, row[first])
    return Difference(when, name, who, f"{first} (a whole row)", expected, got)


def _when_and_who(reference: Reference, name: str, row: Row) -> tuple[int, str]:
    day_column, firm_column = WHEN_AND_WHO[name]
    if day_column is None:
        return reference.meta.days - 1, row[firm_column]
    try:
        return int(row[day_column]), row[firm_column]
    except ValueError as error:
        raise HanseError(
            f"{reference.folder}: {name}: {day_column} {row[day_column]!r} is no whole number"
        ) from error


def _compare_meta(reference: Reference, course: Course) -> tuple[int, Difference | None]:
    """The days of bankruptcy and the shops' hidden loyalty, which ``meta.json`` has."""
    meta, town = reference.meta, course.town
    cells = 0
    for firm in town.firms.values():
        expected = meta.bankrupt_day.get(firm.name)
        if firm.bankrupt_day != expected:
            day = min(d for d in (expected, firm.bankrupt_day) if d is not None)
            return cells, Difference(
                day, "meta", firm.name, "bankrupt_day", expected, firm.bankrupt_day
            )
        cells += 1
    for shop, loyalty in meta.retailer_loyalty.items():
        got = town.demand.luck.loyalty.get(shop)
        if got != loyalty:
            return cells, Difference(0, "meta", shop, "retailer_loyalty", loyalty, got)
        cells += 1
    return cells, None

"""A run's tables as other programs like them: plain columns, dollars beside micro-dollars."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from services.messages import MINUTES_PER_DAY
from services.runs.bodies import body_of
from services.runs.database import Damage
from services.runs.schema import LEDGER, METRICS, Row, Table

Kind = Literal["whole", "number", "text", "truth"]


class Column(NamedTuple):
    """What a column holds."""

    kind: Kind
    optional: bool = True


class Sheet(NamedTuple):
    """Columns by name, and the rows under them."""

    columns: dict[str, Column]
    rows: Iterable[Row]

    def batches(self, size: int) -> Iterator[list[Row]]:
        """The rows, so many at a time."""
        batch: list[Row] = []
        for row in self.rows:
            batch.append(row)
            if len(batch) == size:
                yield batch
                batch = []
        if batch:
            yield batch


def sheet(connection: sqlite3.Connection, table: Table) -> Sheet:
    """A table for export.

    Messages and events are as they are stored. The ledger has the day in front and the amount in
    dollars behind the exact one. The metrics' bodies are taken apart: a column for each figure,
    and for what is kept by item one for each item, such as ``stock.green_coffee_kg``.
    """
    query = f"SELECT {table.column_list} FROM {table.name} ORDER BY {table.order}"
    if table is METRICS:
        return _metrics(connection, query)
    columns = {
        name: Column("whole" if kind.startswith("INTEGER") else "text", "NOT NULL" not in kind)
        for name, kind in table.columns.items()
    }
    rows: Iterable[Row] = connection.execute(query)
    if table is LEDGER:
        place = list(columns).index("micros") + 1
        names = list(columns.items())
        amount = ("amount", Column("number", optional=False))
        day = ("day", Column("whole", optional=False))
        columns = dict([day, *names[:place], amount, *names[place:]])
        rows = (
            (row[0] // MINUTES_PER_DAY, *row[:place], row[place - 1] / 1_000_000, *row[place:])
            for row in rows
        )
    return Sheet(columns, rows)


def flat(body: dict[str, Any]) -> dict[str, Any]:
    """A body with what is kept for each item in a key for each."""
    found: dict[str, Any] = {}
    for key, value in body.items():
        if isinstance(value, dict):
            found.update({f"{key}.{item}": amount for item, amount in value.items()})
        else:
            found[key] = value
    return found


def _metrics(connection: sqlite3.Connection, query: str) -> Sheet:
    # Which items there are is known only at the end: the rows are read twice.
    kinds: dict[str, Kind | None] = {}
    groups: dict[str, None] = {}
    for *_, body in connection.execute(query):
        figures = _figures(body)
        groups.update(dict.fromkeys(figures))
        for key, value in flat(figures).items():
            kinds[key] = _wider(kinds.get(key), value)
    # Beside each other what belongs together, also an item that turned up late.
    order = {group: place for place, group in enumerate(groups)}
    names = sorted(kinds, key=lambda name: order.get(name, order.get(name.partition(".")[0], 0)))
    columns = {
        "day": Column("whole", optional=False),
        "firm": Column("text", optional=False),
        **{name: Column(kinds[name] or "number") for name in names},
    }

    def rows() -> Iterator[Row]:
        for day, firm, body in connection.execute(query):
            figures = flat(_figures(body))
            yield (day, firm, *(_fitting(figures.get(name), columns[name]) for name in names))

    return Sheet(columns, rows())


def _figures(body: str | bytes) -> dict[str, Any]:
    found = body_of(body)
    if found is None:
        raise Damage("metrics: a body is not a JSON object")
    return found


def _wider(known: Kind | None, value: Any) -> Kind | None:
    """The kind of a column that also has to hold this value."""
    if value is None:
        return known
    kinds: dict[type, Kind] = {bool: "truth", int: "whole", float: "number"}
    kind = kinds.get(type(value), "text")
    if known in (None, kind):
        return kind
    return "number" if {known, kind} == {"whole", "number"} else "text"


def _fitting(value: Any, column: Column) -> Any:
    if value is None or column.kind in ("whole", "truth"):
        return value
    if column.kind == "number":
        return float(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

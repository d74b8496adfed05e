"""Where two runs part, why there, and what follows from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from services.runs import Run
from services.runs.bodies import body_of
from services.telemetry.inspection import steps
from services.telemetry.inspection.steps import Chain, Step
from services.telemetry.logged import LoggedEvent, SentMessage
from services.telemetry.reader import TraceReader

_CAUSES = 10
_FIGURES = ("cash", "equity")


class Side(NamedTuple):
    """What one of the runs has where they part."""

    step: Step | None
    """None if it has nothing more on that day."""
    causes: Chain | None

    def document(self) -> dict[str, Any]:
        """The side for ``--json``."""
        return {
            "step": None if self.step is None else self.step.document(),
            "causes": []
            if self.causes is None
            else [step.document() for step in self.causes.steps],
        }


class Gap(NamedTuple):
    """How far a firm's books are apart at the end of a day: the second run less the first."""

    day: int
    firm: str
    cash: float
    equity: float


class Deal(NamedTuple):
    """A deal that only one of the runs has."""

    day: int
    words: str


class Difference(NamedTuple):
    """What `hanse trace RUN diff` has to say."""

    equal: bool
    days: tuple[int, int]
    """Whole days of the two runs."""
    settings: list[tuple[str, Any, Any]]
    """What differs in their configurations: key and both values."""
    day: int | None
    """The day on which they part; None if they are equal as far as both go."""
    first: Side | None
    second: Side | None
    fields: list[tuple[str, Any, Any]]
    """Where both have a row of the same kind there: what differs in it, and both values."""
    gaps: list[Gap]
    """For every firm and day from there on on which the books differ."""
    deals: tuple[list[Deal], list[Deal]]
    messages: dict[str, tuple[int, int]]
    """By type, where the numbers differ, from the day of parting on."""

    def document(self) -> dict[str, Any]:
        """All of it for ``--json``."""
        return {
            "equal": self.equal,
            "days": list(self.days),
            "settings": [
                {"key": key, "first": one, "second": two} for key, one, two in self.settings
            ],
            "day": self.day,
            "first": None if self.first is None else self.first.document(),
            "second": None if self.second is None else self.second.document(),
            "fields": [{"name": n, "first": one, "second": two} for n, one, two in self.fields],
            "books": [gap._asdict() for gap in self.gaps],
            "deals_only_in_first": [deal._asdict() for deal in self.deals[0]],
            "deals_only_in_second": [deal._asdict() for deal in self.deals[1]],
            "messages": {
                kind: {"first": one, "second": two} for kind, (one, two) in self.messages.items()
            },
        }


def diff(first: TraceReader, second: TraceReader) -> Difference:
    """Compares two runs day by day, and row by row on the day on which they part.

    Raises:
        HanseError: One of them is damaged.
    """
    marks = [run.run.marks() for run in (first, second)]
    shared = list(zip(*marks, strict=False))
    days = len(marks[0]), len(marks[1])
    settings = _settings(first.run, second.run)
    apart = next((one.day for one, two in shared if one.log_sha256 != two.log_sha256), None)
    if apart is None:
        equal = days[0] == days[1]
        return Difference(equal, days, settings, None, None, None, [], [], ([], []), {})
    both = range(apart, len(shared))
    one, two, fields = _parting(first, second, apart)
    return Difference(
        False,
        days,
        settings,
        apart,
        one,
        two,
        fields,
        _gaps(first.run, second.run, both),
        _deals(first, second, both),
        _messages(first.run, second.run, both),
    )


def _settings(first: Run, second: Run) -> list[tuple[str, Any, Any]]:
    """Keys of the configurations whose values differ, apart from how a run is placed."""
    flat = [_flat(run.manifest.config) for run in (first, second)]
    return [
        (key, flat[0].get(key), flat[1].get(key))
        for key in sorted(flat[0].keys() | flat[1].keys())
        if flat[0].get(key) != flat[1].get(key) and key not in ("placement", "hosts", "name")
    ]


def _flat(config: object, path: str = "") -> dict[str, Any]:
    if isinstance(config, Mapping):
        pairs = [(str(key), value) for key, value in config.items()]
    elif isinstance(config, list) and all(isinstance(entry, Mapping) for entry in config):
        pairs = [(str(entry.get("name", n)), entry) for n, entry in enumerate(config)]
    else:
        return {path: config}
    found: dict[str, Any] = {}
    for key, value in pairs:
        found |= _flat(value, f"{path}.{key}" if path else key)
    return found


# ---- the point -----------------------------------------------------------------------------------

_Row = SentMessage | LoggedEvent


def _rows(reader: TraceReader, day: int) -> list[_Row]:
    """A day's messages and events in the order in which they came about.

    In a round an agent handles a message, records what it does, and sends.
    """
    logged = reader.day(day)
    rows: list[_Row] = [*logged.messages, *logged.events]
    return sorted(rows, key=_place)


def _place(row: _Row) -> tuple[int, int, str, int, int]:
    if isinstance(row, SentMessage):
        return row.minute, row.round, row.sender, 1, row.number
    return row.minute, row.round, row.agent, 0, row.ordinal


def _parting(
    first: TraceReader, second: TraceReader, day: int
) -> tuple[Side, Side, list[tuple[str, Any, Any]]]:
    rows = _rows(first, day), _rows(second, day)
    at = next(
        (n for n, (one, two) in enumerate(zip(*rows, strict=False)) if one != two),
        min(map(len, rows)),
    )
    sides = _side(first, day, rows[0], at), _side(second, day, rows[1], at)
    return (*sides, _fields(*(these[at] if at < len(these) else None for these in rows)))


def _fields(one: _Row | None, two: _Row | None) -> list[tuple[str, Any, Any]]:
    """What differs between two rows of a kind; nothing if they are about different things."""
    if one is None or two is None or type(one) is not type(two) or one.id != two.id:
        return []
    columns = [{**row._asdict(), **row.facts} for row in (one, two)]
    return [
        (name, columns[0].get(name), columns[1].get(name))
        for name in dict.fromkeys([*columns[0], *columns[1]])
        if columns[0].get(name) != columns[1].get(name) and name != "body"
    ]


def _side(reader: TraceReader, day: int, rows: list[_Row], at: int) -> Side:
    if at >= len(rows):
        return Side(None, None)
    row = rows[at]
    if isinstance(row, SentMessage):
        step = steps.of_message(reader.day(day), row)
        source: SentMessage | None = row
    else:
        step = steps.of_event(row, reader.day(day))
        source = reader.day(day).message(row.cause) if row.cause else None
    return Side(step, None if source is None else steps.causes(reader, source, _CAUSES))


# ---- what follows --------------------------------------------------------------------------------


def _gaps(first: Run, second: Run, days: range) -> list[Gap]:
    books = [
        {(day, firm): body_of(text) or {} for day, firm, text in run.rows("metrics", days=days)}
        for run in (first, second)
    ]
    gaps = []
    for key in sorted(books[0].keys() & books[1].keys()):
        apart = [
            round(_dollars(books[1][key], name) - _dollars(books[0][key], name), 6)
            for name in _FIGURES
        ]
        if any(apart):
            gaps.append(Gap(*key, *apart))
    return gaps


def _dollars(body: Mapping[str, Any], name: str) -> float:
    amount = body.get(name)
    return float(amount) if isinstance(amount, int | float) else 0.0


def _deals(first: TraceReader, second: TraceReader, days: range) -> tuple[list[Deal], list[Deal]]:
    """Deals by what was agreed: their numbers shift as soon as one is missing."""
    found = []
    for reader in (first, second):
        events = reader.find_events("deal", days=days)
        found.append([(_agreed(event), event) for event in events])
    counts = [Counter(agreed for agreed, _ in deals) for deals in found]
    only = []
    for mine, other in ((0, 1), (1, 0)):
        rest = counts[mine] - counts[other]
        deals = []
        for agreed, event in found[mine]:
            if rest[agreed] > 0:
                rest[agreed] -= 1
                deals.append(Deal(event.day, steps.of_event(event).words))
        only.append(deals)
    return only[0], only[1]


def _agreed(event: LoggedEvent) -> tuple[Any, ...]:
    facts = event.facts
    named = ("seller", "buyer", "item", "qty", "unit_price", "terms_days")
    return (event.day, event.agent, *(str(facts.get(name)) for name in named))


def _messages(first: Run, second: Run, days: range) -> dict[str, tuple[int, int]]:
    counts = [Counter(row[6] for row in run.rows("messages", days=days)) for run in (first, second)]
    return {
        kind: (counts[0][kind], counts[1][kind])
        for kind in sorted(counts[0].keys() | counts[1].keys())
        if counts[0][kind] != counts[1][kind]
    }

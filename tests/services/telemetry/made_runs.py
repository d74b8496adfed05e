"""Runs to trace: played ones, and days written by hand into a store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from actors.league import League
from services.config import RunConfig
from services.runs import Run, RunStore
from services.telemetry import timings
from services.telemetry.reader import TraceReader
from services.telemetry.span import Span
from services.telemetry.spans import derive
from tests.services.runs.samples import manifest

EXCHANGE = "exchange"
SECOND = 10**9
HAND_OVER = 1_700_000_000 * SECOND
"""When days written by hand begin, in nanoseconds since 1970."""


def play(config: RunConfig, folder: Path, hosts: int | None = None) -> TraceReader:
    with League.create(config, folder, hosts=hosts) as league:
        league.run()
    return TraceReader(Run(folder))


@pytest.fixture(scope="module")
def sixty_days(tmp_path_factory: pytest.TempPathFactory) -> TraceReader:
    """The standard league over sixty days; to be read only."""
    return play(RunConfig(days=60, placement="inline"), tmp_path_factory.mktemp("sixty") / "run")


def all_spans(reader: TraceReader) -> Iterator[Span]:
    for day in reader.days:
        yield from derive(reader, day)


def timeless(span: Span) -> tuple[Any, ...]:
    """A span without what may differ between two runs of one seed: when and where it was."""
    attributes = {key: value for key, value in span.attributes.items() if key != "hanse.host"}
    events = tuple(event._replace(at=0) for event in span.events)
    return span._replace(start=0, end=0, attributes=attributes, events=events)


def message(
    number: int,
    sender: str = "ann",
    recipient: str = "bob",
    minute: int = 540,
    round: int = 0,
    type: str = "text",
    in_reply_to: str | None = None,
    cause: str | None = None,
    trace: str | None = None,
    body: Any = "{}",
) -> tuple[Any, ...]:
    """A row of messages."""
    about = in_reply_to, cause, trace
    return minute, round, sender, number, recipient, "comm", type, *about, body


def event(
    ordinal: int,
    kind: str,
    body: Any,
    agent: str = EXCHANGE,
    cause: str | None = None,
    minute: int = 540,
    subject: str = "",
) -> tuple[Any, ...]:
    """A row of events; a body that is no text yet becomes JSON."""
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    return minute, 1, agent, ordinal, cause, kind, subject, text


def timed(*rows: tuple[Any, ...], host: str = "host-0") -> list[tuple[Any, ...]]:
    """The timings of a day on which messages were handled a second after each other."""
    handled = [
        (sender, number, HAND_OVER + n * SECOND, HAND_OVER + n * SECOND + 1000, 500)
        for n, (_, _, sender, number, *_) in enumerate(rows)
    ]
    day = rows[0][0] // 1440 if rows else 0
    return [(day, host, timings.pack(host, 0, handled, []))]


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., TraceReader]:
    """Writes a run whose days are given as rows, and opens it."""

    def write(*days: dict[str, list[tuple[Any, ...]]], **config: Any) -> TraceReader:
        folder = tmp_path / "written"
        with closing(RunStore.create(folder, manifest(**config))) as store:
            for day, rows in enumerate(days):
                store.append(**rows)
                store.end_day(day, b"state")
        return TraceReader(Run(folder))

    return write


def meddle(reader: TraceReader, *statements: str) -> TraceReader:
    """Changes a run's database behind Hanse's back; the run is opened anew."""
    with closing(sqlite3.connect(reader.run.database)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return TraceReader(Run(reader.run.folder))

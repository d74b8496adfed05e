"""`hanse trace RUN export` and `view`: spans for other programs, and as a page."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.console import Json, note, say, say_json
from services.errors import HanseError

if TYPE_CHECKING:
    from services.runs import Run
    from services.telemetry.reader import TraceReader
    from services.telemetry.span import Span

EXPORT_EXAMPLE = """Examples:

  hanse trace RUN export --to perfetto       for https://ui.perfetto.dev

  hanse trace RUN export --to perfetto --clock virtual --days 40-47

  hanse trace RUN export --to otlp-json --out spans.jsonl.gz

  hanse trace RUN export --to otlp --endpoint http://localhost:4318
"""

VIEW_EXAMPLE = """Examples:

  hanse trace RUN view                       in the browser, also while it runs

  hanse trace RUN view --port 8000 --no-browser

  hanse trace RUN view --out trace.html      one file that needs no server
"""

_FILES = {"otlp-json": "trace.otlp.jsonl", "perfetto": "trace.perfetto.json"}
_SECONDS = 600.0
"""For sending a whole run to a collector."""
_GIVE_UP = 20.0
"""Seconds after which a batch that no collector takes is given up."""


class Target(StrEnum):
    """What spans are exported to."""

    otlp_json = "otlp-json"
    perfetto = "perfetto"
    otlp = "otlp"


class Clock(StrEnum):
    """The time along the axis of a Perfetto file."""

    wall = "wall"
    virtual = "virtual"


def export(
    context: typer.Context,
    to: Annotated[
        Target,
        typer.Option(help="OTLP JSON lines, a Perfetto file, or OTLP over HTTP to a collector."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to (the run's folder); .gz compresses it."),
    ] = None,
    days: Annotated[
        str | None, typer.Option(metavar="A-B", help="Only these days, such as 40-47.")
    ] = None,
    clock: Annotated[
        Clock, typer.Option(help="For perfetto: the wall's time, or the league's.")
    ] = Clock.wall,
    endpoint: Annotated[
        str | None,
        typer.Option(metavar="URL", help="For otlp: the collector (OTEL_EXPORTER_OTLP_ENDPOINT)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a run's spans for other programs, or send them to a collector.

    Sending obeys the variables OTEL_EXPORTER_OTLP_* and OTEL_TRACES_SAMPLER*; headers, should the
    collector ask for any, come from there, too. The ids of spans are the same every time.
    """
    reader = _reader(context)
    if to is not Target.otlp:
        if endpoint is not None:
            raise HanseError(f"--endpoint is for --to otlp; {to.value} writes a file: see --out")
        path = out or reader.run.folder / _FILES[to.value]
        number = _write(reader, to, path, _chosen(reader, days), clock)
        if as_json:
            say_json({"file": str(path), "spans": number})
        else:
            say(str(path))
            note(f"{number:,} spans")
        return
    if out is not None:
        raise HanseError("--out is for files; --to otlp sends to a collector: see --endpoint")
    counts = _send(reader, _chosen(reader, days), endpoint)
    if as_json:
        say_json(counts)
    else:
        say(f"{counts['sent']:,} spans sent")


def view(
    context: typer.Context,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write one HTML file instead of serving the page."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where to listen on this machine (any free one).")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page at once.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Show a run's trace as a page: in the browser, or as a file.

    The page is served on this machine only, until Ctrl-C; days that are written meanwhile appear.
    """
    from services.telemetry import view as pages

    run = _reader(context).run
    if out is not None:
        page = pages.write_page(run, out)
        if as_json:
            say_json({"page": str(page)})
        else:
            say(str(page))
        return
    if as_json:
        raise HanseError("--json is for view --out FILE; without --out the page is served")
    pages.serve(run, port, browser)


def _reader(context: typer.Context) -> TraceReader:
    from services.cli.trace import _reader as reader

    return reader(context)


def _chosen(reader: TraceReader, text: str | None) -> range:
    from services.cli.trace import days_of

    there, wanted = reader.days, days_of(text)
    if wanted is None:
        return there
    chosen = range(max(wanted.start, there.start), min(wanted.stop, there.stop))
    if not chosen:
        has = f"it has days {there[0]} to {there[-1]}" if there else "no day is complete yet"
        raise HanseError(f"{reader.run.folder}: none of days {text} is in the run; {has}")
    return chosen


def _spans(reader: TraceReader, days: range) -> Iterator[Span]:
    from services.telemetry.spans import derive

    for day in days:
        yield from derive(reader, day)


def _write(reader: TraceReader, to: Target, path: Path, days: range, clock: Clock) -> int:
    if to is Target.perfetto:
        from services.telemetry.perfetto import write_perfetto

        return write_perfetto(_spans(reader, days), path, clock.value, _title(reader.run))
    from services.telemetry.otlp_lines import write_otlp_lines
    from services.telemetry.sdk import describe

    return write_otlp_lines(_spans(reader, days), path, describe(reader.run.manifest))


def _title(run: Run) -> str:
    return run.folder.name


@contextmanager
def _quiet() -> Iterator[None]:
    """What a pipeline warns of is said by the one line that the command ends with."""
    logger = logging.getLogger("services.telemetry")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _send(reader: TraceReader, days: range, endpoint: str | None) -> dict[str, int]:
    import os
    from dataclasses import replace
    from functools import partial

    from services.telemetry.exporting import SpanPipeline, wants_otlp
    from services.telemetry.otlp import OtlpSettings, OtlpSink
    from services.telemetry.sampling import Sampling
    from services.telemetry.sdk import describe

    environ = dict(os.environ)
    if endpoint is not None:
        environ.pop("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", None)
        environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = endpoint
        environ.pop("OTEL_TRACES_EXPORTER", None)
    if not wants_otlp(environ, "TRACES"):
        raise HanseError(
            "no collector is named; add --endpoint http://localhost:4318, or set"
            " OTEL_EXPORTER_OTLP_ENDPOINT"
        )
    settings = replace(OtlpSettings.from_environment(environ), give_up=_GIVE_UP)
    about = describe(reader.run.manifest)
    pipeline = SpanPipeline([OtlpSink(settings, about)], about, Sampling.from_environment(environ))
    note(f"sending to {settings.shown}")
    with _quiet():
        for day in days:
            pipeline.submit(partial(_spans, reader, range(day, day + 1)))
        [(name, counts)] = pipeline.close(_SECONDS).items()
    if not counts.complete:
        raise HanseError(counts.line(name))
    return {"sent": counts.exported, "not_sampled": counts.unsampled}

"""Spans as Chrome trace JSON, which https://ui.perfetto.dev and ``chrome://tracing`` open.

Each host is a process, each agent a track in it. What an agent does lies on its track; mail on its
way and mail that waits lies on tracks of its own below, for there messages overlap. An arrow leads
from where a message was sent to where it was handled.

Two clocks are offered. ``wall`` is the time that the machine took. ``virtual`` is the league's own:
a virtual minute is a millisecond, so a day is 1.44 s and one sees its rhythm; what happened within
a minute keeps its order and, as long as the minute suffices, its length.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from services.errors import HanseError
from services.telemetry import conventions as c
from services.telemetry.attributes import plain, text
from services.telemetry.files import whole_file

if TYPE_CHECKING:
    from services.telemetry.span import Span

ClockName = Literal["wall", "virtual"]
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_MINUTES_PER_DAY = 1440
_MINUTE = 1_000_000
"""Nanoseconds on the virtual clock's axis that stand for a virtual minute."""
_ROOM = 0.95
"""How much of its minute what happens in it may take."""
_LEAD = 60_000_000_000
"""Nanoseconds before the first span at which the wall clock's axis begins: spans come in no strict
order, and none may lie before 0."""


def write_perfetto(
    spans: Iterable[Span], path: Path | str, clock: ClockName = "wall", title: str = "hanse"
) -> int:
    """Writes spans to a file, compressed if its name ends with ``.gz`` (Perfetto reads both).

    Args:
        spans: In the order of `derive`; on the wall clock one is in memory at a time, on the
            virtual clock those of one day are.
        path: Where to. It is replaced at the end, or left as it was if something fails.
        clock: wall or virtual. Spans of which nobody knows the wall time are left out of ``wall``.
        title: What is written on the processes that are no host.

    Returns:
        How many spans were written.

    Raises:
        HanseError: the file cannot be written, the clock has another name, or there was nothing
            to write because no wall time is known.
    """
    if clock not in ("wall", "virtual"):
        raise HanseError(f"there is no clock {clock!r}; choose wall or virtual")
    tracks = _Tracks(title)
    seen = written = 0
    with whole_file(Path(path)) as file:
        file.write('{"displayTimeUnit":"ms","traceEvents":[\n')
        separator = ""
        placed = _on_the_wall(spans) if clock == "wall" else _in_virtual_time(spans)
        for span, start, took in placed:
            seen += 1
            if start is None:
                continue
            written += 1
            for event in tracks.events(span, start, took):
                file.write(separator + _json(event))
                separator = ",\n"
        file.write(f'\n],"otherData":{_json({"title": text(title), "clock": clock})}}}\n')
        if seen and not written:
            raise HanseError(
                "this run has no wall times (it was made before they were kept);"
                " choose the virtual clock"
            )
    return written


_Placed = tuple["Span", int | None, int]
"""A span, where it begins on the axis, and how long it is there, in nanoseconds."""


def _on_the_wall(spans: Iterable[Span]) -> Iterator[_Placed]:
    origin: int | None = None
    for span in spans:
        if span.start <= 0:
            yield span, None, 0
            continue
        if origin is None:
            origin = max(span.start - _LEAD, 0)
        yield span, max(span.start - origin, 0), max(span.end - span.start, 0)


def _in_virtual_time(spans: Iterable[Span]) -> Iterator[_Placed]:
    for together in _minutes(spans):
        minute = together[0].minute
        timed = [span for span in together if span.agent and span.start > 0]
        work = [span for span in timed if not _is_mail(span)] or timed
        base = min((span.start for span in work), default=0)
        extent = max((span.end for span in work), default=0) - base
        scale = min(1.0, _ROOM * _MINUTE / extent) if extent > 0 else 1.0
        begun: dict[str, int] = {}
        for span in work:
            begun[span.agent] = min(span.start, begun.get(span.agent, span.start))
        for span in together:
            if span.agent and span.start > 0:
                # Both ends are rounded alike, so what lies within something else stays there.
                start = round(max(span.start - base, 0) * scale)
                end = round((span.end - base) * scale)
                if span.kind == "PRODUCER":
                    # What is sent because of an earlier minute's message is sent in this one.
                    start = max(start, round((begun.get(span.agent, base) - base) * scale) + 1)
                yield span, minute * _MINUTE + start, max(end - start, 0)
            else:
                yield span, minute * _MINUTE, _league_time(span)


def _minutes(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """The spans of each virtual minute together; those of a day come in another order."""
    for _, day in groupby(spans, key=lambda span: span.minute // _MINUTES_PER_DAY):
        minutes: dict[int, list[Span]] = {}
        for span in day:
            minutes.setdefault(span.minute, []).append(span)
        for minute in sorted(minutes):
            yield minutes[minute]


def _league_time(span: Span) -> int:
    """How much virtual time a span of the league stands for: a day, or a moment."""
    whole_day = not span.agent and span.name.split(" ")[0] == "day"
    return _MINUTES_PER_DAY * _MINUTE if whole_day else 0


class _Tracks:
    """Numbers processes and tracks as they turn up, and writes spans on them."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._processes: dict[str, int] = {}
        self._threads: dict[tuple[int, str], int] = {}
        self._hosts: dict[str, str] = {}
        """Where each agent was last seen; what happens on the market does not say."""

    def events(self, span: Span, start: int, took: int) -> Iterator[dict[str, Any]]:
        host = str(span.attributes.get(c.HOST, "")) or self._hosts.get(span.agent, "")
        self._hosts[span.agent] = host
        process = self._processes.get(host)
        if process is None:
            process = self._processes[host] = len(self._processes) + 1
            yield _named("process_name", process, 0, host or self._title)
        thread = self._threads.get((process, span.agent))
        if thread is None:
            thread = self._threads[process, span.agent] = len(self._threads) + 1
            yield _named("thread_name", process, thread, span.agent or "league")
        begin = _micros(start)
        common = {"pid": process, "tid": thread}
        name, details = text(span.name), _details(span)
        if _is_mail(span) and not took:
            instant = {"ph": "i", "s": "t", "cat": "mail", "name": name, **common}
            yield {**instant, "ts": begin, "args": details}
        elif _is_mail(span):
            mail = {"cat": "mail", "name": name, "id": f"{span.span_id:#x}", **common}
            yield {"ph": "b", **mail, "ts": begin, "args": details}
            yield {"ph": "e", **mail, "ts": _micros(start + took)}
        else:
            category = span.kind.lower()
            slice_ = {"ph": "X", "cat": category, "name": name, **common}
            yield {**slice_, "ts": begin, "dur": _micros(took), "args": details}
        arrow = {"cat": "mail", "name": "mail", **common}
        if span.kind == "PRODUCER":
            # It is sent when its sender's handling ends: an arrow starts within a slice, not at
            # its end.
            yield {"ph": "s", **arrow, "id": f"{span.span_id:#x}", "ts": _micros(max(start - 1, 0))}
        elif span.kind == "CONSUMER" and span.parent_id is not None and not _is_mail(span):
            yield {"ph": "f", "bp": "e", **arrow, "id": f"{span.parent_id:#x}", "ts": begin}


def _is_mail(span: Span) -> bool:
    """Whether the span is a message on its way or in a mailbox, rather than an agent at work."""
    operation = span.attributes.get(c.MESSAGING_OPERATION_TYPE)
    return span.kind == "PRODUCER" or (span.kind == "CONSUMER" and operation == "receive")


def _details(span: Span) -> dict[str, Any]:
    day, minute = divmod(span.minute, _MINUTES_PER_DAY)
    details: dict[str, Any] = {
        "virtual time": f"day {day} {minute // 60:02}:{minute % 60:02}",
        "trace": f"{span.trace_id:032x}",
        "span": f"{span.span_id:016x}",
    }
    if span.error is not None:
        details["error"] = text(span.error)
    for event in span.events:
        facts = plain(event.attributes)
        details[f"event {text(event.name)}"] = {key: _exact(facts[key]) for key in facts}
    return details | {key: _exact(value) for key, value in plain(span.attributes).items()}


def _exact(value: Any) -> Any:
    """The value, as text if JSON has no such number or a browser would round it."""
    if isinstance(value, list):
        return list(map(_exact, value))
    if isinstance(value, float) and value - value != 0:
        return str(value)
    if isinstance(value, int) and not -(2**53) <= value <= 2**53:
        return str(value)
    return value


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": text(name)}}


def _micros(nanos: int) -> float:
    return nanos / 1000

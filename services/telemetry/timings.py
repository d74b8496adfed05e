"""When, by the clock on the wall, agents handled their messages: one packed record a host and day.

A host notes a tuple for every message that it hands to an agent, and for every wake-up; that is all
that tracing costs while agents work. At the end of the day the tuples are packed column by column,
to about ten bytes a message. Everything else that a span says is in the log already
(:mod:`services.telemetry.spans`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import accumulate
from operator import sub
from typing import Any, Final, NamedTuple

import msgpack
import zstandard

from services.errors import HanseError

VERSION: Final = 1
MOST_BYTES: Final = 2**28
"""No record unpacks to more: a damaged one must not take all memory."""

Handled = tuple[str, int, int, int, int]
"""(sender, number, arrived, began, took): the message, and nanoseconds of :func:`clock`."""
Woken = tuple[str, int, int, int]
"""(agent, minute, began, took); minute is virtual."""


class Timing(NamedTuple):
    """When one message was handled, or one agent woken."""

    host: str
    arrived: int
    """Nanoseconds since 1970, when the message was there to be handled; when a wake-up was due."""
    began: int
    """Nanoseconds since 1970."""
    took: int
    """Nanoseconds."""


class Timings(NamedTuple):
    """The timings of one host and day."""

    host: str
    messages: dict[str, Timing]
    """By message id."""
    wakes: dict[tuple[str, int], Timing]
    """By agent and virtual minute."""

    @classmethod
    def unpack(cls, record: bytes) -> Timings:
        """Reads what :func:`pack` has made.

        Raises:
            HanseError: it is something else, or of a newer Hanse.
        """
        try:
            version, host, names, handled, woken = _opened(record)
            if version != VERSION:
                raise HanseError(f"timings of version {version}, not {VERSION}")
            sender, number, arrived, began, took = map(_column, handled)
            messages = {
                f"{names[s]}#{n}": Timing(host, a, b, t)
                for s, n, a, b, t in zip(sender, number, arrived, began, took, strict=True)
            }
            agent, minute, began, took = map(_column, woken)
            wakes = {
                (names[a], m): Timing(host, b, b, t)
                for a, m, b, t in zip(agent, minute, began, took, strict=True)
            }
        except HanseError:
            raise
        except Exception as error:
            raise HanseError(f"a record of timings is damaged: {error}") from error
        return cls(host, messages, wakes)


def pack(host: str, anchored: int, handled: Sequence[Handled], woken: Sequence[Woken]) -> bytes:
    """Packs the timings of a day.

    Args:
        host: Where the agents live.
        anchored: What :func:`anchor` has said to the clock that the timings are read from.
        handled: Messages, in the order in which they were handled.
        woken: Wake-ups, likewise.
    """
    senders, numbers, arrived, began, took = _columns(handled, 5)
    agents, minutes, woken_at, awake = _columns(woken, 4)
    names = {name: place for place, name in enumerate(dict.fromkeys((*senders, *agents)))}
    columns = [
        VERSION,
        host,
        list(names),
        [
            _packed([names[sender] for sender in senders]),
            _packed(numbers),
            _packed(arrived, anchored),
            _packed(began, anchored),
            _packed(took),
        ],
        [
            _packed([names[agent] for agent in agents]),
            _packed(minutes),
            _packed(woken_at, anchored),
            _packed(awake),
        ],
    ]
    return zstandard.ZstdCompressor(level=1).compress(msgpack.packb(columns))


clock: Final = time.perf_counter_ns
"""Nanoseconds on a clock that never jumps; only its differences mean something."""


def anchor() -> int:
    """Nanoseconds to add to :func:`clock` for the time since 1970, as of now."""
    return time.time_ns() - time.perf_counter_ns()


def _opened(record: bytes) -> list[Any]:
    packed = bytearray()
    with zstandard.ZstdDecompressor(max_window_size=2**23).stream_reader(record) as reader:
        # Piece by piece: room for the most that is allowed would be taken at once otherwise.
        while len(packed) < MOST_BYTES and (piece := reader.read(2**20)):
            packed += piece
    return msgpack.unpackb(packed)  # type: ignore[no-any-return]


def _columns(rows: Sequence[tuple[Any, ...]], width: int) -> list[tuple[Any, ...]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _packed(values: Sequence[int], add: int = 0) -> list[int]:
    """Whole numbers as differences, which take few bytes: MessagePack's shrink with the number."""
    return [values[0] + add, *map(sub, values[1:], values)] if values else []


def _column(steps: list[int]) -> list[int]:
    if not all(type(step) is int for step in steps):
        raise ValueError("a column holds something else than whole numbers")
    return list(accumulate(steps))

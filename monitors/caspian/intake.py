"""What a tick's events must be before they are scored: fit, in canonical order, and not too many.

Nothing here raises: what does not fit is dropped and counted by its reason, because a monitor must
not fall over what it watches.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.events import CHANNELS, TickEvents
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.scoring import Floats, Groups, Vectors, dot
from monitors.caspian.settings import Settings

_SMALLEST: Final = 1e-20
_LARGEST: Final = 1e20
"""Squared lengths of vectors that single precision can work with."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A tick's events, fit to be scored and sorted by (target, channel, source, contents)."""

    tick: int
    source: NDArray[np.intp]
    target: NDArray[np.intp]
    channel: NDArray[np.int8]
    edge: NDArray[np.intp]
    u: Vectors
    v: Vectors
    uu: Floats
    """Squared lengths of u."""
    vv: Floats
    ids: tuple[str, ...]
    sampled: float

    def __len__(self) -> int:
        return len(self.source)


def admit(
    events: TickEvents,
    graph: PossibilityGraph,
    settings: Settings,
    segment: int,
    dropped: Counter[str],
) -> Batch | None:
    """The batch of a tick; ``None`` if nothing can be made of it.

    The result does not depend on the order of the events. A duplicate is an event that agrees with
    another of the tick in everything.

    Args:
        events: As they came.
        graph: What is feasible.
        settings: The constants.
        segment: Counts the segments of a monitor: the draw under overload depends on it.
        dropped: Receives how many events were dropped, by reason.
    """
    if not _shaped(events, settings.dimensions):
        dropped["malformed"] += max(len(np.atleast_1d(events.source)), 1)
        return None
    source = events.source.astype(np.intp, copy=False)
    target = events.target.astype(np.intp, copy=False)
    edge = graph.edge_ids(source, target)
    on_graph = edge >= 0
    known = (events.channel >= 0) & (events.channel < len(CHANNELS))
    carried = np.zeros(len(source), np.bool_)
    both = on_graph & known
    carried[both] = (graph.channels[edge[both]] >> events.channel[both].astype(np.uint8)) & 1 > 0
    with np.errstate(over="ignore", invalid="ignore"):
        uu, vv = dot(events.u, events.u), dot(events.v, events.v)
    sound = np.isfinite(uu) & np.isfinite(vv) & (uu < _LARGEST) & (vv < _LARGEST)
    said = (uu > _SMALLEST) & (vv > _SMALLEST)
    fit = np.ones(len(source), np.bool_)
    for reason, good in (
        ("off_graph", on_graph),
        ("off_channel", carried),
        ("not_finite", sound),
        ("no_content", said),
    ):
        bad = int(np.count_nonzero(fit & ~good))
        if bad:
            dropped[reason] += bad
            fit &= good
    rows = np.flatnonzero(fit)
    key = (target[rows] * len(CHANNELS) + events.channel[rows]) * len(graph) + source[rows]
    rows, kept = _canonical(events, rows, key, dropped)
    sampled = events.sampled
    if len(rows) > settings.max_events:
        drawn = _draw(kept, events.tick, segment, settings.max_events)
        sampled *= len(drawn) / len(rows)
        dropped["sampled_out"] += len(rows) - len(drawn)
        rows = rows[drawn]
    return Batch(
        int(events.tick),
        source[rows],
        target[rows],
        events.channel[rows],
        edge[rows].astype(np.intp),
        events.u[rows].astype(np.float32, copy=False),
        events.v[rows].astype(np.float32, copy=False),
        uu[rows],
        vv[rows],
        tuple(events.ids[row] for row in rows.tolist()) if events.ids else (),
        float(sampled),
    )


def _shaped(events: TickEvents, dimensions: int) -> bool:
    """Whether the columns are arrays of one length, and the vectors of the right one."""
    columns = (events.source, events.target, events.channel)
    if not all(isinstance(c, np.ndarray) and c.ndim == 1 and c.dtype.kind in "iu" for c in columns):
        return False
    count = len(events.source)
    vectors = (events.u, events.v)
    return (
        all(len(column) == count for column in columns)
        and all(isinstance(a, np.ndarray) and a.dtype.kind == "f" for a in vectors)
        and all(array.shape == (count, dimensions) for array in vectors)
        and len(events.ids) in (0, count)
        and 0 < events.sampled <= 1
    )


def _canonical(
    events: TickEvents, rows: NDArray[np.intp], key: NDArray[np.intp], dropped: Counter[str]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows in canonical order without duplicates, and their keys."""
    order = np.argsort(key, kind="stable")
    rows, key = rows[order], key[order]
    groups = Groups.of(key)
    if len(groups.keys) == len(rows):
        return rows, key
    tied = np.flatnonzero(groups.counts[groups.of_row] > 1)
    contents = _contents(events, rows[tied])
    names = [events.ids[row] for row in rows[tied].tolist()] if events.ids else [""] * len(tied)
    by = sorted(range(len(tied)), key=lambda at: (key[tied[at]], contents[at], names[at]))
    rows[tied] = rows[tied][by]
    marks = [(int(key[tied[at]]), contents[at], names[at]) for at in by]
    same = np.zeros(len(rows), np.bool_)
    same[tied[1:]] = [a == b for a, b in pairwise(marks)]
    if same.any():
        dropped["duplicate"] += int(np.count_nonzero(same))
        rows, key = rows[~same], key[~same]
    return rows, key


def _contents(events: TickEvents, rows: NDArray[np.intp]) -> list[int]:
    """A number for the vectors of each row, by which rows between the same ends are ordered."""
    bits = np.concatenate([events.u[rows], events.v[rows]], axis=1).astype(np.float32)
    words = bits.view(np.uint32).astype(np.uint64)
    factors = _mixed(np.arange(1, words.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
    return _mixed(np.add.reduce(words * factors, axis=1)).tolist()  # type: ignore[no-any-return]


def _draw(key: NDArray[np.intp], tick: int, segment: int, count: int) -> NDArray[np.intp]:
    """The places of so many rows, in order: those with the smallest hash of where they stand."""
    place = np.arange(len(key), dtype=np.uint64)
    salt = _mixed(np.array([segment, tick], np.int64).astype(np.uint64))
    hashes = _mixed(_mixed(key.astype(np.uint64) ^ salt[0]) + _mixed(place ^ salt[1]))
    return np.sort(np.argsort(hashes, kind="stable")[:count])


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A bijective mix of 64-bit words (the finaliser of SplitMix64): equal input, equal output."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))

"""The last ticks with their scored events: what attribution looks back on."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.packing import pack, unpack
from monitors.caspian.scoring import Floats

EVIDENCE: Final = 8
"""Messages of a tick that are remembered by id: those with the highest scores."""
EVIDENCE_FLOOR: Final = 2.0
"""Least standardised score of a message that is worth remembering."""


class Tick(NamedTuple):
    """A tick after scoring."""

    tick: int
    edge: NDArray[np.int32]
    """(B,) edges of the events that count, in canonical order."""
    channel: NDArray[np.int8]
    """(B,)"""
    z: Floats
    """(B,) standardised scores."""
    evidence: tuple[tuple[float, str], ...]
    """(z, message id) of the highest scores."""
    sampled: float


class Window(NamedTuple):
    """The events of consecutive ticks."""

    edge: NDArray[np.int32]
    """(B,)"""
    channel: NDArray[np.int8]
    """(B,)"""
    z: Floats
    """(B,)"""
    place: NDArray[np.intp]
    """(B,) which tick of the window."""

    def on(self, channel: int | None) -> Window:
        """The events of one channel; all for ``None``."""
        if channel is None:
            return self
        here = self.channel == channel
        return Window(self.edge[here], self.channel[here], self.z[here], self.place[here])


class Recent:
    """Remembers the last ticks with events; older ones are forgotten.

    Ticks are counted by their ordinal number among those with events, so nights without traffic
    take no time.

    Args:
        memory: How many.
    """

    def __init__(self, memory: int) -> None:
        self._ticks: deque[Tick] = deque(maxlen=memory)
        self.count = 0
        """Ticks added so far; the ordinal number of the last one is one less."""

    def add(self, tick: Tick) -> None:
        """Adds the newest."""
        self._ticks.append(tick)
        self.count += 1

    @property
    def first(self) -> int:
        """The ordinal number of the oldest that is still known."""
        return self.count - len(self._ticks)

    def __getitem__(self, ordinal: int) -> Tick:
        """The tick of that number; the oldest or the newest where it is not known."""
        return self._ticks[min(max(ordinal - self.first, 0), len(self._ticks) - 1)]

    def window(self, begin: int, end: int) -> Window:
        """The events of the ticks from begin to before end, as far as they are known."""
        ticks = self._between(begin, end)
        if not ticks:
            nothing = np.empty(0, np.int32)
            return Window(nothing, nothing.astype(np.int8), np.empty(0), nothing.astype(np.intp))
        counts = [len(tick.z) for tick in ticks]
        return Window(
            np.concatenate([tick.edge for tick in ticks]),
            np.concatenate([tick.channel for tick in ticks]),
            np.concatenate([tick.z for tick in ticks]),
            np.repeat(np.arange(len(ticks)), counts),
        )

    def since(self, tick: int) -> int:
        """The ordinal number of the first tick that is known and not before that one."""
        before = sum(1 for known in self._ticks if known.tick < tick)
        return self.first + before

    def evidence(self, begin: int, end: int, count: int) -> tuple[str, ...]:
        """Ids of the messages with the highest scores in these ticks."""
        found = [item for tick in self._between(begin, end) for item in tick.evidence]
        return tuple(name for _, name in sorted(found, key=_strongest)[:count])

    def sampled(self, begin: int, end: int) -> float:
        """The smallest share of a tick's events that was scored in these ticks."""
        return min((tick.sampled for tick in self._between(begin, end)), default=1.0)

    def _between(self, begin: int, end: int) -> list[Tick]:
        first = self.first
        places = range(max(begin - first, 0), min(end - first, len(self._ticks)))
        return [self._ticks[place] for place in places]

    def save(self) -> dict[str, Any]:
        """The state, as plain data."""
        return {"count": self.count, "ticks": [_saved(tick) for tick in self._ticks]}

    def load(self, saved: dict[str, Any]) -> None:
        """Takes back what :meth:`save` has returned."""
        self.count = saved["count"]
        self._ticks.clear()
        self._ticks.extend(_loaded(tick) for tick in saved["ticks"])


def strongest(z: Floats, ids: Iterable[str]) -> tuple[tuple[float, str], ...]:
    """The messages of a tick that are worth remembering.

    Args:
        z: (B,) standardised scores.
        ids: (B,) message ids; empty ones are left out.
    """
    named = list(ids)
    if not named:
        return ()
    high = np.flatnonzero(z >= EVIDENCE_FLOOR)
    found = {(float(z[row]), named[row]) for row in high.tolist() if named[row]}
    return tuple(sorted(found, key=_strongest)[:EVIDENCE])


def _strongest(item: tuple[float, str]) -> tuple[float, str]:
    return (-item[0], item[1])


def _saved(tick: Tick) -> list[Any]:
    return [
        tick.tick,
        pack(tick.edge),
        pack(tick.channel),
        pack(tick.z),
        [list(item) for item in tick.evidence],
        tick.sampled,
    ]


def _loaded(saved: list[Any]) -> Tick:
    number, edge, channel, z, evidence, sampled = saved
    named = tuple((float(score), str(name)) for score, name in evidence)
    return Tick(number, unpack(edge), unpack(channel), unpack(z), named, sampled)

"""When the agents of a host want to be woken."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator


class Wakes:
    """The wake-ups of a host's agents, the earliest first; each agent once in a minute.

    Args:
        wanted: Those that there are at the beginning: (minute, agent).
    """

    def __init__(self, wanted: Iterable[tuple[int, str]] = ()) -> None:
        self._heap = list(wanted)
        heapq.heapify(self._heap)
        self._known = set(self._heap)

    @property
    def first(self) -> int | None:
        """The next minute at which somebody wants to be woken."""
        return self._heap[0][0] if self._heap else None

    def add(self, agent: str, minutes: Iterable[int]) -> None:
        """An agent wants to be woken at some minutes."""
        for minute in minutes:
            entry = (minute, agent)
            if entry not in self._known:
                self._known.add(entry)
                heapq.heappush(self._heap, entry)

    def take(self, now: int) -> Iterator[tuple[int, str]]:
        """The wake-ups that are due by now, in order; each is gone once it is given."""
        heap = self._heap
        while heap and heap[0][0] <= now:
            entry = heapq.heappop(heap)
            self._known.discard(entry)
            yield entry

    def by_agent(self) -> dict[str, list[int]]:
        """The minutes that agents still wait for, in order; whoever waits for none is not there."""
        found = defaultdict(list)
        for minute, agent in sorted(self._heap):
            found[agent].append(minute)
        return found

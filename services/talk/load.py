"""How much a firm can answer for: the work that requests make, and what if it is too much.

A request that was not answered well is repeated, and asks for all that is open again: twice the
work each time, up to eight units. Who has more work in an hour than :data:`CAPACITY` answers no
request well, so its partners repeat theirs, and carry the open ones themselves: a retry storm.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

CAPACITY: Final = 8.0
"""Units of work in an hour."""
MOST_ATTEMPTS: Final = 3
FAULT: Final = 0.01
"""The chance that a request is not answered well without any reason."""
LEFT_OVER: Final = 0.5
"""Share of the work beyond the capacity that is left for the next hour."""


class Load:
    """The work of one firm."""

    __slots__ = ("backlog", "before", "errors", "hour_errors", "open", "units")

    def __init__(self) -> None:
        self.units = 0.0
        """Work that has come in this hour."""
        self.before = 0.0
        """The work of the last whole hour."""
        self.backlog = 0.0
        self.errors = 0
        """Answers of this hour that were not good."""
        self.hour_errors = 0
        """The same of the last whole hour."""
        self.open: dict[str, int] = {}
        """Own requests without a good answer: by partner, how often it was asked in vain."""

    @property
    def share(self) -> float:
        """Work as a share of the capacity: this hour's so far, or the last hour's if more."""
        return max(self.units, self.before) / CAPACITY

    @property
    def overloaded(self) -> bool:
        """Whether there is more to do than it can."""
        return self.share > 1.0

    def hour(self, new_day: bool) -> None:
        """Begins an hour; a night mends everything.

        Args:
            new_day: Whether it is the first hour of a day.
        """
        if new_day:
            self.units = self.before = self.backlog = 0.0
            self.errors = self.hour_errors = 0
            self.open.clear()
            return
        self.before, self.hour_errors = self.units, self.errors
        self.backlog = LEFT_OVER * max(0.0, self.units - CAPACITY)
        self.units = self.backlog + sum(self.open.values())
        self.errors = 0

    def asked(self, units: float, rng: Random) -> bool:
        """Takes a request on; returns whether it is answered well."""
        self.units += units
        good = not self.overloaded and rng.random() >= FAULT
        if not good:
            self.errors += 1
        return good

    def answered(self, partner: str, good: bool) -> None:
        """Hears what has become of an own request; after the last attempt it lets it be."""
        if good:
            self.open.pop(partner, None)
        else:
            self.open[partner] = min(MOST_ATTEMPTS, self.open.get(partner, 0) + 1)

    def figures(self, rng: Random) -> dict[str, Any]:
        """The numbers of a :class:`~services.talk.payloads.Status`."""
        share = self.share
        noise = rng.lognormvariate(0.0, 0.3)
        return {
            "load": round(share, 3),
            "latency": round(40.0 * noise * (1.0 + share) ** 2, 1),
            "errors": self.hour_errors,
            "waiting": len(self.open),
            "backlog": round(self.backlog, 2),
            "tokens": int(400.0 * rng.lognormvariate(0.0, 0.3) * (1.0 + share)),
        }

    def save(self) -> list[Any]:
        """All of it as plain data."""
        numbers = (self.units, self.before, self.backlog, self.errors, self.hour_errors)
        return [*numbers, dict(self.open)]

    def load(self, saved: list[Any]) -> None:
        """Goes on from :meth:`save`."""
        self.units, self.before, self.backlog, self.errors, self.hour_errors, waiting = saved
        self.open = dict(waiting)

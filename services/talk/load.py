"""How much a firm can answer for: the work that requests make, and what if it is too much.

A request that was not answered well is repeated, and asks for all that is open again: one unit of
work, then three, then ten. Who has more work in an hour than its capacity answers no request well,
and has no time to take in what its own are answered; so its partners repeat theirs, and it repeats
its own, and all of them carry what is open: a retry storm.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

CAPACITY: Final = 8.0
"""Units of work in an hour that a firm can do whom nobody asks anything."""
FOR_EACH: Final = 0.8
"""The same for each partner that may ask it: who is asked more is ready for more."""
UNITS: Final = (1.0, 3.0, 10.0)
"""The work that a request makes, by how often it was made before."""
MOST_ATTEMPTS: Final = len(UNITS) - 1
FAULT: Final = 0.01
"""The chance that a request is not answered well without any reason."""
CARRYING: Final = 0.5
"""Units that an open request makes for who has made it, for each attempt."""
LEFT_OVER: Final = 0.5
"""Share of the work beyond the capacity that is left for the next hour."""


class Load:
    """The work of one firm.

    Args:
        capacity: Units of work that it can do in an hour.
    """

    __slots__ = ("backlog", "before", "capacity", "errors", "hour_errors", "open", "units")

    def __init__(self, capacity: float = CAPACITY) -> None:
        self.capacity = capacity
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
        return max(self.units, self.before) / self.capacity

    @property
    def overloaded(self) -> bool:
        """Whether there is more to do than it can."""
        return self.share > 1.0

    def hour(self, new_day: bool) -> None:
        """Begins an hour; over a night the work is done, and open requests are less pressing.

        Args:
            new_day: Whether it is the first hour of a day.
        """
        if new_day:
            self.units = self.before = self.backlog = 0.0
            self.errors = self.hour_errors = 0
            self.open = {partner: n - 1 for partner, n in self.open.items() if n > 1}
            return
        self.before, self.hour_errors = self.units, self.errors
        self.backlog = LEFT_OVER * max(0.0, self.units - self.capacity)
        self.units = self.backlog + sum(self.open.values()) * CARRYING
        self.errors = 0

    def asked(self, units: float, rng: Random) -> bool:
        """Takes a request on; returns whether it is answered well."""
        self.units += units
        good = not self.overloaded and rng.random() >= FAULT
        if not good:
            self.errors += 1
        return good

    def answered(self, partner: str, good: bool) -> None:
        """Hears what has become of an own request, if it has the time to take it in."""
        if good and not self.overloaded:
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

"""A roaster's purchasing as a task that drifts: what it is after, its budget, and what it says.

The task is the note's on BECON, section 2, with a firm of the league as the client. Preference and
budget follow the project's drift (:class:`~policies.environments.intent.Intent`); what the firm
tells of them passes the project's bad line
(:class:`~policies.environments.exposed_signal.ExposedSignal`); what a day came to is read from the
firm's own books. Nothing here knows the economy's rules: they are the league's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from policies.environments.convention import own_stream
from policies.environments.exposed_signal import LEVELS, ExposedSignal, Level
from policies.environments.intent import DRIFTS, Intent
from policies.environments.tradeoff_desk import PERFECT
from services.errors import HanseError

OBJECTIVES: Final[dict[str, str]] = {
    "profit": "gross margin of the day, less what has spoiled, in 100 dollars; 0 to 1",
    "service": "roasted coffee sold on the day, in 30 kilograms; 0 to 1",
    "thrift": "share of the store that is empty in the evening: what lies there spoils; 0 to 1",
}
"""What the firm is after, in this order, and the units; more is better."""
PROFIT_UNIT: Final = 100.0
SERVICE_UNIT: Final = 30.0
STORE_KG: Final = 120.0
COST_UNIT: Final = 150.0
"""Dollars that are a cost of 1: what the firm bids for green coffee on a day, over this. A budget
is the share of it that may be bound on a day."""
LINES: Final[Mapping[str, Level]] = {**LEVELS, "perfect": PERFECT}
"""How badly the firm's word comes through, by name; ``perfect`` is for oracles."""


@dataclass(frozen=True, slots=True)
class Books:
    """A firm's figures of one morning; dollars and kilograms."""

    margin: float
    """Revenue less returns, cost of goods, spoilage and write-downs, since the start."""
    stored: int
    """Kilograms on hand of everything."""
    cash: float
    owed: float
    """Open payables."""


def outcome(
    before: Books, after: Books, sold_kg: float, spent: float
) -> tuple[NDArray[np.float64], float]:
    """What a day came to: the objectives ``(K,)`` in the order of :data:`OBJECTIVES`, and the cost.

    Args:
        before: The morning of the day.
        after: The next morning.
        sold_kg: Roasted coffee that others took on the day.
        spent: What was bid for green coffee on the day, dollars.
    """
    vector = np.array(
        [
            (after.margin - before.margin) / PROFIT_UNIT,
            sold_kg / SERVICE_UNIT,
            1.0 - after.stored / STORE_KG,
        ]
    )
    return np.clip(vector, 0.0, 1.0), min(1.0, spent / COST_UNIT)


def stress(books: Books) -> float:
    """Share of what the firm owes that its cash does not cover, 0 to 1."""
    return 0.0 if books.cash >= books.owed else 1.0 - max(0.0, books.cash) / books.owed


@dataclass(frozen=True, slots=True)
class Scored:
    """What the firm makes of a day, and by which truth: the truth never leaves the firm."""

    preference: NDArray[np.float64]
    budget: float
    jumped: bool
    """Whether the truth of the day was new."""
    score: float
    """Satisfaction, w . r and noise; NaN: the firm says nothing."""
    alarm: float
    """1 or 0: whether somebody complains of the cost; NaN: nobody would."""


class Client:
    """A firm with a drifting intent and a bad line to whoever does its purchasing.

    Its course depends on seed, firm, drift, line and the stress of its days alone, so that every
    policy meets the same course, and so that it can be gone through again after a resume.

    Args:
        firm: Its name.
        seed: The run's.
        drift: One of :data:`~policies.environments.intent.DRIFTS`.
        line: One of :data:`LINES`.
        stresses: The days that have passed, to go on after them.

    Raises:
        HanseError: there is no such drift or line.
    """

    def __init__(
        self, firm: str, seed: int, drift: str, line: str, stresses: Sequence[float] = ()
    ) -> None:
        check(drift, line)
        number = len(OBJECTIVES)
        self._intent = Intent(drift, number, own_stream(seed, f"{firm}:intent"))
        self._line = ExposedSignal(LINES[line], number, own_stream(seed, f"{firm}:line"))
        self._line.begin(*self._intent.shown)
        self.stresses: list[float] = []
        """Of the days that have passed: all that a resume needs."""
        for each in stresses:
            self.settle(np.zeros(number), 0.0, each)

    @property
    def told(self) -> tuple[NDArray[np.float64], float] | None:
        """The preference and budget that arrive today; ``None``: the word is lost."""
        line = self._line
        return None if line.missing else (line.preference, line.budget)

    def settle(self, vector: NDArray[np.float64], cost: float, stress_now: float) -> Scored:
        """Judges a day by the truth of that day, and goes on to the next."""
        intent, line = self._intent, self._line
        w, d, jumped = intent.preference, intent.budget, intent.jumped
        scored = Scored(w, d, jumped, line.score(w, vector), line.alarm(cost, d))
        intent.step(stress_now)
        line.step(*intent.shown)
        self.stresses.append(stress_now)
        return scored


def check(drift: str, line: str) -> None:
    """Refuses a drift or a line that there is not.

    Raises:
        HanseError: the sentence names what is allowed.
    """
    if drift not in DRIFTS:
        raise HanseError(f"drift: there is no drift {drift!r}; allowed: {', '.join(DRIFTS)}")
    if line not in LINES:
        raise HanseError(f"line: there is no line {line!r}; allowed: {', '.join(LINES)}")


def known(value: float) -> float | None:
    """A number, or ``None`` for NaN: as a message says that something does not arrive."""
    return None if math.isnan(value) else value

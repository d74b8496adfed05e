"""What is asked of E1, E2 and E3 (note, section 5, acceptance), and whether it is met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from policies.concave.study.bias import LEVELS, BiasRow
from policies.concave.study.learning import RATE, LearningRow


@dataclass(frozen=True, slots=True)
class Demand:
    """One figure and its bounds."""

    name: str
    value: float
    least: float | None = None
    most: float | None = None
    counts: bool = True
    """False: shown, not asked for."""

    @property
    def met(self) -> bool:
        """Whether the figure is within its bounds."""
        above = self.least is None or self.value >= self.least
        return above and (self.most is None or self.value <= self.most)

    @property
    def asked(self) -> str:
        """The bounds in words."""
        if self.least is None:
            return f"<= {self.most:g}"
        return f">= {self.least:g}" if self.most is None else f"{self.least:g} to {self.most:g}"


def demands(bias: Sequence[BiasRow], learning: Sequence[LearningRow]) -> list[Demand]:
    """All that can be said of these rows; what needs a row that is missing is left out."""
    return [*_of_learning(learning), *_of_bias(bias), *_of_log(learning)]


def _of_learning(rows: Sequence[LearningRow]) -> list[Demand]:
    gap = {(r.batch, r.iterations): r.gap for r in rows if r.study == "bandit"}
    if (11, 20_000) not in gap:
        return []
    return [
        Demand("(a) plug-in 11: gap at 20 000 / 4 000", gap[11, 20_000] / gap[11, 4000], 0.8),
        Demand(
            "(b) gap at 20 000: multi-level / plug-in 11",
            gap[0, 20_000] / gap[11, 20_000],
            most=0.5,
        ),
        Demand("(b) multi-level: gap at 20 000 / 4 000", gap[0, 20_000] / gap[0, 4000], most=0.6),
    ]


def _of_bias(rows: Sequence[BiasRow]) -> list[Demand]:
    shortfall = {row.batch: row for row in rows if row.utility == "shortfall"}
    return [
        Demand(
            "(c) |bias|: multi-level / plug-in 8",
            abs(shortfall[0].bias) / abs(shortfall[8].bias),
            most=0.5,
        ),
        Demand("(d) trajectories a draw / levels", shortfall[0].trajectories / LEVELS, 0.85, 1.15),
    ]


def _of_log(rows: Sequence[LearningRow]) -> list[Demand]:
    made = []
    for rate in sorted({row.rate for row in rows if row.study == "log"}):
        gap = {(row.batch > 0): row.gap for row in rows if (row.study, row.rate) == ("log", rate)}
        name = f"(e) log, rate {rate:g}: gap, multi-level / plug-in 8"
        made.append(Demand(name, gap[False] / gap[True], 0.9, 1.1, counts=rate == RATE))
    return made

"""What is asked of a study, and whether it is met: figures over seeds with 95 % intervals.

    churn = ratio([3e-4, 2e-4], [5e-4, 6e-4])       # the same seeds, in the same order
    check = at_most("(a) churn of CHAIN over that of PPO", churn, 0.70)
    check.verdict                                   # "met", if need be with "not surely"

A demand is met or missed by the mean, as the notes ask. The interval (Student's t over seeds) says
whether other seeds might have said the contrary: then a verdict is "not surely" so.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel, ConfigDict

from services.statistics import estimate

if TYPE_CHECKING:
    from rich.table import Table


class Figure(NamedTuple):
    """A figure over seeds, with the ends of its 95 % interval; None where there is one seed."""

    value: float
    low: float | None = None
    high: float | None = None


class Record(BaseModel):
    """A part of a study's table: plain data, also as JSON, in which NaN stays what it is."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class Check(Record):
    """One demand, and whether it is met."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    """Ends of the 95 % interval; None where there is none."""
    demand: str
    passed: bool
    sure: bool = True
    """Whether the whole interval is on the same side of the bound as the value."""
    counts: bool = True
    """False: shown for comparison; nothing depends on it."""

    @property
    def verdict(self) -> str:
        """In words."""
        words = ("met", "MISSED") if self.counts else ("holds", "does not hold")
        return words[not self.passed] + ("" if self.sure else ", not surely")

    def shown(self) -> Check:
        """The same for comparison only."""
        return self.model_copy(update={"counts": False})


def this_machine() -> str:
    """On what a study has run."""
    return f"{platform.machine()}, Python {platform.python_version()}"


def mean(values: Sequence[float]) -> Figure:
    """Of independent seeds, at least one."""
    found = estimate(values)
    if found.half_width is None:
        return Figure(found.mean)
    return Figure(found.mean, found.mean - found.half_width, found.mean + found.half_width)


def difference(these: Sequence[float], those: Sequence[float]) -> Figure:
    """Mean of these less that of those, seed by seed."""
    return mean([this - that for this, that in zip(these, those, strict=True)])


def ratio(these: Sequence[float], those: Sequence[float]) -> Figure:
    """Mean of these over mean of those, seed by seed.

    The interval is that of the ratio estimator: how far each seed's figure is from what the ratio
    foretells, in units of the mean of those (linearised; Cochran, Sampling Techniques, 6.3).

    Raises:
        ZeroDivisionError: the mean of those is 0.
    """
    below = sum(those) / len(those)
    found = sum(these) / len(these) / below
    return mean([found + (a - found * b) / below for a, b in zip(these, those, strict=True)])


def saved(these: Sequence[float], those: Sequence[float]) -> Figure:
    """The share of those that is not in these: 1 - ratio."""
    found = ratio(these, those)
    if found.low is None or found.high is None:
        return Figure(1.0 - found.value)
    return Figure(1.0 - found.value, 1.0 - found.high, 1.0 - found.low)


def at_least(name: str, figure: Figure | float, bound: float) -> Check:
    """The demand that a figure is not below a bound."""
    return _check(name, figure, f">= {bound:g}", lambda value: value >= bound)


def at_most(name: str, figure: Figure | float, bound: float) -> Check:
    """The demand that a figure is not above a bound."""
    return _check(name, figure, f"<= {bound:g}", lambda value: value <= bound)


def _check(name: str, figure: Figure | float, demand: str, holds: Callable[[float], bool]) -> Check:
    value, low, high = figure if isinstance(figure, Figure) else Figure(figure)
    passed = holds(value)
    ends = [end for end in (low, high) if end is not None]
    sure = all(holds(end) == passed for end in ends)
    return Check(
        name=name, value=value, low=low, high=high, demand=demand, passed=passed, sure=sure
    )


def checks_table(checks: Sequence[Check], title: str = "Acceptance") -> Table:
    """All demands with their verdicts, for a terminal of 80 columns.

    The interval is Student's t over seeds.
    """
    from rich import box
    from rich.table import Table

    table = Table(title=title, box=box.SIMPLE, padding=0)
    for head in ("demand", "asked", "value", "95 %", ""):
        table.add_column(head, justify="right" if head in ("asked", "value", "95 %") else "left")
    for check in checks:
        interval = "-" if check.low is None else f"{_short(check.low)} to {_short(check.high)}"
        table.add_row(check.name, check.demand, _short(check.value), interval, check.verdict)
    return table


def _short(value: float | None) -> str:
    """Three decimals, none with three digits before the point, one digit of what is very small."""
    assert value is not None
    if 0 < abs(value) < 0.0005:
        return f"{value:.0e}"
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.0f}"

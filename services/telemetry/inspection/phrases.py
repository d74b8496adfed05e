"""The smallest pieces of sentences: goods, money, times, counts, somebody's text."""

from __future__ import annotations

from typing import Final

from services.messages import MINUTES_PER_DAY

LONGEST: Final = 160
"""Characters of somebody's text that a line quotes."""


def goods(item: object) -> str:
    """``green_coffee_kg`` as ``green coffee``."""
    return str(item).removesuffix("_kg").replace("_", " ")


def money(amount: float) -> str:
    """``1,234.50 $``."""
    return f"{amount:,.2f} $"


def price(amount: float) -> str:
    """``3.88 $/kg``."""
    return f"{amount:,.2f} $/kg"


def time_of_day(minute: int) -> str:
    """``09:30`` for a minute of the run."""
    return f"{minute % MINUTES_PER_DAY // 60:02}:{minute % 60:02}"


def when(minute: int) -> str:
    """``day 12 09:30`` for a minute of the run."""
    return f"day {minute // MINUTES_PER_DAY} {time_of_day(minute)}"


def short(text: object, most: int = LONGEST) -> str:
    """One line, cut off where it gets long."""
    line = " ".join(str(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def count(number: int, one: str, many: str | None = None) -> str:
    """``1 bid``, ``12 bids``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"

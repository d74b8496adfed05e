"""Money is an integer count of micro-dollars (one millionth of a US dollar).

Cents do not suffice: late fees have four decimals and an average unit cost has no end of them.
In whole micro-dollars every sum is exact, so debits equal credits to the last unit, and the
rounding of an average cost (at most half a micro-dollar a movement) stays far below the cent to
which the reference ledgers are met. Commands and observations speak in dollars; the border
between the two is :func:`micros` and :func:`dollars`, nowhere else.
"""

from __future__ import annotations

MICROS_PER_DOLLAR = 1_000_000
CENT = MICROS_PER_DOLLAR // 100


def micros(dollars: float) -> int:
    """Dollars to micro-dollars, to the nearest whole one."""
    return round(dollars * MICROS_PER_DOLLAR)


def dollars(micros: int) -> float:
    """Micro-dollars to dollars."""
    return micros / MICROS_PER_DOLLAR


def cents(amount: float) -> int:
    """A dollar amount rounded to cents as the original does it (``round(x, 2)``), as micros."""
    return round(round(amount, 2) * MICROS_PER_DOLLAR)


def share(total: int, part: int, whole: int) -> int:
    """``total * part / whole`` to the nearest micro-dollar, halves away from zero; exact if equal.

    Used for the cost that leaves with ``part`` of ``whole`` kilograms.
    """
    if part == whole:
        return total
    return (2 * total * part + whole) // (2 * whole)

"""Claims: what is said about the price of an item."""

from __future__ import annotations

from math import log
from typing import Final, NamedTuple

from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY

ITEMS: Final = (GREEN, ROASTED, GREEN_SPECIALTY, ROASTED_SPECIALTY)
WRONG: Final = log(1.2)
"""A factor that is further than this from the truth, on a logarithmic scale, is wrong."""


class Claim(NamedTuple):
    """What is said about an item's price; who said it first is not in it."""

    item: str
    factor: float
    """The claimed price as a multiple of the normal price."""
    strength: float
    """How insistently it is said, from 0 (in passing) to 1."""
    onward: bool
    """Whether it is meant to be passed on; others only mention it."""
    words: str


def is_wrong(factor: float, truth: float = 1.0) -> bool:
    """Whether a factor is off the truth by more than a fifth.

    Not to know that something has happened is no wrong belief, so what is near the normal price
    never is.
    """
    return abs(log(factor)) > WRONG and abs(log(factor / truth)) > WRONG

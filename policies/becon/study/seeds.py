"""Which seeds the studies report, laid down before any of them was run.

Everything that was set by hand was set while looking at `TUNING`: level 2's rates at seed 0, and
our way to hold back (`becon_safe`) after the note's had missed its demand on all three. What is
claimed therefore stands on seeds that nobody had looked at: `LEVEL_ONE` and `LEVEL_TWO`. Nothing
may be changed because of what they say; whoever does so moves them to `TUNING` and takes others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

TUNING: Final = (0, 1, 2)
LEVEL_ONE: Final = tuple(range(10, 15))
LEVEL_TWO: Final = (10, 11, 12)
"""A seed is nine trainings of 80 iterations, about five CPU minutes."""


def described(seeds: Sequence[int]) -> str:
    """For a title; says so if they are seeds that settings were tuned on."""
    named = ", ".join(map(str, seeds))
    return f"{named} (tuning)" if set(seeds) & set(TUNING) else named

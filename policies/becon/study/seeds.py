"""Which seeds the studies report, laid down before any of them was run.

Everything that was set by hand was set while looking at `TUNING`: level 2's rates at seed 0, and
our way to hold back (`becon_safe`) after the note's had missed its demand on the first three. What
is claimed therefore stands on seeds that nobody had looked at: `LEVEL_ONE` and `LEVEL_TWO`. Nothing
may be changed because of what they say; whoever does so takes others and says so here.

That has happened once. Level 1 was first asked on seeds 10 to 14, and of both ways to hold back:
ours met the demand (32 %, 30 asked), the note's missed it (24 %). Since then the demand is made of
ours alone, as that is what BECON does; the note's is shown beside it; and the seeds are others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

TUNING: Final = (0, 1, 2)
LEVEL_ONE: Final = tuple(range(20, 30))
LEVEL_TWO: Final = (10, 11, 12)
"""A seed is nine trainings of 80 iterations, about five CPU minutes."""


def described(seeds: Sequence[int]) -> str:
    """For a title; says so if they are seeds that settings were tuned on."""
    named = ", ".join(map(str, seeds))
    return f"{named} (tuning)" if set(seeds) & set(TUNING) else named

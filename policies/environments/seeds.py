"""Which seed an episode has: a given one, or one drawn from those that are for training."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from services.errors import HanseError


class Seeds:
    """Gives each episode its seed.

    Args:
        first: That of the first episode for which none is named; ``None``: drawn, too.
        drawn_from: The first and the last seed that may be drawn.

    Raises:
        HanseError: they are no range of seeds.
    """

    TRAINING: ClassVar[tuple[int, int]] = (1_000, 2**31 - 1)
    """Seeds below are never drawn, so that a policy is evaluated on leagues it has not seen."""

    def __init__(self, first: int | None = None, drawn_from: tuple[int, int] = TRAINING) -> None:
        low, high = drawn_from
        if not 0 <= low <= high < 2**63:
            raise HanseError(f"seeds: {low} to {high} is no range; allowed: 0 to 2**63 - 1")
        if first is not None and not 0 <= first < 2**63:
            raise HanseError(f"seed: {first} does not fit; allowed: 0 to 2**63 - 1")
        self._first = first
        self._range = low, high

    def next(self, named: int | None, rng: np.random.Generator) -> int:
        """The seed of the next episode.

        Args:
            named: The one that was asked for, if any was.
            rng: Draws it otherwise.
        """
        if named is not None:
            return int(named)
        if self._first is not None:
            first, self._first = self._first, None
            return first
        low, high = self._range
        return int(rng.integers(low, high, endpoint=True))

"""Fresh trajectories in parts of very different size, each with a seed of its own.

A multi-level draw takes 2, 4, ... or 512 trajectories. Every part is a function of its size and
seed alone, so that it does not matter where, or after which other, it is drawn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from policies.concave.scalarisation import Array
from services.errors import HanseError

Drawn = TypeVar("Drawn")
Draw = Callable[[int, np.random.Generator], Drawn]
"""From a number of trajectories and a generator to what was drawn."""
Sampler = Draw[Array]
"""From n and a generator to the vector returns of n independent trajectories, (n, M)."""
Seed = tuple[int, ...]


class Draws(Protocol):
    """Draws several parts; answers them in the order they were asked for."""

    def __call__(
        self, draw: Draw[Drawn], sizes: Sequence[int], seeds: Sequence[Seed]
    ) -> list[Drawn]:
        """Part i is ``draw(sizes[i], generator(seeds[i]))``."""


def generator(seed: Seed) -> np.random.Generator:
    """A generator of its own for each row of numbers, also for (1,) and (1, 0)."""
    digest = hashlib.blake2b(" ".join(map(str, seed)).encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def draw_part(draw: Draw[Drawn], size: int, seed: Seed) -> Drawn:
    """One part."""
    return draw(size, generator(seed))


def in_process(draw: Draw[Drawn], sizes: Sequence[int], seeds: Sequence[Seed]) -> list[Drawn]:
    """One part after the other, here."""
    return [draw_part(draw, size, seed) for size, seed in zip(sizes, seeds, strict=True)]


def seeds_of(seed: Seed, parts: int) -> list[Seed]:
    """A seed for each part, none like another of the same or of a different `seed`."""
    return [(*seed, part) for part in range(parts)]


def checked_returns(drawn: Any, size: int) -> Array:
    """The returns of a part.

    Raises:
        HanseError: they are not (size, M) finite numbers.
    """
    returns = np.asarray(drawn, np.float64)
    if returns.ndim != 2 or len(returns) != size:
        raise HanseError(
            f"a sampler must answer an array of shape ({size}, M) for {size} trajectories, not"
            f" {returns.shape}"
        )
    if not np.isfinite(returns).all():
        raise HanseError("a sampler answered returns that are not finite; see its environment")
    return returns

"""What a monitor sees of one tick: who exposed whom to what, and what the exposed then did.

An event pairs a message with its consequence (note ``caspian`` 2.3): ``u`` is the source's payload
at emission, ``v`` the target's own behaviour *after* it was exposed. A message that its target has
not acted on yet is not an event yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

CHANNELS: Final = ("comm", "mem", "tool", "exec")
"""CASPIAN's four channels in the paper's order (arXiv 2605.19240, section 2)."""

DIMENSIONS: Final = 64
"""Length D of a feature vector. The score of unrelated vectors has the deviation 1/sqrt(D), so
fewer dimensions cost signal (note 2.2)."""


@dataclass(frozen=True, slots=True)
class TickEvents:
    """The events of one tick, one row each (B rows), in any order."""

    tick: int
    """Strictly increasing within a segment; gaps are allowed."""
    source: NDArray[np.int32]
    """(B,) node of the graph that has emitted."""
    target: NDArray[np.int32]
    """(B,) node of the graph that was exposed."""
    channel: NDArray[np.int8]
    """(B,) place in :data:`CHANNELS`."""
    u: NDArray[np.float32]
    """(B, D) the source's features at emission."""
    v: NDArray[np.float32]
    """(B, D) the target's own behaviour after the exposure."""
    ids: tuple[str, ...] = ()
    """(B,) ids of the exposing messages, or none at all: the evidence that reports show."""
    sampled: float = 1.0
    """Share of the tick's events that is here (below 1 after sampling under overload)."""

    def __len__(self) -> int:
        return len(self.source)

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> TickEvents:
        """The events of these rows, in their order.

        Args:
            rows: Places (any shape (K,)) or a mask (B,).
        """
        places = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return TickEvents(
            self.tick,
            self.source[places],
            self.target[places],
            self.channel[places],
            self.u[places],
            self.v[places],
            tuple(self.ids[place] for place in places) if self.ids else (),
            self.sampled,
        )

    @classmethod
    def empty(cls, tick: int, dimensions: int = DIMENSIONS) -> TickEvents:
        """A tick in which nothing happened: it passes for a detector too."""
        none = np.empty(0, np.int32)
        vectors = np.empty((0, dimensions), np.float32)
        return cls(tick, none, none, none.astype(np.int8), vectors, vectors)

"""Events by hand, for tests of what looks at them."""

from collections.abc import Sequence

import numpy as np

from monitors.caspian.events import TickEvents
from monitors.caspian.possibility import PossibilityGraph

Vector = Sequence[float]
TRIANGLE = PossibilityGraph.from_edges(
    "abc",
    [(i, j, ["comm", "mem", "tool", "exec"]) for i in "abc" for j in "abc" if i != j],
)


def events(tick: int, *rows: tuple[int, int, int, Vector, Vector]) -> TickEvents:
    """A tick's events of (source, target, channel, u, v)."""
    columns = list(zip(*rows, strict=True))
    return TickEvents(
        tick,
        np.array(columns[0], np.int32),
        np.array(columns[1], np.int32),
        np.array(columns[2], np.int8),
        np.array(columns[3], np.float32),
        np.array(columns[4], np.float32),
    )


def silent(tick: int, source: int, target: int, times: int = 1) -> TickEvents:
    """Events that say nothing in particular."""
    return events(tick, *[(source, target, 0, (1.0, 0.0), (1.0, 0.0))] * times)

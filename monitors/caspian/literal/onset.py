"""When the paper's rule declares a cascade (arXiv 2605.19240, Algorithm 1, equations 7-10)."""

from __future__ import annotations

import math
from typing import Literal

from monitors.caspian.literal.records import Signals

Kind = Literal["instant", "multi-turn"]


class OnsetRule:
    """Watches a sequence of signals for the one onset that it declares.

    At the first watch turn it declares at once if a phase shift or cross-channel coupling comes
    with a weak link. Otherwise that turn is a candidate, which stands or falls at the end of
    ceil(1/(gap + ε)) turns. The paper's prose drops a candidate with the first turn that is no
    watch turn; its Algorithm 1 waits, and that is followed here.
    """

    def __init__(self, epsilon: float) -> None:
        self._epsilon = epsilon
        self._deadline = 0
        self._window: list[Signals] = []
        self.kind: Kind | None = None
        """How it was declared; None as long as it was not."""

    @property
    def candidate(self) -> bool:
        """Whether a watch turn has begun that is not decided yet, or was declared."""
        return bool(self._window)

    def observe(self, signals: Signals) -> None:
        """Decides on the next turn. After a declaration nothing changes any more."""
        if self.kind is not None:
            return
        if not self._window:
            if not signals.watch:
                return
            self._deadline = math.ceil(1 / (signals.gap + self._epsilon))
            self._window = [signals]
            if (signals.phase_shift or signals.cross_channel) and signals.weak_link:
                self.kind = "instant"
                return
        else:
            self._window.append(signals)
        if len(self._window) >= self._deadline:
            watched = sum(turn.watch for turn in self._window)
            coupled = any(turn.phase_shift or turn.cross_channel for turn in self._window)
            if 2 * watched >= len(self._window) and coupled:
                self.kind = "multi-turn"
            else:
                self._window = []

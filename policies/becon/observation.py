"""What the module sees: one flat vector per step, and what lies where in it.

The analytic belief is part of the observation, so a module can be stateless, and whoever acts keeps
one `Observer` beside the weights. Truth (w, d) has no place here: nothing in this file takes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from policies.becon.belief import Belief, BeliefSettings, feature_width
from policies.becon.quality import QUALITIES


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the parts of an observation are."""

    features: int
    """F, width of the state's own features s_t; they hold no descriptor."""
    objectives: int
    """K."""
    levels: tuple[int, ...]
    """How many levels each lever has; (A,) for a single choice of A actions."""
    masked: bool = False
    """Whether the observation ends with a mask of legal levels, 1 where one is legal."""

    @property
    def actions(self) -> int:
        """Levels of all levers together."""
        return sum(self.levels)

    @property
    def sizes(self) -> dict[str, int]:
        """The parts in order, and how wide each is."""
        k = self.objectives
        return {
            "features": self.features,
            "exposed": k + 1,
            "line": 2,
            "reward": k,
            "feedback": 4,
            "action": self.actions,
            "belief": feature_width(k),
            "quality": len(QUALITIES),
            "mask": self.actions if self.masked else 0,
        }

    @property
    def width(self) -> int:
        """D, of the whole."""
        return sum(self.sizes.values())

    def part(self, name: str) -> slice:
        """Where a part is.

        `exposed` is w_hat and d_hat; `line` is log(1 + age) and whether a reading is fresh;
        `feedback` is cost, score, alarm and whether the last two arrived, all of the step before,
        as are `reward` and `action` (one-hot for each lever; zeros before the first step).

        Raises:
            KeyError: there is no such part.
        """
        start = 0
        for each, size in self.sizes.items():
            if each == name:
                return slice(start, start + size)
            start += size
        raise KeyError(f"no part {name!r}: one of {', '.join(self.sizes)}")

    @property
    def history(self) -> tuple[str, ...]:
        """The parts that the encoder reads.

        The descriptor is none of them, so that belief and descriptor stay independent for the
        gates.
        """
        return ("features", "reward", "feedback", "action", "belief")


@dataclass(frozen=True, slots=True)
class Exposed:
    """The descriptor of B clients as it is held now."""

    preference: np.ndarray
    """(B, K)."""
    budget: np.ndarray
    """(B,)."""
    age: np.ndarray
    """(B,), steps since it arrived."""
    fresh: np.ndarray
    """bool (B,)."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a step came to for B clients, as far as the one who acted sees it."""

    action: np.ndarray
    """int (B, levers), or (B,) for a single lever."""
    reward: np.ndarray
    """(B, K)."""
    cost: np.ndarray
    """(B,)."""
    satisfaction: np.ndarray
    """(B,); NaN where there is none."""
    alarm: np.ndarray
    """(B,), 1 or 0; NaN where there is none."""


class Observer:
    """Keeps the beliefs of B clients and writes observations.

    ```
    observer = Observer(layout, batch=64)
    x = observer.first(features, exposed)               # (64, D) float32
    x = observer.next(features, exposed, feedback)      # after each step
    ```

    Args:
        layout: What lies where.
        batch: B.
        settings: Of the belief.
    """

    def __init__(self, layout: Layout, batch: int, settings: BeliefSettings | None = None) -> None:
        self.layout = layout
        self.batch = batch
        self.belief = Belief(batch, layout.objectives, settings or BeliefSettings())

    def first(
        self, features: np.ndarray, exposed: Exposed, mask: np.ndarray | None = None
    ) -> np.ndarray:
        """The observation before the first step; what was believed is forgotten.

        Args:
            features: (B, F).
            exposed: The descriptor.
            mask: bool (B, actions), where the layout has one.

        Returns:
            float32 (B, D).
        """
        self.belief.reset(np.ones(self.batch, dtype=bool))
        return self._write(features, exposed, None, mask)

    def next(
        self,
        features: np.ndarray,
        exposed: Exposed,
        feedback: Feedback,
        mask: np.ndarray | None = None,
    ) -> np.ndarray:
        """The observation after a step: float32 (B, D)."""
        self.belief.learn(feedback.reward, feedback.cost, feedback.satisfaction, feedback.alarm)
        return self._write(features, exposed, feedback, mask)

    def _write(
        self,
        features: np.ndarray,
        exposed: Exposed,
        feedback: Feedback | None,
        mask: np.ndarray | None,
    ) -> np.ndarray:
        self.belief.look(exposed.preference, exposed.budget, exposed.age, exposed.fresh)
        layout = self.layout
        made = np.zeros((self.batch, layout.width), np.float32)
        made[:, layout.part("features")] = features
        made[:, layout.part("exposed")] = np.column_stack([exposed.preference, exposed.budget])
        made[:, layout.part("line")] = np.column_stack([np.log1p(exposed.age), exposed.fresh])
        if feedback is not None:
            scored, audited = ~np.isnan(feedback.satisfaction), ~np.isnan(feedback.alarm)
            made[:, layout.part("reward")] = feedback.reward
            made[:, layout.part("feedback")] = np.column_stack(
                [
                    feedback.cost,
                    np.nan_to_num(feedback.satisfaction),
                    np.nan_to_num(feedback.alarm),
                    scored & audited,
                ]
            )
            chosen = feedback.action.reshape(self.batch, len(layout.levels))
            hot = [np.eye(n)[chosen[:, place]] for place, n in enumerate(layout.levels)]
            made[:, layout.part("action")] = np.concatenate(hot, axis=1)
        made[:, layout.part("belief")] = self.belief.features()
        made[:, layout.part("quality")] = self.belief.quality()
        if layout.masked:
            assert mask is not None, "the layout has a mask, but none was given"
            made[:, layout.part("mask")] = mask
        return made

    def get_state(self) -> dict[str, np.ndarray]:
        """All that it knows, copied."""
        return self.belief.get_state()

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Goes on where `get_state` was called."""
        self.belief.set_state(state)

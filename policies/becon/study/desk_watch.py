"""Desks as seen by an actor: the sight of a desk written down as observations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from policies.becon.observation import Exposed, Feedback, Layout, Observer
from policies.environments.tradeoff_desk import (
    Corruption,
    Desks,
    DeskSettings,
    Drift,
    Outcome,
    Sight,
)


def desk_layout(settings: DeskSettings) -> Layout:
    """Of a desk: the situation (one-hot), stress and backlog are the state's features."""
    return Layout(settings.states + 2, settings.objectives, (settings.actions,))


class Watch:
    """N desks with an observer each; what is seen never holds the truth, `desks` does.

    ```
    watch = Watch(DeskSettings(), corruptions, drifts)
    x = watch.reset(seed=0)                    # (N, D)
    x, outcome = watch.step(actions)
    ```
    """

    def __init__(
        self, settings: DeskSettings, corruption: Sequence[Corruption], drift: Sequence[Drift]
    ) -> None:
        self.desks = Desks(settings, corruption, drift)
        self.observer = Observer(desk_layout(settings), self.desks.number)

    def reset(
        self,
        seed: int | Sequence[int],
        held: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> np.ndarray:
        """A new episode on every desk, as `Desks.reset`: observations (N, D)."""
        sight = self.desks.reset(seed, held)
        return self.observer.first(self._features(sight), _exposed(sight))

    def step(self, action: np.ndarray) -> tuple[np.ndarray, Outcome]:
        """One deal on every desk: the next observations (N, D), and what it came to."""
        outcome = self.desks.step(action)
        sight = self.desks.sight()
        feedback = Feedback(
            action, outcome.reward, outcome.cost, outcome.satisfaction, outcome.alarm
        )
        return self.observer.next(self._features(sight), _exposed(sight), feedback), outcome

    def _features(self, sight: Sight) -> np.ndarray:
        situation = np.eye(self.desks.settings.states)[sight.state]
        return np.column_stack([situation, sight.stress, sight.backlog])


def _exposed(sight: Sight) -> Exposed:
    return Exposed(sight.exposed_preference, sight.exposed_budget, sight.age, sight.fresh)

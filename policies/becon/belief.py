"""What is believed of B clients before anything learned is asked: the two filters and the tracker.

A `Belief` belongs to whoever acts (a router keeps one row per client firm). It sees what that actor
sees, and nothing else: rewards, costs, scores, alarms and the exposed descriptor.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from policies.becon.budget_filter import BudgetFilter, BudgetFilterSettings
from policies.becon.preference_filter import PreferenceFilter, PreferenceFilterSettings
from policies.becon.quality import QUALITIES, QualitySettings, QualityTracker


@dataclass(frozen=True, slots=True)
class BeliefSettings:
    """The constants of its parts."""

    preference: PreferenceFilterSettings = field(default_factory=PreferenceFilterSettings)
    budget: BudgetFilterSettings = field(default_factory=BudgetFilterSettings)
    quality: QualitySettings = field(default_factory=QualitySettings)


def feature_width(objectives: int) -> int:
    """2 K + 2: how many features a belief has."""
    return 2 * objectives + 2


class Belief:
    """Filters and tracker for B clients at once.

    ```
    belief = Belief(batch=64, objectives=3)
    belief.look(exposed_preference, exposed_budget, age, fresh)      # before the first step
    x = belief.features()                            # (64, 8), for the encoder, heads and gates
    belief.learn(reward, cost, satisfaction, alarm)  # after each step ...
    belief.look(exposed_preference, exposed_budget, age, fresh)      # ... and before the next
    ```

    Args:
        batch: B.
        objectives: K.
        settings: The constants.
    """

    def __init__(
        self, batch: int, objectives: int, settings: BeliefSettings = BeliefSettings()
    ) -> None:
        self.preference = PreferenceFilter(batch, objectives, settings.preference)
        self.budget = BudgetFilter(batch, settings.budget)
        self.tracker = QualityTracker(batch, objectives, settings.quality)
        self.age = np.zeros(batch)

    def learn(
        self, reward: np.ndarray, cost: np.ndarray, satisfaction: np.ndarray, alarm: np.ndarray
    ) -> None:
        """What a step came to, and that a step has passed.

        Args:
            reward: (B, K).
            cost: (B,).
            satisfaction: (B,); NaN where there is none.
            alarm: (B,), 1 or 0; NaN where there is none.
        """
        self.tracker.judge(reward, cost, satisfaction, alarm)
        self.preference.update(reward, satisfaction)
        self.budget.update(cost, alarm)
        self.preference.predict()
        self.budget.predict()

    def look(
        self,
        exposed_preference: np.ndarray,
        exposed_budget: np.ndarray,
        age: np.ndarray,
        fresh: np.ndarray,
    ) -> None:
        """The descriptor that is exposed now.

        Args:
            exposed_preference: (B, K).
            exposed_budget: (B,).
            age: (B,), steps since it arrived.
            fresh: bool (B,), whether it arrived just now.
        """
        self.tracker.update(exposed_preference, exposed_budget, self.preference.mean, fresh)
        self.age = age.astype(float)

    def features(self) -> np.ndarray:
        """(B, 2 K + 2): mean of w (K), its deviations (K), mean of d, its deviation."""
        return np.concatenate(
            [
                self.preference.mean,
                self.preference.deviation,
                self.budget.mean[:, None],
                self.budget.deviation[:, None],
            ],
            axis=1,
        )

    def quality(self) -> np.ndarray:
        """(B, 6), in the order of `policies.becon.quality.QUALITIES`."""
        made = self.tracker.features(self.age)
        assert made.shape[1] == len(QUALITIES)
        return made

    def reset(self, rows: np.ndarray) -> None:
        """Clients that are new: bool (B,)."""
        for part in (self.preference, self.budget, self.tracker):
            part.reset(rows)
        self.age[rows] = 0.0

    def get_state(self) -> dict[str, np.ndarray]:
        """All that it knows, copied; keys are `part.name`."""
        state = {"age": self.age.copy()}
        for name, part in self._parts().items():
            state |= {f"{name}.{key}": value for key, value in part.get_state().items()}
        return state

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Goes on where `get_state` was called.

        Raises:
            KeyError: something is missing.
        """
        self.age = state["age"].copy()
        for name, part in self._parts().items():
            part.set_state({key: state[f"{name}.{key}"] for key in part.get_state()})

    def _parts(self) -> dict[str, PreferenceFilter | BudgetFilter | QualityTracker]:
        return {"preference": self.preference, "budget": self.budget, "quality": self.tracker}

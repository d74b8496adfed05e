"""The trade-off desk: a task whose objective drifts, and is told only through a bad line.

A clerk meets one of a few situations a step and picks one of a few deals. A deal pays in several
objectives and costs risk. What the client wants, a preference over the objectives and a budget
for the cost, drifts and is never seen: there is a descriptor of it (noisy, late, with gaps), a
satisfaction score after each deal, and an audit's alarm. The best deal is computable, so what is
lost can be put down to not knowing the task.

`Desks` is the plain core: N desks at once, numpy only; `policies.environments.desk_env` makes one a
gymnasium environment.

Source: our design; shape and constants are those of the note on BECON, sections 2 and 7. Where it
is silent (how cost grows, stress moves and backlog works), docstrings say what was chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, get_args

import numpy as np

Drift = Literal["jumps", "slow", "context", "adversarial"]
DRIFTS: Final[tuple[Drift, ...]] = get_args(Drift)

IDLE: Final = 0
"""The action that does nothing, in every situation."""
IDLE_COST: Final = 0.02
BUDGET_RANGE: Final = (0.1, 0.9)
"""What a budget is drawn from, uniformly; drift keeps it inside, stress may press it lower."""
LEAST_BUDGET: Final = 0.05
STRESS_EFFECT: Final = 0.3
"""Of drift `context`: d = d0 - 0.3 stress."""
ALARM_SLOPE: Final = 25.0
"""An alarm sounds with probability sigmoid(25 (c - d))."""
SATISFACTION_NOISE: Final = 0.03
"""Standard deviation of a satisfaction score around w . r."""


@dataclass(frozen=True, slots=True)
class Corruption:
    """What is wrong with the line on which the descriptor comes."""

    noise: float
    """Standard deviation of log w_hat; that of d_hat is 0.15 times as large."""
    delay: int
    """Steps that a reading is old when it arrives."""
    missing: float
    """Probability that no reading arrives; the last is then held, and its age grows."""
    bias: float
    """Standard deviation of an error that stays for the episode; for d_hat 0.15 times."""
    feedback: bool = True
    """Whether satisfaction scores and alarms arrive at all."""


CORRUPTIONS: Final[Mapping[str, Corruption]] = MappingProxyType(
    {
        "clean": Corruption(0.05, 0, 0.0, 0.0),
        "moderate": Corruption(0.5, 2, 0.3, 0.2),
        "severe": Corruption(1.0, 6, 0.6, 0.5),
        "no_feedback": Corruption(0.3, 1, 0.1, 0.0, feedback=False),
    }
)
"""The note's four regimes."""
PERFECT: Final = Corruption(0.0, 0, 0.0, 0.0)
"""A line that tells the truth."""
BUDGET_NOISE_SHARE: Final = 0.15


@dataclass(frozen=True, slots=True)
class DeskSettings:
    """What kind of desk."""

    states: int = 3
    actions: int = 12
    objectives: int = 3
    length: int = 64
    """Steps of an episode; it ends by termination."""
    hazard: float = 1 / 24
    """Probability of a jump per step."""
    backlog_share: float = 0.0
    """Alpha of c = (1 - alpha) cost(s, a) + alpha q', q' the backlog after the deal. With 0 the
    best deal is the best of this step; with 0.6 (level 2) deals are paid off later."""
    backlog_memory: float = 0.8
    """Rho of q' = rho q + (1 - rho) cost(s, a)."""
    freeze: int = 16
    """Steps for which drift `adversarial` freezes the descriptor when a jump occurs."""
    tables: int = 0
    """Seed of what deals pay and cost."""


ACCUMULATING: Final = DeskSettings(backlog_share=0.6)
"""The variant of level 2."""


@dataclass(frozen=True, slots=True)
class Tables:
    """What deals pay and cost; action `IDLE` does nothing."""

    reward: np.ndarray
    """float64 (states, actions, K)."""
    cost: np.ndarray
    """float64 (states, actions), in (0, 1)."""

    @classmethod
    def drawn(cls, settings: DeskSettings) -> Tables:
        """Rewards Dirichlet(0.6) times U(0.6, 1.2); cost grows with the sum of the rewards.

        cost = 0.05 + 0.9 (total - 0.6) / 0.6 + N(0, 0.15), clipped to 0.05..0.95.
        """
        rng = np.random.default_rng([settings.tables, 0])
        shape = (settings.states, settings.actions)
        total = rng.uniform(0.6, 1.2, shape)
        reward = rng.dirichlet(np.full(settings.objectives, 0.6), shape) * total[..., None]
        cost = 0.05 + 0.9 * (total - 0.6) / 0.6 + rng.normal(0.0, 0.15, shape)
        cost = np.clip(cost, 0.05, 0.95)
        reward[:, IDLE] = 0.0
        cost[:, IDLE] = IDLE_COST
        return cls(reward, cost)

    def best(self, state: np.ndarray, preference: np.ndarray, budget: np.ndarray) -> np.ndarray:
        """The best deal of this step: most w . r among those with cost <= d.

        Args:
            state: int (N,).
            preference: (N, K).
            budget: (N,).

        Returns:
            int (N,); `IDLE` where nothing is affordable.
        """
        worth = np.einsum("nak,nk->na", self.reward[state], preference)
        affordable = self.cost[state] <= budget[:, None]
        affordable[:, IDLE] = True
        return np.asarray(np.where(affordable, worth, -np.inf).argmax(axis=1))


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen before step t; everything is float64 with a leading axis N."""

    state: np.ndarray
    """int (N,)."""
    stress: np.ndarray
    """(N,), in 0..1."""
    backlog: np.ndarray
    """(N,), in 0..1."""
    exposed_preference: np.ndarray
    """(N, K), sums to 1."""
    exposed_budget: np.ndarray
    """(N,)."""
    age: np.ndarray
    """(N,): steps since a reading arrived."""
    fresh: np.ndarray
    """bool (N,): a reading arrived this step."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step came to; everything has a leading axis N."""

    reward: np.ndarray
    """float64 (N, K)."""
    cost: np.ndarray
    """float64 (N,)."""
    satisfaction: np.ndarray
    """float64 (N,); NaN where no feedback arrives."""
    alarm: np.ndarray
    """float64 (N,), 0 or 1; NaN where no feedback arrives."""
    preference: np.ndarray
    """float64 (N, K): the truth during the step, for labels and metrics only."""
    budget: np.ndarray
    """float64 (N,): the same."""


@dataclass(frozen=True, slots=True)
class Course:
    """All that happens to N desks whatever they do: T + 1 steps, time on the second axis."""

    state: np.ndarray
    stress: np.ndarray
    preference: np.ndarray
    """(N, T + 1, K)."""
    budget: np.ndarray
    jumped: np.ndarray
    """bool (N, T + 1): the context of this step is new; never at step 0."""
    exposed_preference: np.ndarray
    exposed_budget: np.ndarray
    age: np.ndarray
    fresh: np.ndarray


class Desks:
    """N desks in step.

    ```
    desks = Desks(DeskSettings(), [CORRUPTIONS["severe"]] * 64, ["jumps"] * 64)
    sight = desks.reset(seed=0)
    for _ in range(desks.settings.length):
        outcome = desks.step(actions)       # int (64,)
        sight = desks.sight()
    ```

    Contexts, descriptors, situations and the luck of the feedback come from streams of their own,
    so that with one seed every policy meets the same course of events.

    Args:
        settings: What kind.
        corruption: N of them.
        drift: N of them.

    Raises:
        ValueError: the two are of unequal length, or a drift is unknown.
    """

    def __init__(
        self, settings: DeskSettings, corruption: Sequence[Corruption], drift: Sequence[Drift]
    ) -> None:
        if len(corruption) != len(drift):
            raise ValueError(f"{len(corruption)} corruptions but {len(drift)} drifts")
        if unknown := set(drift) - set(DRIFTS):
            raise ValueError(f"drift {sorted(unknown)[0]!r}: must be one of {', '.join(DRIFTS)}")
        self.settings = settings
        self.tables = Tables.drawn(settings)
        self.number = len(drift)
        self.corruption = tuple(corruption)
        self.drift = tuple(drift)
        self._feedback = np.array([each.feedback for each in corruption])
        self._now = 0
        self._backlog = np.zeros(self.number)

    def reset(
        self,
        seed: int | Sequence[int],
        held: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> Sight:
        """A new episode on every desk; what comes is a function of the seed.

        Args:
            seed: Of everything.
            held: Preferences (N, K) and budgets (N,) that hold throughout, instead of drifting:
                for sweeps over preferences.
        """
        streams = np.random.SeedSequence(seed).spawn(4)
        situations, contexts, line, feedback = (np.random.default_rng(s) for s in streams)
        shape = (self.number, self.settings.length + 1)
        stress = _reflected(situations.normal(0.0, 0.1, shape), situations.uniform(size=shape[0]))
        preference, budget, jumped = self._contexts(contexts, stress)
        if held is not None:
            preference = np.repeat(held[0][:, None], shape[1], axis=1)
            budget = np.repeat(held[1][:, None], shape[1], axis=1)
            jumped = np.zeros(shape, dtype=bool)
        exposed_preference, exposed_budget, fresh, age = self._exposed(
            line, preference, budget, jumped
        )
        self.course = Course(
            state=situations.integers(self.settings.states, size=shape),
            stress=stress,
            preference=preference,
            budget=budget,
            jumped=jumped,
            exposed_preference=exposed_preference,
            exposed_budget=exposed_budget,
            age=age,
            fresh=fresh,
        )
        self._noise = feedback.normal(0.0, SATISFACTION_NOISE, shape)
        self._luck = feedback.uniform(size=shape)
        self._now = 0
        self._backlog = np.zeros(self.number)
        return self.sight()

    @property
    def now(self) -> int:
        """Steps done in this episode."""
        return self._now

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self._now >= self.settings.length

    def sight(self) -> Sight:
        """What is seen now; after the last step, too (for a critic)."""
        t, course = self._now, self.course
        shown = (course.exposed_preference, course.exposed_budget, course.age, course.fresh)
        descriptor = (each[:, t] for each in shown)
        return Sight(course.state[:, t], course.stress[:, t], self._backlog.copy(), *descriptor)

    def truth(self) -> tuple[np.ndarray, np.ndarray]:
        """The preference (N, K) and the budget (N,) that hold now: for oracles and metrics."""
        return self.course.preference[:, self._now], self.course.budget[:, self._now]

    def step(self, action: np.ndarray) -> Outcome:
        """One deal on every desk.

        Args:
            action: int (N,).

        Raises:
            RuntimeError: the episode is over.
        """
        if self.done:
            raise RuntimeError("the episode is over: call reset")
        settings, t = self.settings, self._now
        state = self.course.state[:, t]
        reward, load = self.tables.reward[state, action], self.tables.cost[state, action]
        memory, share = settings.backlog_memory, settings.backlog_share
        self._backlog = memory * self._backlog + (1.0 - memory) * load
        cost = (1.0 - share) * load + share * self._backlog
        preference, budget = self.truth()
        satisfaction = (preference * reward).sum(axis=1) + self._noise[:, t]
        alarm = self._luck[:, t] < 1.0 / (1.0 + np.exp(-ALARM_SLOPE * (cost - budget)))
        self._now += 1
        return Outcome(
            reward,
            cost,
            np.where(self._feedback, satisfaction, np.nan),
            np.where(self._feedback, alarm.astype(float), np.nan),
            preference,
            budget,
        )

    def _contexts(
        self, rng: np.random.Generator, stress: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        number, steps, k = self.number, self.settings.length + 1, self.settings.objectives
        slow = np.array([each == "slow" for each in self.drift])
        pressed = np.array([each == "context" for each in self.drift])
        drawn_w = rng.dirichlet(np.ones(k), (number, steps))
        drawn_d = rng.uniform(*BUDGET_RANGE, (number, steps))
        jumped = (rng.uniform(size=(number, steps)) < self.settings.hazard) & ~slow[:, None]
        jumped[:, 0] = False
        step_w, step_d = rng.normal(size=(number, steps, k)), rng.normal(size=(number, steps))
        preference, budget = np.empty((number, steps, k)), np.empty((number, steps))
        w, d = drawn_w[:, 0], drawn_d[:, 0]
        for t in range(steps):
            if t:
                wandered = np.exp(np.log(np.maximum(w, 1e-6)) + 0.03 * step_w[:, t])
                w = np.where(slow[:, None], wandered / wandered.sum(axis=1, keepdims=True), w)
                d = np.where(slow, np.clip(d + 0.01 * step_d[:, t], *BUDGET_RANGE), d)
                w = np.where(jumped[:, t, None], drawn_w[:, t], w)
                d = np.where(jumped[:, t], drawn_d[:, t], d)
            preference[:, t], budget[:, t] = w, d
        effect = STRESS_EFFECT * stress * pressed[:, None]
        return preference, np.maximum(budget - effect, LEAST_BUDGET), jumped

    def _exposed(
        self,
        rng: np.random.Generator,
        preference: np.ndarray,
        budget: np.ndarray,
        jumped: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        number, steps, k = preference.shape
        noise, missing, bias = (
            np.array([getattr(each, name) for each in self.corruption])
            for name in ("noise", "missing", "bias")
        )
        delay = np.array([each.delay for each in self.corruption])
        rows = np.arange(number)[:, None]
        source = np.maximum(np.arange(steps)[None, :] - delay[:, None], 0)
        error_w = noise[:, None, None] * rng.normal(size=(number, steps, k))
        error_w += (bias[:, None] * rng.normal(size=(number, k)))[:, None, :]
        error_d = noise[:, None] * rng.normal(size=(number, steps))
        error_d += (bias * rng.normal(size=number))[:, None]
        read_w = np.log(np.maximum(preference[rows, source], 1e-6)) + error_w
        read_w = np.exp(read_w - read_w.max(axis=2, keepdims=True))
        read_w /= read_w.sum(axis=2, keepdims=True)
        read_d = np.clip(budget[rows, source] + BUDGET_NOISE_SHARE * error_d, 0.01, 0.99)
        fresh = rng.uniform(size=(number, steps)) >= missing[:, None]
        fresh[:, 0] = True  # something must be held
        frozen = _within(jumped, self.settings.freeze)
        frozen &= np.array([each == "adversarial" for each in self.drift])[:, None]
        shown = np.where(fresh & ~frozen, np.arange(steps)[None, :], 0)
        shown = np.maximum.accumulate(shown, axis=1)
        arrived = np.maximum.accumulate(np.where(fresh, np.arange(steps)[None, :], 0), axis=1)
        age = (np.arange(steps)[None, :] - arrived).astype(float)
        return read_w[rows, shown], read_d[rows, shown], fresh, age


def _within(events: np.ndarray, steps: int) -> np.ndarray:
    """Whether an event was at most steps - 1 steps ago, itself included: bool like `events`."""
    if not steps:
        return np.zeros_like(events)
    seen = events.copy()
    for back in range(1, steps):
        seen[:, back:] |= events[:, :-back]
    return seen


def _reflected(steps: np.ndarray, start: np.ndarray) -> np.ndarray:
    """A random walk (N, T) that is mirrored at 0 and 1."""
    walked = np.cumsum(steps, axis=1) - steps[:, :1] + start[:, None]
    return np.asarray(1.0 - np.abs(1.0 - np.mod(walked, 2.0)))

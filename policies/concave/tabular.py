"""Finite worlds with a vector of rewards: exact returns and advantages, and trajectories.

All returns and values are normalised by 1 - gamma, so that they have the size of one reward:
J = (1 - gamma) E[sum of gamma^t r_t].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from policies.concave.scalarisation import Array, Scalarisation
from services.errors import HanseError


@dataclass(frozen=True, slots=True)
class Rollouts:
    """Recorded trajectories, n of them, of H steps at most."""

    states: np.ndarray
    """int (n, H + 1), the last one included."""
    actions: np.ndarray
    """int (n, H)."""
    rewards: Array
    """(n, H, M)."""
    taken: np.ndarray
    """bool (n, H): steps before a trajectory was stopped."""
    weight: Array
    """(H,): what a step counts for in the return, without 1 - gamma."""
    gamma: float

    @property
    def returns(self) -> Array:
        """(n, M)."""
        counted = self.taken * self.weight
        return np.asarray((1 - self.gamma) * np.einsum("nh,nhm->nm", counted, self.rewards))


@dataclass(frozen=True, slots=True, eq=False)
class TabularWorld:
    """S states, A actions, M rewards. Policies are (..., S, A), rows that sum to 1."""

    transitions: Array
    """(S, A, S)."""
    rewards: Array
    """(S, A, M), means."""
    start: Array
    """(S,)."""
    gamma: float
    noise: float = 0.0
    """Standard deviation of a reward, Gaussian."""

    def __post_init__(self) -> None:
        """Refuses shapes that do not fit and rows that are no distributions."""
        states, actions = self.transitions.shape[:2]
        fits = self.transitions.shape == (states, actions, states)
        if not fits or self.rewards.shape[:2] != (states, actions) or len(self.start) != states:
            raise HanseError(
                f"TabularWorld: transitions {self.transitions.shape}, rewards {self.rewards.shape}"
                f" and start {self.start.shape} do not fit; they must be (S, A, S), (S, A, M), (S,)"
            )
        for name, rows in (("transitions", self.transitions), ("start", self.start)):
            if (rows < 0).any() or not np.allclose(rows.sum(axis=-1), 1.0):
                raise HanseError(f"TabularWorld: {name} must be distributions: sums of 1, none < 0")
        if not 0 <= self.gamma < 1:
            raise HanseError(f"TabularWorld: gamma must be in [0, 1), not {self.gamma}")

    @property
    def horizon(self) -> int:
        """Steps after which at most 1e-4 of the weight is left: a shorter one biases returns."""
        if self.gamma == 0:
            return 1
        return int(np.ceil(np.log(1e-4) / np.log(self.gamma)))

    def values(self, policy: Array) -> Array:
        """(..., S, M), exact and normalised."""
        moves = np.einsum("...sa,sat->...st", policy, self.transitions)
        rewards = np.einsum("...sa,sam->...sm", policy, self.rewards)
        system = np.eye(len(self.start)) - self.gamma * moves
        return np.asarray(np.linalg.solve(system, (1 - self.gamma) * rewards))

    def expected(self, policy: Array) -> Array:
        """J, (..., M)."""
        return np.asarray(np.einsum("s,...sm->...m", self.start, self.values(policy)))

    def advantages(self, policy: Array) -> Array:
        """(..., S, A, M), in the units of J: Q - V."""
        values = self.values(policy)
        following = np.einsum("sat,...tm->...sam", self.transitions, values)
        better = (1 - self.gamma) * self.rewards + self.gamma * following
        return np.asarray(better - values[..., None, :])

    def occupancy(self, policy: Array) -> Array:
        """(..., S, A), the discounted share of time; sums to 1, and J = its sum with rewards."""
        moves = np.einsum("...sa,sat->...ts", policy, self.transitions)
        system = np.eye(len(self.start)) - self.gamma * moves
        start = np.broadcast_to((1 - self.gamma) * self.start[:, None], (*system.shape[:-1], 1))
        visits = np.linalg.solve(system, start)
        return np.asarray(visits * policy)

    def policy_of(self, occupancy: Array) -> Array:
        """The policy that has an occupancy; uniform where nothing is visited."""
        visits = occupancy.sum(axis=-1, keepdims=True)
        shared = np.full(occupancy.shape, 1.0 / occupancy.shape[-1])
        return np.asarray(np.divide(occupancy, visits, out=shared, where=visits > 0))

    def roll_out(
        self,
        policy: Array,
        n: int,
        rng: np.random.Generator,
        *,
        horizon: int | None = None,
        stopping: bool = False,
        owner: np.ndarray | None = None,
    ) -> Rollouts:
        """Plays trajectories.

        Args:
            policy: (S, A), or (R, S, A) with `owner`.
            n: How many.
            rng: What they are drawn from.
            horizon: Steps; None: so many that truncation does not matter.
            stopping: Stop each step with probability 1 - gamma and add rewards up undiscounted
                instead: no truncation at all, but more variance. Then a `horizon` is not heeded.
            owner: int (n,), the policy of each trajectory.
        """
        owners = np.zeros(n, dtype=int) if owner is None else owner
        acts = np.cumsum(policy.reshape(-1, *self.rewards.shape[:2]), axis=-1)[..., :-1]
        moves = np.cumsum(self.transitions, axis=-1)[..., :-1]
        steps = horizon or self.horizon
        length = np.full(n, steps)
        if stopping:
            length = rng.geometric(1 - self.gamma, n)
            steps = int(length.max())
        states = np.zeros((n, steps + 1), dtype=int)
        actions = np.zeros((n, steps), dtype=int)
        states[:, 0] = np.searchsorted(np.cumsum(self.start)[:-1], rng.random(n), side="right")
        for step in range(steps):
            luck = rng.random((2, n, 1))
            here = states[:, step]
            actions[:, step] = (luck[0] >= acts[owners, here]).sum(axis=1)
            states[:, step + 1] = (luck[1] >= moves[here, actions[:, step]]).sum(axis=1)
        rewards = self.rewards[states[:, :-1], actions]
        if self.noise:
            rewards = rewards + self.noise * rng.normal(size=rewards.shape)
        weight = np.asarray((1.0 if stopping else self.gamma) ** np.arange(steps))
        return Rollouts(
            states, actions, rewards, np.arange(steps) < length[:, None], weight, self.gamma
        )

    def optimum(self, f: Scalarisation) -> tuple[float, Array]:
        """The largest f(J) and a policy that has it: a concave programme over occupancies.

        Raises:
            RuntimeError: it was not found.
        """
        from scipy.optimize import minimize

        states, actions, objectives = self.rewards.shape
        flows = np.repeat(np.eye(states), actions, axis=0).reshape(states, actions, states)
        balance = (flows - self.gamma * self.transitions).reshape(-1, states).T
        table = self.rewards.reshape(-1, objectives)
        uniform = np.full((states, actions), 1.0 / actions)
        found = minimize(
            lambda d: -float(f.value(d @ table)),
            self.occupancy(uniform).ravel(),
            jac=lambda d: -table @ f.grad(d @ table),
            bounds=[(0.0, 1.0)] * (states * actions),
            constraints={
                "type": "eq",
                "fun": lambda d: balance @ d - (1 - self.gamma) * self.start,
                "jac": lambda d: balance,
            },
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 1000},
        )
        if not found.success:
            raise RuntimeError(f"no optimum found: {found.message}")
        best = self.policy_of(np.clip(found.x, 0.0, None).reshape(states, actions))
        return float(f.value(self.expected(best))), best


def bandit(means: Array, noise: float) -> TabularWorld:
    """One state, an arm for each row of means (A, M); a trajectory is one pull."""
    arms = len(means)
    return TabularWorld(np.ones((1, arms, 1)), np.asarray(means)[None], np.ones(1), 0.0, noise)


def random_world(
    seed: int, *, states: int = 4, actions: int = 3, gamma: float = 0.9
) -> TabularWorld:
    """Random transitions, and two rewards in [0, 1] that are mostly against each other."""
    rng = np.random.default_rng(seed)
    transitions = rng.dirichlet(np.ones(states), (states, actions))
    first, own = rng.random((2, states, actions))
    start = np.full(states, 1.0 / states)
    return TabularWorld(
        transitions, np.stack([first, 0.75 * (1 - first) + 0.25 * own], axis=-1), start, gamma
    )

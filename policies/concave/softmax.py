"""A softmax policy on a finite world, as a task for the natural policy gradient.

With a parameter for each state and action the natural gradient is known without any regression:
theta(s, a) += rate / (1 - gamma) A_omega(s, a). With features it is the regression of advantages on
scores, from the world's own table or from trajectories.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from policies.concave.natural_gradient import Solver, natural_direction
from policies.concave.scalarisation import Array
from policies.concave.tabular import Rollouts, TabularWorld
from services.errors import HanseError

Source = Literal["exact", "sampled"]


@dataclass(frozen=True, slots=True, eq=False)
class SoftmaxTask:
    """The task of `policies.concave.ascent` on a finite world."""

    world: TabularWorld
    features: Array | None = None
    """(S, A, P), of linear preferences; None: a parameter for each state and action."""
    advantages: Source = "sampled"
    """Whether advantages are the world's own, or estimated from trajectories."""
    lambda_: float = 0.95
    """Of generalised advantage estimation."""
    ridge: float = 1e-3
    solver: Solver = "lstsq"
    horizon: int | None = None
    """Steps of a trajectory; None: so many that truncation does not matter."""
    stopping: bool = False
    """Geometric stopping instead of a horizon."""

    def __post_init__(self) -> None:
        """Refuses features of another world and a horizon that biases returns."""
        shape = self.world.rewards.shape[:2]
        if self.features is not None and self.features.shape[:2] != shape:
            raise HanseError(
                f"SoftmaxTask: features must be {(*shape, 'P')}, not {self.features.shape}"
            )
        if self.horizon is not None and self.horizon < self.world.horizon:
            raise HanseError(
                f"SoftmaxTask: horizon {self.horizon} would leave gamma^{self.horizon} ="
                f" {self.world.gamma**self.horizon:.2g} of the weight out, a bias that no batch"
                f" removes; take {self.world.horizon} or more, or stopping=True"
            )

    def start(self) -> Array:
        """Zeros: the uniform policy."""
        states, actions = self.world.rewards.shape[:2]
        return np.zeros(states * actions if self.features is None else self.features.shape[2])

    def policy(self, parameters: Array) -> Array:
        """(S, A)."""
        shape = self.world.rewards.shape[:2]
        if self.features is None:
            preferences = parameters.reshape(shape)
        else:
            preferences = self.features @ parameters
        return softmax(preferences)

    def expected(self, parameters: Array) -> Array:
        """J, exact."""
        return self.world.expected(self.policy(parameters))

    def roll_out(self, parameters: Array, n: int, rng: np.random.Generator) -> Rollouts:
        """Plays n trajectories."""
        return self.world.roll_out(
            self.policy(parameters), n, rng, horizon=self.horizon, stopping=self.stopping
        )

    def returns(self, rollouts: Rollouts) -> Array:
        """(n, M)."""
        return rollouts.returns

    def direction(self, parameters: Array, rollouts: Rollouts | None, omega: Array) -> Array:
        """The natural gradient of omega . J; without trajectories it is the exact one."""
        policy = self.policy(parameters)
        scale = 1.0 / (1.0 - self.world.gamma)
        if rollouts is None:
            exact = self.world.advantages(policy) @ omega
            if self.features is None:
                return np.asarray(scale * exact).ravel()
            scores = self._scores(policy).reshape(exact.size, -1)
            weights = self.world.occupancy(policy).ravel()
            return scale * self._regression(scores, exact.ravel(), weights)
        states, actions = rollouts.states[:, :-1], rollouts.actions
        worth = vector_advantages(rollouts, self.lambda_) @ omega
        weights = rollouts.taken * rollouts.weight
        used = weights > 0
        scores = self._scores(policy)[states[used], actions[used]]
        return scale * self._regression(scores, worth[used], weights[used])

    def divergence(self, old: Array, new: Array) -> float:
        """KL(old || new), mean over the time that `old` spends in each state."""
        before, after = self.policy(old), self.policy(new)
        terms = before * (np.log(before + 1e-300) - np.log(after + 1e-300))
        visits = self.world.occupancy(before).sum(axis=-1)
        return float(visits @ terms.sum(axis=-1))

    def mixture(self, several: list[Array]) -> Array:
        """The policy (S, A) that spends its time like playing one of several, drawn at the start.

        Its J is the mean of theirs, which the mean of their parameters or policies is not.
        """
        occupancies = [self.world.occupancy(self.policy(each)) for each in several]
        return self.world.policy_of(np.mean(occupancies, axis=0))

    def _regression(self, scores: Array, worth: Array, weights: Array) -> Array:
        return natural_direction(
            scores, worth, weights=weights, ridge=self.ridge, solver=self.solver
        )

    def _scores(self, policy: Array) -> Array:
        """(S, A, P): features less their mean under the policy."""
        features = self.features
        if features is None:
            states, actions = policy.shape
            features = np.eye(states * actions).reshape(states, actions, -1)
        return np.asarray(features - np.einsum("sa,sap->sp", policy, features)[:, None])


def softmax(preferences: Array) -> Array:
    """Along the last axis."""
    risen = np.exp(preferences - preferences.max(axis=-1, keepdims=True))
    return np.asarray(risen / risen.sum(axis=-1, keepdims=True))


def fitted_values(rollouts: Rollouts) -> Array:
    """V of every state that occurs, (S, M), normalised: least-squares temporal differences."""
    gamma, used = rollouts.gamma, rollouts.taken
    here, there = rollouts.states[:, :-1][used], rollouts.states[:, 1:][used]
    rewards = (1 - gamma) * rollouts.rewards[used]
    number = int(rollouts.states.max()) + 1
    system = np.zeros((number, number))
    np.add.at(system, (here, here), 1.0)
    np.add.at(system, (here, there), -gamma)
    right = np.zeros((number, rewards.shape[1]))
    np.add.at(right, here, rewards)
    # A state seen only as the last one of a trajectory has no row of its own.
    system += 1e-9 * np.eye(number)
    return np.asarray(np.linalg.solve(system, right))


def vector_advantages(rollouts: Rollouts, lambda_: float) -> Array:
    """Generalised advantages (n, H, M), normalised, by a critic fitted to the same trajectories.

    arXiv 1506.02438, equation 16, for every objective by itself; 0 after a trajectory was stopped.
    """
    values = fitted_values(rollouts)[rollouts.states]
    gamma, taken = rollouts.gamma, rollouts.taken[..., None]
    surprise = (1 - gamma) * rollouts.rewards + gamma * values[:, 1:] - values[:, :-1]
    surprise = np.where(taken, surprise, 0.0)
    made = np.zeros_like(surprise)
    running = np.zeros_like(surprise[:, 0])
    for step in range(surprise.shape[1] - 1, -1, -1):
        running = surprise[:, step] + gamma * lambda_ * running
        made[:, step] = running
    return np.asarray(np.where(taken, made, 0.0))

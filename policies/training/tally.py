"""What a firm has come to in an episode: net income, each objective, cost; and how good that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

PROFIT_ALONE = "profit"


@dataclass(frozen=True, slots=True)
class Outcome:
    """An episode of a firm, or the mean of several."""

    net_income: float
    """Dollars."""
    objectives: dict[str, float]
    """Each objective's sum over the episode, divided by the days of the league."""
    cost: float
    """The mean over the steps until the run's end or the firm's bankruptcy, 0 to 1."""


class Tally:
    """Sums up an episode from its infos.

    Args:
        objectives: The names of the vector reward's components.
        days: Of the league.
    """

    def __init__(self, objectives: Sequence[str], days: int) -> None:
        self._names = tuple(objectives)
        self._days = days
        self.begin()

    def begin(self) -> None:
        """Begins anew."""
        self._sums = np.zeros(len(self._names))
        self._cost = 0.0
        self._steps = 0
        self._net_income = 0.0
        self._gone = False

    def add(self, info: Mapping[str, Any]) -> None:
        """Takes the info of a step; steps after that of a firm's bankruptcy do not count."""
        if self._gone:
            return
        self._sums += info["vector_reward"]
        self._cost += float(info["cost"])
        self._steps += 1
        self._net_income = float(info["net_income"])
        self._gone = bool(info["bankrupt"])

    def outcome(self) -> Outcome:
        """What it has come to so far."""
        a_day = (self._sums / self._days).tolist()
        cost = self._cost / max(self._steps, 1)
        return Outcome(self._net_income, dict(zip(self._names, a_day, strict=True)), cost)


def mean(outcomes: Iterable[Outcome]) -> Outcome:
    """The mean of at least one episode; the same number of leagues' days in each."""
    given = list(outcomes)
    return Outcome(
        float(np.mean([one.net_income for one in given])),
        {
            name: float(np.mean([one.objectives[name] for one in given]))
            for name in given[0].objectives
        },
        float(np.mean([one.cost for one in given])),
    )


def profit_alone(weights: Mapping[str, float]) -> bool:
    """Whether nothing but profit counts."""
    return all(weight == 0 or name == PROFIT_ALONE for name, weight in weights.items())


def score(outcome: Outcome, weights: Mapping[str, float]) -> float:
    """How good an episode is: net income if profit alone counts, else the weighted objectives.

    Args:
        outcome: What it has come to.
        weights: Of the objectives; they sum to 1.

    Returns:
        Dollars, or the mean reward of a day.
    """
    if profit_alone(weights):
        return outcome.net_income
    return sum(weight * outcome.objectives[name] for name, weight in weights.items())

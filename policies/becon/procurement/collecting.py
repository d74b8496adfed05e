"""Plays leagues for learning: a roaster whose purchasing is somebody's, and what its days came to.

An episode is the league's own run without hosts (`policies.environments.episode`), so what is
learned is learned on the rules by which the league is played.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from policies.becon.observation import Layout
from policies.becon.procurement.buyer import BeconBuyer, Bought, Explorer, Word
from policies.becon.procurement.levers import Sight, layout
from policies.environments.procurement import OBJECTIVES
from policies.environments.procurement_episode import ProcurementEpisode
from services.config import RunConfig, standard

if TYPE_CHECKING:
    from random import Random

    from policies.becon.procurement.buyer import Buyer

FIRM: Final = "roaster_A"
CONTROLLER: Final = "buyer"
DRIFT: Final = "jumps"


def league(
    seed: int, line: str, days: int = 90, drift: str = DRIFT, **controller: Any
) -> RunConfig:
    """The standard league, in which a controller does ``roaster_A``'s purchasing.

    Args:
        seed: Of everything.
        line: How badly the firm's word comes through.
        days: Of the run.
        drift: How what the firm wants changes.
        controller: Keys of the controller; by default it is the base-stock rule.
    """
    values = standard().dump()
    for firm in values["firms"]:
        if firm["name"] == FIRM:
            firm.update(
                strategy="managed", controller=CONTROLLER, options={"drift": drift, "line": line}
            )
    buyer = {"name": CONTROLLER, **controller}
    return RunConfig.parse(
        {**values, "name": "procurement", "seed": seed, "days": days, "controllers": [buyer]},
        "procurement",
    )


@dataclass(frozen=True, slots=True)
class Played:
    """One firm's days in one episode, T of them; the last day of a run has no outcome."""

    reward: NDArray[np.float64]
    """(T, K)."""
    cost: NDArray[np.float64]
    """(T,)."""
    preference: NDArray[np.float64]
    """(T, K): the truth."""
    budget: NDArray[np.float64]
    """(T,): the truth."""
    jumped: NDArray[np.bool_]
    """(T,)."""

    @property
    def truth(self) -> NDArray[np.float64]:
        """(T, K + 1)."""
        return np.column_stack([self.preference, self.budget])


def played(outcomes: list[dict[str, Any]]) -> Played:
    """What events ``purchasing_outcome`` tell."""

    def by_objective(name: str) -> NDArray[np.float64]:
        return np.array([[each[name][k] for k in OBJECTIVES] for each in outcomes])

    return Played(
        by_objective("reward"),
        np.array([each["cost"] for each in outcomes]),
        by_objective("weights"),
        np.array([each["budget"] for each in outcomes]),
        np.array([each["jumped"] for each in outcomes], dtype=bool),
    )


def play(config: RunConfig, buyer: Buyer) -> Played:
    """One episode in which ``buyer`` does the purchasing."""
    from actors.controlling import PolicyController

    controller = PolicyController(CONTROLLER, lambda: buyer)
    episode = ProcurementEpisode(config, {CONTROLLER: controller})
    episode.proceed()
    return played(episode.outcomes(FIRM))


@dataclass(frozen=True, slots=True)
class Held:
    """Days of exploring, one row each: what holding levers from that day on came to."""

    state: NDArray[np.float64]
    """(M, F)."""
    levels: NDArray[np.int64]
    """(M, 4)."""
    worth: NDArray[np.float64]
    """(M, K): the mean reward of a day over the days ahead."""


def explored(
    seeds: list[int], hold: int, horizon: int, days: int = 90, line: str = "clean"
) -> Held:
    """Explores leagues by chance.

    Args:
        seeds: One league each.
        hold: Days for which levers are held.
        horizon: Over how many days a reward is averaged; only days from which levers are still held
            for so long count.
        days: Of a league.
        line: Of the firm; its word is not listened to.
    """
    states, levels, worths = [], [], []
    for seed in seeds:
        explorer = Explorer(hold)
        reward = play(league(seed, line, days), explorer).reward
        for day, (state, chosen, left) in enumerate(explorer.days):
            if left >= horizon and day + horizon <= len(reward):
                states.append(state)
                levels.append(chosen)
                worths.append(reward[day : day + horizon].mean(axis=0))
    return Held(np.array(states), np.array(levels), np.array(worths))


class Watched:
    """A buyer whose observations are kept; now and then it draws its levers by chance."""

    def __init__(self, buyer: BeconBuyer, random_share: float = 0.0) -> None:
        self.buyer, self.random_share = buyer, random_share
        self.seen: list[NDArray[np.float32]] = []

    def decide(self, sight: Sight, word: Word | None, random: Random) -> Bought:
        """As the buyer, or by chance."""
        bought = self.buyer.decide(sight, word, random)
        assert self.buyer.last is not None
        self.seen.append(self.buyer.last)
        if random.random() < self.random_share:
            levels = tuple(random.randrange(n) for n in layout().levels)
            return self.buyer.take(sight, levels)
        return bought

    def get_state(self) -> dict[str, Any]:
        """Nothing: it serves for episodes only."""
        return {}

    def set_state(self, state: Any) -> None:
        """Does nothing."""


def watched(
    config: RunConfig, make: Callable[[Layout], BeconBuyer], random_share: float
) -> tuple[NDArray[np.float32], Played]:
    """One episode of a buyer: its observations (T, D), and what its days came to."""
    watch = Watched(make(layout()), random_share)
    days = play(config, watch)
    return np.stack(watch.seen)[: len(days.cost)], days

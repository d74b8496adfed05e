"""Who does one firm's purchasing: sees a report, believes, decides. numpy only.

It is given what the firm says, never the truth: there is no way in for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from policies.becon.observation import Exposed, Feedback, Layout, Observer
from policies.becon.procurement.forward import Fused, Networks, Source
from policies.becon.procurement.levers import LEVELS, PURSES, Orders, Sight, orders
from policies.becon.procurement.values import Choice, Values
from policies.environments.procurement import COST_UNIT, OBJECTIVES

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Word:
    """What a firm says of its intent, and of its yesterday."""

    told: tuple[Array, float] | None
    """Preference and budget as they arrive; ``None``: they do not."""
    reward: Array | None = None
    """Yesterday, ``(K,)``; ``None`` on the first day."""
    cost: float = 0.0
    score: float = float("nan")
    alarm: float = float("nan")


@dataclass(frozen=True, slots=True)
class Bought:
    """A decision, and what it stands on."""

    orders: Orders
    levels: tuple[int, ...]
    about: dict[str, Any] = field(default_factory=dict)
    """For the event of the decision: what the note asks for (section 9), and the context."""
    context: Fused | None = None


class Buyer(Protocol):
    """Whoever decides for one firm."""

    def decide(self, sight: Sight, word: Word | None, random: Random) -> Bought:
        """The day's decision.

        Args:
            sight: The firm's state.
            word: What it says of its intent; ``None``: it has none.
            random: For who draws.
        """

    def get_state(self) -> dict[str, Any]:
        """All that it remembers, as plain data."""

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Goes on where `get_state` was called."""


class BeconBuyer:
    """Acts by a trained policy.

    Args:
        layout: What lies where in an observation.
        networks: The estimator.
        values: What levers are worth.
        source: Where its context comes from.
        kappa: How many deviations of the budget it holds back.
    """

    def __init__(
        self,
        layout: Layout,
        networks: Networks,
        values: Values,
        source: Source = "gated",
        kappa: float = 0.0,
    ) -> None:
        self.layout, self.networks, self.values = layout, networks, values
        self.source: Source = source
        self.kappa = kappa
        self._observer = Observer(layout, 1)
        self._hidden = np.zeros(networks.hidden)
        self._levels: NDArray[np.int64] | None = None
        """Of yesterday; ``None`` before the first day."""
        k = layout.objectives
        self._held = np.append(np.full(k, 1.0 / k), 0.5)
        """The last preference and budget that have arrived."""
        self._age = 0
        self.last: NDArray[np.float32] | None = None
        """The last observation, for who collects them."""

    def decide(self, sight: Sight, word: Word | None, random: Random) -> Bought:
        """Fuses belief and word, and sets the levers that are best by them.

        A firm without an intent is served as one whose word never comes: by equal weights and half
        the budget.
        """
        x = self.look(sight, word)
        seen = x.astype(np.float64)
        self._hidden = self.networks.encode(seen, self._hidden)
        context = self.networks.context(seen, self._hidden, self.source, self.kappa)
        choice = self.values.best(sight.features(), context.preference, context.safe_budget)
        return self.take(sight, choice.levels, _about(context, choice), context)

    def look(self, sight: Sight, word: Word | None) -> NDArray[np.float32]:
        """The observation ``(D,)``; what was said is taken in."""
        told = None if word is None else word.told
        self._age += 1
        if told is not None:
            self._held, self._age = np.append(*told), 0
        k = self.layout.objectives
        exposed = Exposed(
            self._held[None, :k],
            self._held[None, k],
            np.array([float(self._age)]),
            np.array([told is not None]),
        )
        features = sight.features()[None]
        if self._levels is None or word is None or word.reward is None:
            x = self._observer.first(features, exposed)
        else:
            feedback = Feedback(
                self._levels[None],
                word.reward[None],
                np.array([word.cost]),
                np.array([word.score]),
                np.array([word.alarm]),
            )
            x = self._observer.next(features, exposed, feedback)
        self.last = x[0]
        return self.last

    def take(
        self,
        sight: Sight,
        levels: tuple[int, ...],
        about: dict[str, Any] | None = None,
        context: Fused | None = None,
    ) -> Bought:
        """Settles on levels, which the next observation will tell of."""
        self._levels = np.array(levels, dtype=np.int64)
        return Bought(orders(levels, sight.position), levels, about or {}, context)

    def get_state(self) -> dict[str, Any]:
        """Belief and history, as plain data."""
        return {
            "belief": {name: _packed(array) for name, array in self._observer.get_state().items()},
            "hidden": _packed(self._hidden),
            "held": _packed(self._held),
            "age": self._age,
            "levels": None if self._levels is None else self._levels.tolist(),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Goes on where `get_state` was called."""
        self._observer.set_state({n: _unpacked(value) for n, value in state["belief"].items()})
        self._hidden, self._held = _unpacked(state["hidden"]), _unpacked(state["held"])
        self._age = int(state["age"])
        levels = state["levels"]
        self._levels = None if levels is None else np.array(levels, dtype=np.int64)


def _about(context: Fused, choice: Choice) -> dict[str, Any]:
    return {
        "weights": dict(zip(OBJECTIVES, context.preference.tolist(), strict=True)),
        "budget": context.budget,
        "unit": COST_UNIT,
        "becon.gate_w": float(context.gates[0]),
        "becon.gate_d": float(context.gates[1]),
        "becon.epistemic": float(context.epistemic.max()),
        "becon.lambda": choice.price,
        "becon.budget_safe": context.safe_budget,
    }


def _packed(array: Array) -> list[Any]:
    """Shape and bytes: text would lose what is not a number."""
    return [list(array.shape), np.ascontiguousarray(array, np.float64).tobytes()]


def _unpacked(packed: Any) -> Array:
    shape, data = packed
    return np.frombuffer(data, np.float64).reshape(shape).copy()


class Explorer:
    """Sets levers by chance and holds them for a while: what values are learned from.

    Args:
        hold: Days for which levers are held.
    """

    def __init__(self, hold: int) -> None:
        self.hold = hold
        self._left = 0
        self._levels: tuple[int, ...] = ()
        self.days: list[tuple[NDArray[np.float64], tuple[int, ...], int]] = []
        """State, levels, and for how many days they will be held from here, day by day."""

    def decide(self, sight: Sight, word: Word | None, random: Random) -> Bought:
        """Draws new levers when the old ones have been held long enough."""
        if not self._left:
            self._left = self.hold if self._levels else random.randint(1, self.hold)
            # The purse is small more often than not: there it matters.
            purse = random.choice((random.randrange(len(PURSES)), random.randrange(1, 6)))
            self._levels = (*(random.randrange(n) for n in LEVELS[:-1]), purse)
        self.days.append((sight.features(), self._levels, self._left))
        self._left -= 1
        return Bought(orders(self._levels, sight.position), self._levels)

    def get_state(self) -> dict[str, Any]:
        """Nothing: it serves for episodes only."""
        return {}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Does nothing."""

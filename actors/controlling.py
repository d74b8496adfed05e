"""A controller that acts by a trained policy, named in a run file as ``policy = "policy:FOLDER"``.

It keeps a belief of its own for every firm that it buys for, from what that firm reports and from
nothing else. Each decision is an event ``purchasing_decision`` of the run, with what it stands on.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any

from actors.agent import Agent, handles
from actors.context import Context
from actors.controller import PurchaseOrders, Standing, StockReport
from services.errors import HanseError
from services.messages import Message
from services.strategy_lines import policy_folder

if TYPE_CHECKING:
    from policies.becon.procurement.buyer import Buyer, Word
    from services.config import ControllerConfig
    from services.economy.setup import TownSetup


class PolicyController(Agent):
    """Answers every stock report with the purchase orders of a policy.

    Args:
        name: Its name.
        make: Makes who decides for one firm, which begins without any belief.
        about: What it says of its policy in the run's result.
    """

    essential = True

    def __init__(
        self, name: str, make: Callable[[], Buyer], about: dict[str, Any] | None = None
    ) -> None:
        super().__init__(name)
        self.make = make
        self.about = about or {}
        self.buyers: dict[str, Buyer] = {}
        """Who decides, by firm."""
        self.decisions = 0

    @handles(StockReport)
    def on_stock_report(self, message: Message, context: Context) -> None:
        """Decides and answers at once."""
        from policies.becon.procurement.levers import Sight

        report = message.payload
        assert isinstance(report, StockReport)
        # A firm speaks for itself alone: what it says would otherwise change another's belief.
        firm, standing = message.sender, report.standing
        if firm not in self.buyers:
            self.buyers[firm] = self.make()
        stock = {} if standing is None else standing.stock
        sold = {} if standing is None else standing.sold
        sight = Sight(context.day, report.position, stock, sold)
        draw: Random = context.rng(f"purchasing:{firm}")
        bought = self.buyers[firm].decide(sight, _word(standing), draw)
        self.decisions += 1
        orders = bought.orders
        context.reply(
            message, PurchaseOrders(kg=orders.kg, at_most=orders.at_most, first=orders.first)
        )
        decided = {"kg": orders.kg, "at_most": orders.at_most, "first": orders.first}
        context.record("purchasing_decision", firm, {**decided, **bought.about})

    def save(self) -> Any:
        """How many decisions it has taken, and what it believes of each firm."""
        return {
            "decisions": self.decisions,
            "buyers": {firm: buyer.get_state() for firm, buyer in self.buyers.items()},
        }

    def load(self, saved: Any) -> None:
        """Goes on from :meth:`save`."""
        self.decisions = saved["decisions"]
        self.buyers = {}
        for firm, state in saved["buyers"].items():
            self.buyers[firm] = self.make()
            self.buyers[firm].set_state(state)

    def summary(self) -> dict[str, Any]:
        """How many decisions it has taken, and by which policy."""
        return {"decisions": self.decisions, **self.about}


def _word(standing: Standing | None) -> Word | None:
    import numpy as np

    from policies.becon.procurement.buyer import Word
    from policies.environments.procurement import OBJECTIVES

    if standing is None:
        return None
    told, day = standing.told, standing.yesterday
    heard = None
    if told is not None:
        heard = np.array([told.weights.get(name, 0.0) for name in OBJECTIVES]), told.budget
    if day is None:
        return Word(heard)
    return Word(
        heard,
        np.array([day.reward.get(name, 0.0) for name in OBJECTIVES]),
        day.cost,
        float("nan") if day.score is None else day.score,
        float("nan") if day.alarm is None else float(day.alarm),
    )


def from_config(
    controller: ControllerConfig, setups: list[TownSetup], where: str
) -> PolicyController:
    """The controller of a run file that acts by a policy.

    Args:
        controller: As the run file has it.
        setups: The towns of the firms that it buys for.
        where: What an error names as the place to mend.

    Raises:
        HanseError: the policy is not there, damaged, or does not fit one of the towns.
    """
    from policies.becon.procurement.artefact import check_fit, shared

    assert controller.policy is not None
    try:
        policy = shared(policy_folder(controller.policy) or "")
    except HanseError as error:
        raise HanseError(f"{where}: {error}") from None
    for setup in setups:
        check_fit(policy.manifest, setup, where)
    source, kappa = controller.source, controller.kappa
    about = {"policy": policy.manifest.name, "source": source or policy.manifest.source}
    return PolicyController(controller.name, lambda: policy.buyer(source, kappa), about)

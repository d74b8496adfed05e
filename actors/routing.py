"""Routers that remember how their orders have fared, and one that decides by a trained policy.

A run file names it with ``policy = "policy:FOLDER"`` in ``[[routers]]``, in place of the rule. Each
decision is an event ``routing_decision`` of the run, with what it stands on.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from actors.context import Context
from actors.router import Router
from policies.environments.routing_layout import (
    Candidate,
    Dealings,
    RoutingDecision,
    RoutingLayout,
    RoutingView,
)
from services.economy.abroad import TownQuote, TradeFill, TradeOrder
from services.errors import HanseError
from services.messages import Message
from services.strategy_lines import policy_folder

if TYPE_CHECKING:
    from policies.training.acting import LeversPolicy
    from services.config import RouterConfig
    from services.economy.setup import TownSetup


class RememberingRouter(Router):
    """A router that keeps, for each town, what has become of its orders since the last quote."""

    def __init__(self, name: str, exchanges: dict[str, str] | None = None) -> None:
        super().__init__(name, exchanges=exchanges)
        self._dealings: dict[str, Dealings] = {}
        self._under_way: dict[str, tuple[str, str]] = {}
        """Orders passed on, by message: (town, item)."""

    def quoted(self, quote: TownQuote) -> None:
        """Begins the dealings with a town anew."""
        self._dealings[quote.town] = Dealings()

    def _with(self, town: str) -> Dealings:
        """The dealings with a town; new ones if a rule has dealt with it until now."""
        return self._dealings.setdefault(town, Dealings())

    def answered(self, message: Message) -> None:
        """Notes how an order has fared; one that a rule had passed on is not known here."""
        town, item = self._under_way.pop(message.in_reply_to or "", ("", ""))
        if town:
            answer = message.payload
            self._with(town).filled(item, answer.qty if isinstance(answer, TradeFill) else 0)

    def passed_on(self, order: TradeOrder, town: str, passed: Message) -> None:
        """Notes that an order was passed to a town."""
        self._with(town).asked(order.item, order.qty)
        self._under_way[passed.id] = town, order.item

    def view(self, order: TradeOrder, now: int) -> RoutingView:
        """What there is to decide about an order: the towns that may fill some of it."""
        able = []
        for town in self.able(order):
            quote = self._quotes[town]
            ask, kg = quote.asks[order.item], quote.kg[order.item]
            able.append(Candidate(town, ask, kg, quote.load, self._with(town)))
        able.sort(key=lambda candidate: (candidate.ask, candidate.town))
        return RoutingView(order.item, order.qty, order.max_price, now, able)

    def save(self) -> dict[str, Any]:
        """As any router, with its dealings."""
        return super().save() | {
            "dealings": {town: asdict(dealings) for town, dealings in self._dealings.items()},
            "under_way": self._under_way,
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Goes on from :meth:`save`, also of a router that has gone by a rule."""
        super().load(saved)
        dealings, under_way = saved.get("dealings", {}), saved.get("under_way", {})
        self._dealings = {town: Dealings(**told) for town, told in dealings.items()}
        self._under_way = {key: (town, item) for key, (town, item) in under_way.items()}


class WaitingRouter(RememberingRouter):
    """The router of an episode: it asks the town that it is told to, once for each decision."""

    def __init__(self, name: str, exchanges: dict[str, str]) -> None:
        super().__init__(name, exchanges)
        self.asks: str | None = None
        """The town to ask next; ``None``: the order is refused."""

    def decide(self, order: TradeOrder, context: Context) -> str | None:
        """The town that it was told."""
        asked, self.asks = self.asks, None
        return asked


class PolicyRouter(RememberingRouter):
    """Asks the town that a policy likes best among those that may fill the order.

    Args:
        name: Its name.
        policy: What decides.
        setup: Any town of the league.
        exchanges: The exchange of every town.
    """

    def __init__(
        self, name: str, policy: LeversPolicy, setup: TownSetup, exchanges: dict[str, str]
    ) -> None:
        super().__init__(name, exchanges)
        self.policy = policy
        self.layout = RoutingLayout(policy.counts[0], setup)
        self.decision = RoutingDecision(policy.counts[0])

    def decide(self, order: TradeOrder, context: Context) -> str | None:
        """The town to ask; ``None`` if none may fill the order."""
        view = self.view(order, context.now)
        if not view.candidates:
            return None
        seen, mask = self.layout.encode(view), self.decision.mask(view)
        rank = int(self.policy.act(seen, mask)[0])
        chosen = view.candidates[rank]
        body = {
            "order": order.order,
            "town": order.town,
            "asks": chosen.town,
            "rank": rank,
            "among": [candidate.town for candidate in view.candidates],
            "ask": chosen.ask,
            "policy": self.policy.manifest.name,
        }
        context.record("routing_decision", "", body)
        return chosen.town

    def summary(self) -> dict[str, Any]:
        """Orders passed on and refused, and the policy."""
        return {**super().summary(), "policy": self.policy.manifest.name}


def from_config(
    router: RouterConfig, setup: TownSetup, exchanges: dict[str, str], where: str
) -> PolicyRouter:
    """The router of a run file that acts by a policy.

    Args:
        router: As the run file has it.
        setup: Any town of the league.
        exchanges: The exchange of every town.
        where: What an error names as the place to mend.

    Raises:
        HanseError: the policy is not there, is damaged, or does not fit the league.
    """
    from policies.training.acting import shared
    from policies.training.artefact import check_fit

    assert router.policy is not None
    try:
        policy = shared(policy_folder(router.policy) or "")
    except HanseError as error:
        raise HanseError(f"{where}: {error}") from None
    towns = policy.counts[0]
    layout, decision = RoutingLayout(towns, setup), RoutingDecision(towns)
    check_fit(policy.manifest, layout, decision, setup.rules, where)
    if len(exchanges) - 1 > towns:
        raise HanseError(
            f"{where}: policy {policy.manifest.name!r} does not fit: it has learned to choose among"
            f" {towns} other towns, here there are {len(exchanges) - 1}; train one for here: hanse"
            " train FILE"
        )
    return PolicyRouter(router.name, policy, setup, exchanges)

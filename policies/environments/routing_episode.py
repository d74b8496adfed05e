"""An episode of several towns in which the router waits to be told whom to ask.

It plays all agents of a league as one host does, without log and store, and stops before the router
handles an order that some town may fill. What the router's decisions come to is measured from the
messages alone, so it is measured alike whoever decides: a policy, or a rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from services.config import RunConfig
from services.economy.abroad import TradeFill, TradeOrder, TradeRefused
from services.economy.money import dollars
from services.errors import HanseError
from services.messages import MINUTES_PER_DAY, Message, delivery_order

if TYPE_CHECKING:
    from actors.agent import Agent
    from actors.context import Context
    from actors.exchange import Exchange
    from actors.routing import RememberingRouter

OBJECTIVES: Final[dict[str, str]] = {
    "surplus": "what buyers pay less than they would have, in tens of dollars",
    "filled": "orders' shares that were filled, each order's in [0, 1]",
}
"""What a router is after, and in which units; each is paid when an order is answered."""
COSTS: Final[dict[str, str]] = {
    "empty_handed": "share of the orders answered since the last decision that got nothing at all",
}
"""The costs; each step's lies in [0, 1]."""
SURPLUS_UNIT: Final = 10.0


@dataclass(slots=True)
class Trade:
    """What orders between towns have come to."""

    orders: int = 0
    """Orders that were answered."""
    empty_handed: int = 0
    """Orders that got nothing."""
    asked_kg: int = 0
    filled_kg: int = 0
    filled: float = 0.0
    """The orders' shares that were filled, summed up."""
    surplus: float = 0.0
    """Dollars that buyers paid less than the most they would have, freight apart."""


def routable(config: RunConfig, router: str) -> None:
    """Refuses a league that such an episode would play differently, or without that router.

    Args:
        config: The league.
        router: The router's name.

    Raises:
        HanseError: one line with what to change.
    """
    from actors.cast import Cast
    from services.strategy_lines import is_own

    known = Cast(config).routers
    if router not in known or len(config.town_names) < 2:
        raise HanseError(
            f"router: there is no router {router!r} between towns in this league; allowed:"
            f" {', '.join(known) or 'none: add [[towns]] and [[routers]]'}"
        )
    if len(known) > 1:
        raise HanseError(
            f"router: this league has several, and towns write to {known[0]} alone; keep one"
        )
    for key in ("injections", "interventions", "containment", "monitor"):
        if getattr(config, key):
            raise HanseError(f"a router learns without {key}; remove the table from the run file")
    for firm in config.firms:
        if firm.strategy == "human" or is_own(firm.strategy):
            raise HanseError(
                f"firms.{firm.name}.strategy: a router learns among the strategies that come with"
                " Hanse, which neither fail nor wait; choose one of them"
            )


class RoutingEpisode:
    """One run of a league with several towns.

    Args:
        config: What is run; its seed is the episode's.
        router: The router's name.
        seat: Who takes its place, and waits for decisions; ``None``: the router of the run file.

    Raises:
        HanseError: see :func:`routable`.
    """

    def __init__(
        self, config: RunConfig, router: str, seat: RememberingRouter | None = None
    ) -> None:
        from actors.cast import Cast
        from actors.context import Clock, Context
        from actors.wakes import Wakes

        self.config = config
        self.router = router
        cast = Cast(config)
        self.trade = Trade()
        self.seat = seat
        self._agents: dict[str, Agent] = {name: cast.make(name) for name in cast.names}
        if seat is not None:
            self._agents[router] = seat
        self._exchanges: list[Exchange] = [
            self._agents[name]  # type: ignore[misc]
            for name in cast.exchanges.values()
        ]
        self._clock = Clock()
        self._contexts: dict[str, Context] = {
            name: Context(name, config.seed, clock=self._clock) for name in cast.names
        }
        self._wakes = Wakes()
        self._town_of = {exchange: town for town, exchange in cast.exchanges.items()}
        self._asked: dict[tuple[str, str], TradeOrder] = {}
        self._end = config.days * MINUTES_PER_DAY
        self._play = self._run()

    @property
    def now(self) -> int:
        """Virtual minutes since the start."""
        return self._clock.now

    @property
    def day(self) -> int:
        """The day of :attr:`now`."""
        return self._clock.now // MINUTES_PER_DAY

    def proceed(self) -> TradeOrder | None:
        """Plays until an order waits for a decision; returns it, or ``None`` at the run's end."""
        return next(self._play, None)

    def net_income(self) -> float:
        """That of all firms in all towns so far, dollars."""
        firms = (firm for exchange in self._exchanges for firm in exchange.town.firms.values())
        return dollars(sum(firm.net_income() for firm in firms))

    def _run(self) -> Iterator[TradeOrder]:
        for name, agent in self._agents.items():
            agent.start(self._contexts[name])
        clock, wakes, agents, contexts = self._clock, self._wakes, self._agents, self._contexts
        mail = self._collect()
        while True:
            for _, name in wakes.take(clock.now):
                contexts[name].handled = None
                agents[name].wake(contexts[name])
            mail.sort(key=delivery_order)
            for message in mail:
                name = message.recipient
                if name == self.router or message.sender == self.router:
                    yield from self._routed(message)
                context = contexts[name]
                context.handled = message
                agents[name].handle(message, context)
            mail = self._collect()
            if mail:
                clock.round += 1
                continue
            first = wakes.first
            if first is None or first >= self._end:
                return
            clock.now, clock.round = first, 0

    def _collect(self) -> list[Message]:
        mail: list[Message] = []
        for name, context in self._contexts.items():
            if context.wakes:
                self._wakes.add(name, context.wakes)
                context.wakes.clear()
            if context.outbox:
                mail += context.outbox
                context.outbox.clear()
            context.events.clear()
            context.ledger.clear()
            context.figures.clear()
        return mail

    def _routed(self, message: Message) -> Iterator[TradeOrder]:
        """Measures what passes the router, and waits where it has to decide."""
        payload: Any = message.payload
        if message.recipient == self.router:
            if isinstance(payload, TradeOrder):
                self._asked[payload.order, payload.town] = payload
                if self.seat is not None and self.seat.view(payload, self.now).candidates:
                    yield payload
        elif isinstance(payload, TradeFill | TradeRefused):
            self._answered(message, payload)

    def _answered(self, message: Message, answer: TradeFill | TradeRefused) -> None:
        town = self._town_of[message.recipient]
        order = self._asked.pop((answer.order, town), None)
        if order is None:
            return
        trade = self.trade
        trade.orders += 1
        trade.asked_kg += order.qty
        if isinstance(answer, TradeRefused):
            trade.empty_handed += 1
            return
        trade.filled_kg += answer.qty
        trade.filled += answer.qty / order.qty
        trade.surplus += answer.qty * order.max_price - dollars(answer.total_micros)

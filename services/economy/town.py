"""A town: its rules put together, its clock, and who may act when (note, S2).

A town is driven from outside by two calls and knows nothing of who calls::

    town = Town(TownSetup(seed=0))
    while (minute := town.next_minute()) is not None:
        for turn in town.advance(minute):
            town.apply(turn.firm, WaitForNextDay())

:meth:`Town.advance` moves the clock to a minute at which something is due and says whose turn it
is; :meth:`Town.apply` carries out one firm's command. Both note what happened in
``world.events``, ``world.ledger`` and ``figures``, which the driver collects with :meth:`drain`.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from services.economy import commands as c
from services.economy import state as s
from services.economy.abroad import Abroad
from services.economy.audit import Statement, day_figures, statement
from services.economy.commands import COMMANDS
from services.economy.demand import Demand
from services.economy.invoicing import Invoicing
from services.economy.luck import Luck
from services.economy.mail import Mail
from services.economy.market import Market
from services.economy.observation import Observation, observe
from services.economy.production import Production
from services.economy.results import Refusal, Result, success
from services.economy.setup import TownSetup
from services.economy.shipping import Shipping
from services.economy.state import FirmState
from services.economy.upkeep import Upkeep
from services.economy.views import Views
from services.economy.world import Event, LedgerEntry, World
from services.messages import MINUTES_PER_DAY, Payload

OPENS: Final = 540
CLOSES: Final = 1140
CALL_MINUTES: Final = 30
"""What every call costs, also a refused one."""
_WAIT: Final = "wait_for_next_day"
_OPEN, _CLOSE, _END = "<open>", "<close>", "<end>"


class Turn(NamedTuple):
    """A firm is asked for a command; ``reason`` is set if something has happened to it."""

    firm: str
    reason: str | None


class Records(NamedTuple):
    """What has happened since the last call of :meth:`Town.drain`."""

    events: list[Event]
    ledger: list[LedgerEntry]
    figures: list[tuple[int, str, dict[str, Any]]]
    """(day, firm, figures) for each firm and day that has ended."""


_Handler = Callable[[FirmState, Any], Payload | tuple[str, Payload | None] | None]


class Town:
    """One exchange with its firms and consumers."""

    def __init__(self, setup: TownSetup, state: s.TownState | None = None) -> None:
        self.setup = setup
        self.world = world = World(setup, state)
        self.state = world.state
        world.on_wake = self._wake
        luck = Luck(setup, world.state.luck_draws)
        self.invoicing = Invoicing(world)
        self.production = Production(world)
        self.market = Market(world)
        self.shipping = Shipping(world, luck, self.invoicing)
        self.demand = Demand(world, luck)
        self.mail = Mail(world)
        self.abroad = Abroad(world, self.market)
        self.views = Views(world)
        self.upkeep = Upkeep(world, self.production, self.market, self.shipping, self.invoicing)
        self.figures: list[tuple[int, str, dict[str, Any]]] = []
        self._calls_per_day = setup.rules.calls_per_day
        handlers: dict[type[c.Command], _Handler] = {
            c.ProduceItem: self.production.produce,
            c.Roast: self.production.roast,
            c.PostListing: self.market.post_listing,
            c.CancelListing: self.market.cancel_listing,
            c.MakeOffer: self.market.make_offer,
            c.WithdrawOffer: self.market.withdraw_offer,
            c.RejectOffer: self.market.reject_offer,
            c.AcceptOffer: self.market.accept_offer,
            c.PayInvoice: self.invoicing.pay,
            c.ReturnShipment: self.invoicing.return_shipment,
            c.SetRetailPrice: self.market.set_retail_price,
            c.SendMessage: self.mail.send,
            c.OrderAbroad: self.abroad.order,
            c.WaitForNextDay: lambda firm, command: None,
            c.ViewListings: self.views.listings,
            c.ViewOffers: self.views.offers,
            c.ViewDeals: self.views.deals,
            c.ViewPayables: self.views.payables,
            c.ViewReceivables: self.views.receivables,
            c.ViewTrialBalance: self.views.trial_balance,
            c.ViewMarketAggregate: self.views.market_aggregate,
            c.ViewConsumerSales: self.views.consumer_sales,
            c.ViewMessages: self.mail.view,
            c.ReadMessage: self.mail.read,
        }
        self._handlers = {k: (str(k.model_fields["type"].default), h) for k, h in handlers.items()}
        self._done = {tool: success(tool, None, None) for tool, _ in self._handlers.values()}
        """What a command gives back that has nothing to tell."""
        if state is None:
            self._push(OPENS, _OPEN)
            self._push(CLOSES, _CLOSE)

    @property
    def firms(self) -> dict[str, FirmState]:
        """The firms in loop order."""
        return self.state.firms

    @property
    def closed(self) -> bool:
        """Whether the town has closed for good."""
        return self.state.closed_on is not None

    def next_minute(self) -> int | None:
        """The next minute at which something is due; ``None`` when the town has closed."""
        state = self.state
        if state.closed_on is not None or not state.agenda:
            return None
        return state.agenda[0][0]

    def clock(self, minute: int) -> None:
        """Sets the time for what comes from outside the town between two minutes of its own."""
        if not self.closed:
            self.state.minute = minute
            self.state.day = minute // MINUTES_PER_DAY

    def advance(self, minute: int) -> list[Turn]:
        """Works off what is due at ``minute``; returns whose turn it is, in order of dispatch."""
        state = self.state
        state.minute = minute
        state.day = minute // MINUTES_PER_DAY
        agenda = state.agenda
        bucket: dict[str, None] = {}
        while agenda and agenda[0][0] == minute:
            bucket[heapq.heappop(agenda)[2]] = None
        of_day = minute % MINUTES_PER_DAY
        if of_day == OPENS and _OPEN in bucket:
            self._open_day()
        elif of_day >= CLOSES:
            if _CLOSE in bucket:
                self._close_day()
            if _END in bucket:
                self._close_for_good(state.day, state.day + 1)
            return []
        if state.closed_on is not None:
            return []
        available, firms, reasons = state.available_at, state.firms, state.reasons
        due, insolvent = [], []
        for name in bucket:
            if available.get(name) == minute:
                due.append(firm := firms[name])
                if firm.balances["cash"] < 0 and firm.live:
                    insolvent.append(firm)
        if insolvent:
            self._declare_bankrupt(insolvent)
            if self.closed:
                return []
        turns = [
            # Past the named tuple's own constructor, which takes three times as long.
            tuple.__new__(Turn, (firm.name, reasons.pop(firm.name, None)))
            for firm in due
            if firm.bankrupt_day is None
        ]
        if self.setup.rules.shuffled_dispatch and len(turns) > 1:
            turns = self._shuffled(turns)
        return turns

    def apply(self, name: str, command: c.Command) -> Result:
        """Carries out one command of a firm whose turn it is; refused ones change nothing."""
        firm = self.state.firms[name]
        known = self._handlers.get(type(command))
        tool, handler = known or (str(command.type), _unknown)  # type: ignore[attr-defined]
        try:
            outcome = handler(firm, command)
        except Refusal as refusal:
            code = refusal.code
            result = Result.trusted(command=tool, ok=False, code=code, detail=refusal.detail)
        else:
            if outcome is None:
                result = self._done[tool]
            elif isinstance(outcome, tuple):
                result = success(tool, *outcome)
            else:
                result = success(tool, None, outcome)
        self._record_action(name, tool, command, result)
        self._after_call(firm, waits=tool == _WAIT)
        return result

    def skip(self, name: str) -> None:
        """Takes the turn of a firm that gave no usable answer; it costs what a call costs."""
        self._after_call(self.state.firms[name], waits=False)

    def observe(self, name: str, reason: str) -> Observation:
        """What a firm is told at its turn, with the reason it was woken for."""
        return observe(self.world, self.views, self.state.firms[name], reason)

    def dismiss_notices(self, name: str) -> None:
        """A firm that wants no observation has no use for the notices either."""
        self.state.firms[name].notices.clear()

    def statement(self, name: str) -> Statement:
        """A firm's income statement and balance sheet as of now."""
        return statement(self.state.firms[name])

    def drain(self) -> Records:
        """Hands over, and forgets, what has happened since the last call."""
        world = self.world
        records = Records(world.events, world.ledger, self.figures)
        world.events, world.ledger, self.figures = [], [], []
        return records

    def dump(self) -> bytes:
        """The town's state, complete, as bytes."""
        return s.dump(self.state)

    @classmethod
    def load(cls, setup: TownSetup, data: bytes) -> Town:
        """A town that goes on where :meth:`dump` left off."""
        return cls(setup, s.load(data))

    def _push(self, minute: int, what: str) -> None:
        state = self.state
        state.agenda_counter = number = state.agenda_counter + 1
        heapq.heappush(state.agenda, (minute, number, what))

    def _wake(self, name: str, reason: str) -> None:
        state = self.state
        state.reasons[name] = reason
        now = state.minute
        if not self.setup.rules.extra_turns:
            limit = self._calls_per_day
            if limit is not None and state.calls_today.get(name, 0) >= limit:
                return
            now = max(now, state.ready_at.get(name, 0))
            if now % MINUTES_PER_DAY >= CLOSES:
                return
        available = state.available_at.get(name, 0)
        if available > now:
            state.available_at[name] = available = now
        self._push(max(available, state.minute), name)

    def _after_call(self, firm: FirmState, waits: bool) -> None:
        state = self.state
        name = firm.name
        firm.last_active_day = day = state.day
        closes = day * MINUTES_PER_DAY + CLOSES
        state.ready_at[name] = later = state.minute + CALL_MINUTES
        if not waits:
            calls = state.calls_today[name] = state.calls_today.get(name, 0) + 1
            limit = self._calls_per_day
            if later < closes and (limit is None or calls < limit):
                state.available_at[name] = later
                self._push(later, name)
                return
        state.available_at[name] = closes

    def _shuffled(self, turns: list[Turn]) -> list[Turn]:
        """In the order of a number that every firm draws for this minute.

        So who goes first between two firms hangs on nobody else's being there.
        """
        sha256 = hashlib.sha256
        prefix = f"{self.setup.seed}:{self.setup.name}:dispatch:{self.state.minute}:"
        return sorted(turns, key=lambda turn: sha256((prefix + turn[0]).encode()).digest())

    def _record_action(self, name: str, tool: str, command: c.Command, result: Result) -> None:
        state = self.state
        status = '"success"'
        if not result.ok:
            status = f'"error","error_code":"{result.code}"'
        elif result.new_id is not None:
            status = f'"success","new_id":"{result.new_id}"'
        state.actions = number = state.actions + 1
        # Written as text at once: it is the most frequent event, its arguments are JSON already.
        if tool not in COMMANDS:  # a user's own, which may have any name
            tool = json.dumps(tool)[1:-1]
        body = (
            f'{{"seq":{number},"tool":"{tool}","args":{command.log_body()},"status":{status},'
            f'"day":{state.day},"minute_of_day":{state.minute % MINUTES_PER_DAY}}}'
        )
        self.world.events.append(("action", name, body))

    def _open_day(self) -> None:
        state = self.state
        for firm in state.firms.values():
            firm.produced_today = {}
            firm.roasted_today = {}
            firm.messages_today = 0
        state.calls_today = {}
        self.upkeep.charge_operating_costs()
        self.production.land()
        self.shipping.deliver(state.day, state.day)
        for firm in state.firms.values():
            if firm.live:
                state.reasons[firm.name] = "morning"
                state.available_at[firm.name] = state.minute
                self._push(state.minute, firm.name)

    def _close_day(self) -> None:
        state = self.state
        self.demand.sell()
        self.upkeep.spoil()
        self.invoicing.charge_late_fees()
        self.upkeep.write_down(state.firms.values())
        self.market.expire()
        self._note_figures()
        self.world.event("day_end", "", {"day": state.day})
        self._forget()
        last = self.setup.days - 1
        if state.day >= last or self._stopping:
            self._push(state.minute, _END)
            return
        tomorrow = (state.day + 1) * MINUTES_PER_DAY
        self._push(tomorrow + OPENS, _OPEN)
        self._push(tomorrow + CLOSES, _CLOSE)

    def _note_figures(self) -> None:
        day = self.state.day
        for firm in self.state.firms.values():
            self.figures.append((day, firm.name, day_figures(self.world, firm)))

    def _close_for_good(self, booked_on: int, day: int) -> None:
        self.shipping.deliver(day, booked_on)
        self.upkeep.write_down(self.firms.values())
        self.state.closed_on = booked_on
        self.state.agenda = []

    def _declare_bankrupt(self, insolvent: list[FirmState]) -> None:
        """Ends the firms that cannot pay: all together, or in the order of the agenda."""
        rules = self.setup.rules
        called = dict(self.state.reasons)
        groups = [[firm] for firm in insolvent]
        if rules.bankruptcies_together:
            groups = [sorted(insolvent, key=lambda firm: firm.name)]
        for group in groups:
            self.upkeep.declare_bankrupt(group)
            if self._stopping and not rules.early_stop_finishes_day:
                self._close_for_good(self.setup.days - 1, self.setup.days)
                return
        # The news come with the turn that a firm has anyway: its morning stays a morning.
        self.state.reasons.update(called)

    @property
    def _stopping(self) -> bool:
        """Whether the firm with whose bankruptcy the run ends has gone bankrupt."""
        firm = self.state.firms.get(self.setup.stop_when_bankrupt or "")
        return firm is not None and not firm.live

    def _forget(self) -> None:
        state = self.state
        old = state.day - self.setup.offer_memory_days
        bids, listings = state.resolved_offers, state.closed_listings
        _drop(bids, [k for k, v in bids.items() if v.posted_day <= old])
        _drop(listings, [k for k, v in listings.items() if v.posted_day <= old])
        old = state.day - max(self.setup.memory_days, self.setup.return_window_days + 1)
        deals, invoices, letters = state.past_deals, state.past_invoices, state.letters
        _drop(deals, [k for k, v in deals.items() if v.due_day <= old])
        _drop(invoices, [k for k, v in invoices.items() if v.issue_day <= old])
        _drop(letters, [k for k, v in letters.items() if v.day <= old])
        state.market = [r for r in state.market if r.day > old]
        for shop, rows in state.sales.items():
            if rows and rows[0].day <= old:
                state.sales[shop] = [r for r in rows if r.day > old]


def _drop(records: dict[str, Any], old: list[str]) -> None:
    """Forgets a few of many records; to copy the others would take longer."""
    for key in old:
        del records[key]


def _unknown(firm: FirmState, command: c.Command) -> None:
    tool = str(command.type)  # type: ignore[attr-defined]
    raise Refusal("unknown_command", f"there is no command {tool!r}")

"""Rebuilds a town from its event log: the same set-up and the same rows give the same state.

Only what came from outside is taken from the log: the firms' commands (``action``), turns without
an answer (``turn_missed``) and trade with other towns (``trade``). Everything else (deliveries,
sales, fees, bankruptcies) follows from the rules, so a log that does not fit is found out.

Foreign trade reaches a town as messages: an order of another town (:class:`TradeOrder`), and what
became of an own one (:class:`TradeFill`, :class:`TradeRefused`). The ``trade`` events tell what
each of them did, so the messages are made again from them and no other town has to be replayed::

    town = replay(setup, run.rows("events"))
    assert town.dump() == dump_of_the_exchange
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from services.economy.abroad import TradeFill, TradeOrder, TradeRefused
from services.economy.commands import COMMANDS, LIMIT, Command
from services.economy.money import cents, micros
from services.economy.setup import TownSetup
from services.economy.town import Town, Turn
from services.errors import HanseError
from services.messages import MINUTES_PER_DAY

EventRow = tuple[int, int, str, int, str | None, str, str, str]
"""(minute, round, agent, ordinal, cause, kind, subject, body as JSON), as the run store has it."""


def replay(setup: TownSetup, rows: Iterable[EventRow], exchange: str = "exchange") -> Town:
    """The town as it was at the end of the last day that the rows tell of.

    Args:
        setup: What the town was made of.
        rows: The event log in its order, whole days; rows of other agents are passed over.
        exchange: The agent that held the town.

    Raises:
        HanseError: a row does not fit the set-up or the rows before it.
    """
    player = Replay(setup)
    for row in rows:
        if row[2] == exchange:
            player.feed(row)
    player.end_day()
    return player.town


class Replay:
    """A town that is driven by the rows of an event log, one after the other.

    Args:
        setup: What the town was made of.
        town: The town at the end of a day from which the rows go on; by default a new one.
    """

    def __init__(self, setup: TownSetup, town: Town | None = None) -> None:
        self.town = Town(setup) if town is None else town
        self._turns: list[Turn] = []
        """Turns that the log has not answered yet, in the order of dispatch."""
        self._missed: set[str] = set()
        self._row: EventRow | None = None
        self._last_trade: tuple[int, str, str, str] | None = None

    def feed(self, row: EventRow) -> None:
        """Takes the next row; kinds that follow from others are passed over.

        Raises:
            HanseError: the row does not fit.
        """
        minute, _, _, _, _, kind, subject, text = self._row = row
        if kind == "action":
            self._act(minute, subject, json.loads(text))
        elif kind == "turn_missed":
            self._miss(minute, subject)
        elif kind == "trade":
            self._trade(minute, subject, json.loads(text))
        elif kind == "day_end":
            self._pass_time(minute)
        self._forget_records()

    def end_day(self) -> None:
        """Lets the last row's day come to its end.

        Raises:
            HanseError: a firm has a turn left on that day.
        """
        if self._row is not None:
            self._pass_time((self._row[0] // MINUTES_PER_DAY + 1) * MINUTES_PER_DAY - 1)
            self._forget_records()

    def _act(self, minute: int, firm: str, body: dict[str, Any]) -> None:
        town = self.town
        self._skip_missed()
        self._ask(minute)
        if not self._turns or self._turns[0].firm != firm:
            asked = self._turns[0].firm if self._turns else "nobody"
            raise self._error(f"it is {asked}'s turn, not {firm}'s")
        if town.state.minute != minute:
            raise self._error(f"the turn was at minute {town.state.minute}")
        self._turns.pop(0)
        result = town.apply(firm, self._command(body))
        found = (town.state.actions, result.status, result.new_id, result.code)
        logged = (body["seq"], body["status"], body.get("new_id"), body.get("error_code"))
        if found != logged:
            raise self._error(f"{body['tool']} gave {found}, the log has {logged}")
        self._skip_missed()

    def _command(self, body: dict[str, Any]) -> Command:
        kind = COMMANDS.get(body["tool"])
        if kind is None:
            raise self._error(f"there is no command {body['tool']!r}")
        try:
            return kind(**body["args"])
        except ValidationError as error:
            raise self._error(f"{body['tool']}: {error.errors()[0]['msg']}") from error

    def _miss(self, minute: int, firm: str) -> None:
        self._ask(minute)
        if firm in self._missed or firm not in [turn.firm for turn in self._turns]:
            raise self._error(f"{firm} has no turn to miss")
        self._missed.add(firm)
        # Commands are carried out when the last answer is there; if all are missed, that is now.
        if all(turn.firm in self._missed for turn in self._turns):
            self._skip_missed()

    def _skip_missed(self) -> None:
        while self._turns and self._turns[0].firm in self._missed:
            firm = self._turns.pop(0).firm
            self._missed.remove(firm)
            self.town.skip(firm)

    def _ask(self, minute: int) -> None:
        """Moves on to the next turns, none of which may be later than the row's minute."""
        town = self.town
        while not self._turns and (due := town.next_minute()) is not None and due <= minute:
            self._turns = town.advance(due)
            for firm, reason in self._turns:
                if reason is not None:
                    town.dismiss_notices(firm)

    def _pass_time(self, minute: int) -> None:
        self._skip_missed()
        self._ask(minute)
        if self._turns:
            raise self._error(f"{self._turns[0].firm}'s turn is missing in the log")

    def _trade(self, minute: int, firm: str, body: dict[str, Any]) -> None:
        town, order, item, qty = self.town, body["order"], body["item"], body["qty"]
        trade = (minute, body["direction"], body["town"], order)
        if trade != self._last_trade:
            self._ask(minute)
        self._last_trade = trade
        town.clock(minute)
        before = len(town.world.events)
        if body["direction"] == "export":
            # One event for each listing sold from, the cheapest first: that is how they are filled
            # again, and nobody has a turn before the whole order has been worked off.
            wish = TradeOrder(
                order=order, town=body["town"], reply_to="", item=item, qty=qty, max_price=LIMIT
            )
            town.abroad.fill(wish)
        elif body["direction"] == "import":
            paid = micros(body["amount"]) - cents(qty * town.setup.freight_per_kg)
            fill = TradeFill(order=order, town=body["town"], item=item, qty=qty, total_micros=paid)
            town.abroad.settle(fill)
        else:
            town.abroad.give_back(TradeRefused(order=order, reason=body["reason"]))
        found = town.world.events[before:]
        if found != [("trade", firm, body)]:
            raise self._error(f"this trade gave {found or 'nothing'}")

    def _forget_records(self) -> None:
        self.town.drain()
        self.town.mail.outbox.clear()
        self.town.abroad.outbox.clear()

    def _error(self, what: str) -> HanseError:
        assert self._row is not None
        minute, _, agent, ordinal, _, kind, subject, _ = self._row
        clock = minute % MINUTES_PER_DAY
        return HanseError(
            f"event log: row {agent}#{ordinal} ({kind} of {subject or 'the town'}, day"
            f" {minute // MINUTES_PER_DAY}, {clock // 60:02d}:{clock % 60:02d}): {what};"
            " replay it with the set-up of its run, from the first row on"
        )

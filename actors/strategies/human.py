"""A person at the terminal runs the firm: sees what has happened, types a command, gets help."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from actors.strategies.human_help import parse_command
from actors.strategies.strategy import Strategy
from services.economy.catalogue import standard_catalogue
from services.economy.commands import Command, WaitForNextDay
from services.economy.results import Result, RowsView, Values
from services.economy.town import CALL_MINUTES

if TYPE_CHECKING:
    from actors.context import Context
    from actors.exchange import Turn
    from services.economy.observation import Observation

GREETING = (
    "Type a command with its arguments, by name or in order, e.g.\n"
    "  post_listing item_id=roasted_coffee_kg qty=10 asking_price=9.8\n"
    "  post_listing roasted_coffee_kg 10 9.8\n"
    f"Every command costs {CALL_MINUTES} minutes of the day, a look as much as a deed.\n"
    "  help          your commands     help NAME   its arguments\n"
    "  w             wait for the next day, or for news\n"
    "  quit          how to stop, and how to go on later\n"
)


_SHOWN = 8
"""Deals and sales that a morning shows."""


class Human(Strategy):
    """Reads commands from ``read`` (the terminal) and writes to ``write``.

    When the input ends (Ctrl-D), the firm waits for the next day, every day.
    """

    reproducible = False
    needs_terminal: ClassVar[bool] = True

    def __init__(
        self,
        firm: str,
        role: str,
        read: Callable[[str], str] = input,
        write: Callable[[str], None] = print,
        **options: Any,
    ) -> None:
        super().__init__(firm, role, **options)
        self._read = read
        self._write = write
        self._greeted = False
        self._gone = False
        self._shown_day = -1

    def decide(self, turn: Turn, context: Context) -> Command:
        """Shows what is new and asks until a command is understood."""
        if self._gone:
            return WaitForNextDay()
        if not self._greeted:
            self._greeted = True
            self._write(GREETING)
        if turn.result is not None:
            self._write(describe_result(turn.result))
        if turn.observation is not None:
            self._write(describe_observation(turn))
            if turn.day != self._shown_day:
                self._shown_day = turn.day
                self._write(describe_trade(turn.observation))
        clock = f"{turn.minute_of_day // 60:02d}:{turn.minute_of_day % 60:02d}"
        while True:
            try:
                line = self._read(f"{self.firm}, day {turn.day} {clock}> ").strip()
            except EOFError:
                self._gone = True
                self._write(f"{self.firm} waits from now on.")
                return WaitForNextDay()
            try:
                command = parse_command(line, self.role)
            except ValueError as error:
                self._write(str(error))
                continue
            if isinstance(command, str):
                self._write(command)
                continue
            return command


def describe_result(result: Result) -> str:
    """The outcome of a call as a person reads it."""
    if not result.ok:
        return f"refused: {result.detail} [{result.code}]"
    lines = [f"{result.command}: done" + (f", {result.new_id}" if result.new_id else "")]
    data = result.data
    if isinstance(data, RowsView):
        rows = data.rows  # type: ignore[attr-defined]
        if rows:
            lines.append("  " + "  ".join(rows[0]._fields))
        lines += ["  " + "  ".join(str(value) for value in row) for row in rows[-40:]]
        lines.append(f"  {counted(len(rows), 'row')}")
    elif data is not None:
        figures = data.values if isinstance(data, Values) else data.model_dump(exclude={"type"})
        for key, value in figures.items():
            lines.append(f"  {key}: {value}")
    return "\n".join(lines)


def describe_observation(turn: Turn) -> str:
    """The firm's affairs at a glance."""
    seen = turn.observation
    assert seen is not None
    stock = ", ".join(f"{kg} kg {item}" for item, kg in seen.stock.items()) or "empty"
    coming = ", ".join(f"{kg} kg {item}" for item, kg in seen.incoming.items())
    lines = [
        f"--- {seen.firm}, {seen.weekday}, day {seen.day}: {seen.reason} ---",
        f"cash {seen.cash:,.2f}   owed to us {seen.accounts_receivable:,.2f}"
        f"   we owe {seen.accounts_payable:,.2f} ({seen.overdue_payables} overdue)",
        f"stock: {stock} (cap {seen.stock_cap} kg); coming: {coming or 'nothing'}",
        f"bids: {seen.pending_offers_in} in, {seen.pending_offers_out} out;"
        f" own listings: {seen.open_listings}",
    ]
    if seen.unread_letters:
        letters = (f"{counted(n, 'letter')} from {who}" for who, n in seen.unread_letters.items())
        lines.append(f"unread: {', '.join(letters)} (view_messages)")
    lines += [f"* {notice}" for notice in seen.notices]
    return "\n".join(lines)


def describe_trade(seen: Observation) -> str:
    """Items and prices, at the start of a day."""
    catalogue = standard_catalogue()
    green, roasted = list(catalogue.recipes), [r.output for r in catalogue.recipes.values()]
    makes = {"farmer": f"produce {', '.join(green)}", "retailer": f"sell {', '.join(roasted)}"}
    roasts = ", ".join(
        f"{recipe.source} to {recipe.output}" for recipe in catalogue.recipes.values()
    )
    lines = [f"a {seen.role} can {makes.get(seen.role, f'roast {roasts}')}"]
    if seen.role == "retailer":
        prices = (f"{item} {price:.2f}" for item, price in seen.retail_prices.items() if price)
        lines.append(f"own prices, dollars a kilogram: {', '.join(prices) or 'none are set'}")
    for deal in seen.recent_deals[-_SHOWN:]:
        side = f"sold to {deal.buyer}" if deal.seller == seen.firm else f"bought from {deal.seller}"
        lines.append(f"{deal.id}: {deal.qty} kg {deal.item} {side} at {deal.unit_price:.2f}")
    for sale in seen.recent_sales[-_SHOWN:]:
        lines.append(f"consumers took {sale.qty} kg {sale.item} at {sale.unit_price:.2f}")
    lines.append("view_listings shows what is on offer and at what prices")
    return "\n".join(lines)


def counted(number: int, noun: str) -> str:
    """``1 row``, ``2 rows``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

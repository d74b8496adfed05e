"""A person at the terminal runs the firm: sees what has happened, types a command, gets help."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import ValidationError

from actors.strategies.strategy import Strategy
from services.economy.commands import COMMANDS, Command, WaitForNextDay
from services.economy.results import Result, RowsView

if TYPE_CHECKING:
    from actors.context import Context
    from actors.exchange import Turn

GREETING = (
    "Type a command with its arguments, e.g.  post_listing item_id=roasted_coffee_kg qty=10"
    " asking_price=9.8\n"
    "  help          all commands      help NAME   its arguments\n"
    "  w             wait for the next day\n"
)


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
        clock = f"{turn.minute_of_day // 60:02d}:{turn.minute_of_day % 60:02d}"
        while True:
            try:
                line = self._read(f"{self.firm}, day {turn.day} {clock}> ").strip()
            except EOFError:
                self._gone = True
                self._write(f"{self.firm} waits from now on.")
                return WaitForNextDay()
            try:
                command = parse_command(line)
            except ValueError as error:
                self._write(str(error))
                continue
            if isinstance(command, str):
                self._write(command)
                continue
            return command


def parse_command(line: str) -> Command | str:
    """A command, or a text to show (help).

    Raises:
        ValueError: the line is no command; the message says what is wrong in a sentence.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ValueError(f"cannot read that: {error}") from None
    if not words:
        return "Type a command, or help."
    name, rest = words[0], words[1:]
    if name in ("w", "wait"):
        return WaitForNextDay()
    if name in ("help", "?"):
        return help_text(rest[0] if rest else None)
    kind = COMMANDS.get(name)
    if kind is None:
        raise ValueError(f"there is no command {name!r}; type help")
    arguments: dict[str, Any] = {}
    for word in rest:
        key, separator, value = word.partition("=")
        if not separator:
            raise ValueError(f"{word!r} is not key=value; type help {name}")
        try:
            arguments[key] = json.loads(value)
        except ValueError:
            arguments[key] = value
    try:
        return kind(**arguments)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or name
        raise ValueError(f"{key}: {first['msg']}; type help {name}") from None


def help_text(name: str | None) -> str:
    """All commands, or one command's arguments."""
    if name is None:
        return "\n".join(
            f"  {command:22s}{(model.__doc__ or '').strip().splitlines()[0]}"
            for command, model in COMMANDS.items()
        )
    kind = COMMANDS.get(name)
    if kind is None:
        raise ValueError(f"there is no command {name!r}; type help")
    lines = [(kind.__doc__ or "").strip()]
    for key, field in kind.model_fields.items():
        if key != "type":
            need = "required" if field.is_required() else f"default {field.default!r}"
            lines.append(f"  {key}  ({need})")
    return "\n".join(lines)


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
        lines.append(f"  {len(rows)} rows")
    elif data is not None:
        for key, value in data.model_dump(exclude={"type"}).items():
            lines.append(f"  {key}: {value}")
    return "\n".join(lines)


def describe_observation(turn: Turn) -> str:
    """The firm's affairs at a glance."""
    seen = turn.observation
    assert seen is not None
    stock = ", ".join(f"{kg} kg {item}" for item, kg in seen.stock.items()) or "empty"
    lines = [
        f"--- {seen.firm}, {seen.weekday}, day {seen.day}: {seen.reason} ---",
        f"cash {seen.cash:,.2f}   owed to us {seen.accounts_receivable:,.2f}"
        f"   we owe {seen.accounts_payable:,.2f} ({seen.overdue_payables} overdue)",
        f"stock: {stock} (cap {seen.stock_cap} kg); coming: {seen.incoming or 'nothing'}",
        f"bids: {seen.pending_offers_in} in, {seen.pending_offers_out} out;"
        f" listings: {seen.open_listings}",
    ]
    if seen.unread_letters:
        lines.append(f"unread letters: {seen.unread_letters}")
    lines += [f"* {notice}" for notice in seen.notices]
    return "\n".join(lines)

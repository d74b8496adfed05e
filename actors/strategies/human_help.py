"""What a person who plays a firm can ask for: the commands of the role, and their arguments.

Also how a typed line becomes a command: by names, or in the order in which help lists them.
"""

from __future__ import annotations

import inspect
import json
import re
import shlex
from typing import Any, Final, get_args

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from services.economy.commands import COMMANDS, Command, View, WaitForNextDay
from services.economy.complaints import complaint

_BUYERS: Final = ("roaster", "retailer")
_SELLERS: Final = ("farmer", "roaster")
_ROLES: Final[dict[str, tuple[str, ...]]] = {
    "produce_item": ("farmer",),
    "roast": ("roaster",),
    "set_retail_price": ("retailer",),
    "view_consumer_sales": ("retailer",),
    "post_listing": _SELLERS,
    "cancel_listing": _SELLERS,
    "accept_offer": _SELLERS,
    "reject_offer": _SELLERS,
    "make_offer": _BUYERS,
    "withdraw_offer": _BUYERS,
    "pay_invoice": _BUYERS,
    "return_shipment": _BUYERS,
    "order_abroad": _BUYERS,
}
"""Whose business a command is, if not everybody's."""
_UNITS: Final[dict[str, str]] = {
    "qty": "whole kilograms",
    "qty_kg": "whole kilograms",
    "quantity": "whole kilograms",
    "quantity_kg": "whole kilograms",
    "asking_price": "dollars a kilogram",
    "offered_price": "dollars a kilogram",
    "max_price": "dollars a kilogram",
    "price_per_unit": "dollars a kilogram",
    "amount": "dollars",
    "payment_terms_days": "days",
    "days_back": "days",
    "since_day": "a day, counted from 0",
    "limit": "rows",
    "item_id": "an item, such as roasted_coffee_kg",
    "green_item_id": "an item, such as green_coffee_kg",
    "recipient": "a firm",
    "listing_id": "a listing, such as L7",
    "offer_id": "a bid, such as O7",
    "invoice_id": "an invoice, such as I7",
    "message_id": "a letter, such as M7",
    "ref_listing_id": "a listing, such as L7",
    "ref_offer_id": "a bid, such as O7",
}
QUIT: Final = (
    "Ctrl-C stops the run after its last whole day; `hanse resume RUN` goes on from there.\n"
    "Ctrl-D lets the firm wait from now on, and the run goes to its end without you."
)


def parse_command(line: str, role: str = "") -> Command | str:
    """A command, or a text to show (help).

    Args:
        line: what was typed: a command's name, then its arguments as ``key=value`` or in order.
        role: the firm's role; its commands come first in the help.

    Raises:
        ValueError: the line is no command; the message says what is wrong in a sentence.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ValueError(f"cannot read that: {str(error)[:1].lower()}{str(error)[1:]}") from None
    if not words:
        return "Type a command, or help."
    name, rest = words[0], words[1:]
    if name in ("w", "wait"):
        return WaitForNextDay()
    if name in ("help", "?"):
        return help_text(rest[0] if rest else None, role)
    if name in ("quit", "exit", "q"):
        return QUIT
    kind = COMMANDS.get(name)
    if kind is None:
        raise ValueError(f"there is no command {name!r}; type help")
    try:
        return kind(**_arguments(name, kind, rest))
    except ValidationError as error:
        raise ValueError(f"{complaint(error)}; type help {name}") from None


def _arguments(name: str, kind: type[Command], words: list[str]) -> dict[str, Any]:
    fields = {key: field for key, field in kind.model_fields.items() if key != "type"}
    found: dict[str, Any] = {}
    for place, word in enumerate(words):
        key, separator, value = word.partition("=")
        if not separator or not key.isidentifier() or (key not in fields and " " in word):
            if place >= len(fields):
                takes = f"{len(fields)} {'argument' if len(fields) == 1 else 'arguments'}"
                raise ValueError(f"{name} takes {takes}; type help {name}")
            key, value = list(fields)[place], word
        if key in found:
            raise ValueError(f"{key} is given twice; type help {name}")
        found[key] = _value(value, fields.get(key))
    return found


def _value(text: str, field: FieldInfo | None) -> Any:
    if field is not None and text != "null" and _type(field.annotation) == "text":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def help_text(name: str | None, role: str = "") -> str:
    """The commands of a role, all commands (``all``), or one command's arguments."""
    if name in (None, "all"):
        return _commands(role if name is None else "")
    kind = COMMANDS.get(name)
    if kind is None:
        raise ValueError(f"there is no command {name!r}; type help")
    lines = [plain(inspect.cleandoc(kind.__doc__ or ""))]
    for key, field in kind.model_fields.items():
        if key == "type":
            continue
        what = _UNITS.get(key) or _type(field.annotation)
        if field.is_required():
            need = "required"
        else:
            need = "optional" if field.default in (None, "") else f"default {_shown(field.default)}"
        lines.append(f"  {key}  {what} ({need})")
    return "\n".join(lines)


def _commands(role: str) -> str:
    def line(command: str) -> str:
        return f"  {command:22s}{plain((COMMANDS[command].__doc__ or '').strip().splitlines()[0])}"

    own = [name for name in COMMANDS if not role or role in _ROLES.get(name, (role,))]
    acts = [name for name in own if not issubclass(COMMANDS[name], View)]
    lines = [f"A {role} can" if role else "To do", *map(line, acts)]
    lines += ["To look, or to wait", *(line(name) for name in own if name not in acts)]
    if others := [name for name in COMMANDS if name not in own]:
        lines.append(f"For other roles: {', '.join(others)} (help all)")
    lines.append("Arguments: help NAME; stop: quit")
    return "\n".join(lines)


def _type(annotation: Any) -> str:
    names = _names(annotation)
    if choices := [str(value) for value in get_args(annotation) if isinstance(value, str)]:
        return " | ".join(choices)
    for kind, words in ((bool, "true or false"), (int, "whole number"), (float, "number")):
        if kind in names:
            return words
    return "text"


def _names(annotation: Any) -> set[Any]:
    found = {annotation} if isinstance(annotation, type) else set()
    for inner in get_args(annotation):
        found |= _names(inner)
    return found


def _shown(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def plain(text: str) -> str:
    """A docstring without its markup."""
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"\1", text)
    return text.replace("``", "")

"""What is wrong with a command's arguments, in one plain sentence."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

_KILOGRAMS = frozenset({"qty", "qty_kg", "quantity", "quantity_kg"})
_WHOLE = frozenset({"int_type", "int_from_float", "int_parsing", "int_parsing_size"})


def complaint(error: ValidationError) -> str:
    """The first thing that does not fit, such as ``quantities are whole kilograms; got 2.5``."""
    first = error.errors(include_url=False)[0]
    kind = first["type"]
    key = str(first["loc"][-1]) if first["loc"] else ""
    if kind == "missing":
        return f"{key} is missing"
    if kind == "extra_forbidden":
        return f"there is no argument {key}"
    if kind in _WHOLE:
        noun = "quantities are whole kilograms" if key in _KILOGRAMS else f"{key} is a whole number"
        return f"{noun}; got {_shown(first['input'])}"
    message = first["msg"]
    for wordy in ("Input should be ", "Value error, "):
        message = message.removeprefix(wordy)
    wanted = f"{key} must be " if first["msg"].startswith("Input should be ") else f"{key}: "
    return f"{wanted if key else ''}{message}; got {_shown(first['input'])}"


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."

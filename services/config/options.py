"""What may stand in `options`: plain values, which a manifest keeps as they are.

A run is resumed, branched and overridden from its manifest, which is JSON. What JSON would turn
into something else (`nan`, a date) would make a run depend on whether that has happened.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from typing import Any

DEEPEST = 16
"""Tables and lists within one another; more would only be a mistake."""

_WHOLE_NUMBERS = range(-(2**63), 2**63)


def misfits(options: Mapping[str, Any], key: str) -> Iterator[tuple[str, str]]:
    """Each value that cannot be an option: its whole key, and what is wrong with it.

    Args:
        options: The options of an agent.
        key: Where they stand, such as `firms.roaster_A.options`.
    """
    yield from _misfits(options, key, 0)


def _misfits(value: Any, key: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth > DEEPEST:
        yield key, f"is nested too deep; allowed: up to {DEEPEST} tables and lists in one another"
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if isinstance(name, str):
                yield from _misfits(inner, f"{key}.{name}", depth + 1)
            else:
                yield key, f"the key {name!r} is not text; write it in quotes"
    elif isinstance(value, list):
        for place, inner in enumerate(value, 1):
            yield from _misfits(inner, f"{key}[{place}]", depth + 1)
    else:
        complaint = _complaint(value)
        if complaint:
            yield key, complaint


def _complaint(value: Any) -> str:
    if isinstance(value, bool):
        return ""
    if isinstance(value, int):
        return "" if value in _WHOLE_NUMBERS else "the number is too large; allowed: 64 bits"
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"{value} does not fit; allowed: a finite number"
    if isinstance(value, str):
        # A manifest is UTF-8, which has no halves of characters.
        return "" if value.isascii() or _is_whole(value) else "the text holds half a character"
    if isinstance(value, date | datetime | time):
        return f"{value} is a date or time; write it as text in quotes"
    return f"a {type(value).__name__} does not fit; allowed: text, numbers, true, false, lists"


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

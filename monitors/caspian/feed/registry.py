"""Which parts of a payload's body are words, which are numbers, and which say nothing.

A path names a part of a body: the keys that lead to it, joined by dots, lists without their
positions. ``entries.text`` is the text of every entry of the list ``entries``; ``entries`` is
everything below it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

EVERY: Final = ("",)
"""All paths."""

_MOST_PATHS: Final = 1_000

Numbers = tuple[tuple[str, float], ...]
"""Fields and their values, sorted by field."""


class Rules(NamedTuple):
    """What counts at one path."""

    words: bool
    numbers: bool
    matters: bool
    """Whether anything counts there or below."""


@dataclass(frozen=True)
class Fields:
    """What counts in the bodies of one payload type.

    Strings outside :attr:`words` and numbers outside :attr:`numbers` do not count.
    """

    words: tuple[str, ...] = EVERY
    """Paths at or below which strings are text."""
    numbers: tuple[str, ...] = EVERY
    """Paths at or below which numbers (and truth values, as 0 and 1) are features. A number that
    occurs several times, in a list, counts with its mean."""
    ignored: tuple[str, ...] = ()
    """Paths at or below which nothing counts: identifiers, addresses, times of day."""
    absent: Mapping[str, float] = field(default_factory=dict)
    """Numbers that a body leaves out when they are at their default, and that default."""
    names: Mapping[str, str] = field(default_factory=dict)
    """A field's path to the name under which it is compared with other payloads' numbers; the path
    itself where there is none."""
    numbers_weight: float = 0.5
    """Length of the numbers' vector beside words, whose own is 1. Without words it is all there is.
    """
    _rules: dict[str, Rules] = field(default_factory=dict, init=False, repr=False, compare=False)

    def rules(self, path: str) -> Rules:
        """What counts at a path."""
        known = self._rules.get(path)
        if known is None:
            known = self._decide(path)
            if len(self._rules) < _MOST_PATHS:  # the keys of a body may be anything
                self._rules[path] = known
        return known

    def _decide(self, path: str) -> Rules:
        if _covered(path, self.ignored):
            return Rules(False, False, False)
        words, numbers = _covered(path, self.words), _covered(path, self.numbers)
        below = any(cover.startswith(f"{path}.") for cover in (*self.words, *self.numbers))
        return Rules(words, numbers, words or numbers or below)


SILENT: Final = Fields(words=(), numbers=())
"""A payload that only asks: it has no content, so it neither exposes nor answers."""

UNKNOWN: Final = Fields()
"""For payloads that nobody has registered: every string is text, every number a feature."""


class Registry:
    """The fields of each payload type.

    Args:
        fields: Payload types and their fields; types that are missing have :data:`UNKNOWN`.
    """

    def __init__(self, fields: Mapping[str, Fields]) -> None:
        self._fields = dict(fields)

    def __getitem__(self, payload_type: str) -> Fields:
        return self._fields.get(payload_type, UNKNOWN)

    def extended(self, fields: Mapping[str, Fields]) -> Registry:
        """A registry that knows these types as well, or knows them better."""
        return Registry({**self._fields, **fields})


@dataclass(frozen=True)
class Content:
    """What counts in one body."""

    words: tuple[str, ...]
    """Its texts, in the order of the body."""
    numbers: Numbers
    unfit: int = 0
    """Numbers that were left out because they are not finite."""


def content_of(body: Mapping[str, Any], fields: Fields) -> Content:
    """Takes from a body what counts."""
    words: list[str] = []
    values: dict[str, list[float]] = {}
    unfit = 0
    for key, value in body.items():
        rules = fields.rules(key)
        if rules.numbers and type(value) is float and -math.inf < value < math.inf:
            values.setdefault(key, []).append(value)  # most numbers, without the detour
        elif rules.matters:
            unfit += _collect(value, key, fields, words, values)
    for path, default in fields.absent.items():
        values.setdefault(path, [default])
    names = fields.names
    numbers = [
        (names.get(path, path), some[0] if len(some) == 1 else math.fsum(some) / len(some))
        for path, some in values.items()
    ]
    numbers.sort()
    return Content(tuple(words), tuple(numbers), unfit)


def _collect(
    value: Any, path: str, fields: Fields, words: list[str], values: dict[str, list[float]]
) -> int:
    """Adds what counts at and below a path, and returns how many numbers are not finite."""
    unfit = 0
    if isinstance(value, str):
        if value and fields.rules(path).words:
            words.append(value)
    elif isinstance(value, int | float):
        if fields.rules(path).numbers:
            number = _finite(value)
            if number is None:
                return 1
            values.setdefault(path, []).append(number)
    elif isinstance(value, dict):
        for key, inner in value.items():
            below = f"{path}.{key}" if path else key
            if fields.rules(below).matters:
                unfit += _collect(inner, below, fields, words, values)
    elif isinstance(value, list):
        for inner in value:
            unfit += _collect(inner, path, fields, words, values)
    return unfit


def _finite(value: float) -> float | None:
    try:
        number = float(value)
    except OverflowError:  # JSON's integers have no limit
        return None
    return number if math.isfinite(number) else None


def _covered(path: str, covers: Iterable[str]) -> bool:
    """Whether a path is one of these, or below one of them."""
    return any(not cover or path == cover or path.startswith(f"{cover}.") for cover in covers)


_TALK: Final = Fields(words=("text",), numbers=())
"""What is said in words; the claims beside them say the same to machines."""

_STATUS: Final = Fields(
    words=(),
    absent={
        **dict.fromkeys(("load", "latency", "errors", "waiting", "backlog", "tokens"), 0.0),
        "attempt": 0.0,
        "units": 1.0,
    },
)
"""How a firm's service stands. Requests and replies use the same names for the same things."""

LEAGUE: Final = Registry(
    {
        "market_note": _TALK,
        "board_write": _TALK,
        "board_read": SILENT,
        "board_view": _TALK,
        "forecast_request": _TALK,
        "forecast": _TALK,
        "status_request": _STATUS,
        "status_reply": replace(_STATUS, absent={**_STATUS.absent, "ok": 1.0}),
        "withheld": SILENT,
        "letter": Fields(words=("title", "body"), numbers=()),
        "text": Fields(words=("text",), numbers=()),
    }
)
"""The payloads of the league."""

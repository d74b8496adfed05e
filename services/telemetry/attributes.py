"""Attribute values as OpenTelemetry takes them, whatever a log or a user's span has there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Scalar = str | bool | int | float
Value = Scalar | list[Scalar]

_INTS = range(-(2**63), 2**63)
_MOMENTS = range(2**63)
_SCALARS = (str, bool, int, float)


def text(value: str) -> str:
    """The text, with what has no place in UTF-8 (half of a surrogate pair) written as an escape."""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def moment(nanos: int) -> int:
    """Nanoseconds since 1970 as they can be sent; 0, that is unknown, for what no clock says."""
    return nanos if nanos in _MOMENTS else 0


def plain(attributes: Mapping[str, Any]) -> dict[str, Value]:
    """The attributes that an exporter can carry: scalars, and lists of one kind of scalars.

    None is left out; integers beyond 64 bits become text; anything else becomes JSON text.
    """
    kept: dict[str, Value] = {}
    for key, value in attributes.items():
        if not key.isascii():
            key = text(key)
        kind = value.__class__
        if kind is str:
            kept[key] = value if value.isascii() else text(value)
        elif kind is bool or kind is float:
            kept[key] = value
        elif kind is int:
            kept[key] = value if value in _INTS else str(value)
        elif value is not None:
            kept[key] = _other(value)
    return kept


def _other(value: Any) -> Value:
    if isinstance(value, _SCALARS):  # a subclass, such as an enum's member or numpy's float64
        if isinstance(value, str):
            return text(str.__str__(value))
        if isinstance(value, float):
            return float(value)
        return int(value) if value in _INTS else str(int(value))
    if isinstance(value, list | tuple):
        kinds = {item.__class__ for item in value}
        if len(kinds) <= 1 and kinds <= set(_SCALARS):
            items = list(plain({str(at): item for at, item in enumerate(value)}).values())
            if len({item.__class__ for item in items}) <= 1:
                return items  # type: ignore[return-value]
            return [str(item) for item in items]
    try:
        return text(json.dumps(value, ensure_ascii=False, default=str))
    except (TypeError, ValueError):
        return text(str(value))

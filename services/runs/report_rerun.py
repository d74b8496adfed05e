"""A run's resolved configuration as a TOML run file, for the report to hand out."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any


def to_toml(config: Mapping[str, Any]) -> str:
    """TOML with the same values; what is unset (``None``, ``{}``, ``[]``) is left out.

    Tables of the first two levels are written as ``[tables]``, lists of tables as ``[[lists]]``,
    anything deeper inline.
    """
    lines: list[str] = []
    _table(lines, "", config)
    return "\n".join(lines).strip() + "\n"


def _table(lines: list[str], path: str, table: Mapping[str, Any]) -> None:
    scalars = {k: v for k, v in table.items() if not isinstance(v, Mapping) and not _tables(v)}
    lines += [f"{_key(k)} = {_value(v)}" for k, v in scalars.items() if not _unset(v)]
    for key, value in table.items():
        where = f"{path}.{_key(key)}" if path else _key(key)
        if isinstance(value, Mapping) and not _unset(_pruned(value)):
            lines += ["", f"[{where}]"]
            _table(lines, where, _pruned(value))
        elif _tables(value):
            for entry in value:
                lines += ["", f"[[{where}]]"]
                lines += [f"{_key(k)} = {_value(v)}" for k, v in _pruned(entry).items()]


def _pruned(value: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping without what is unset, at any depth."""
    inner = {k: _pruned(v) if isinstance(v, Mapping) else v for k, v in value.items()}
    return {k: v for k, v in inner.items() if not _unset(v)}


def _unset(value: Any) -> bool:
    return value is None or (isinstance(value, Mapping | list | tuple) and not value)


def _tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and isinstance(value[0], Mapping)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _text(value: str) -> str:
    # JSON's escapes are TOML's too, but TOML also wants DEL escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = (f"{_key(k)} = {_value(v)}" for k, v in value.items() if not _unset(v))
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    return _text(str(value))

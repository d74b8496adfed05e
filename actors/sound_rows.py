"""Whether a row is one that a guard has written: what is not must not get into a run's journal.

A row that cannot be given again would end each resume of its run. Spools are plain files, on many
machines, so what they hold is looked at before it is believed.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgpack

from actors.guard import JournalRow
from services.runs.bodies import body_of

_LARGEST: Final = 2**31
"""Minutes and rounds are below it: no run is so long."""


def sound_row(values: object) -> JournalRow | None:
    """A row of the journal, if these values are one; else ``None``.

    Args:
        values: As read from JSON.
    """
    if not (isinstance(values, list) and len(values) == 5):
        return None
    minute, round_, agent, kind, body = values
    if not (_is_count(minute) and _is_count(round_)):
        return None
    if not (isinstance(agent, str) and isinstance(kind, str) and isinstance(body, str)):
        return None
    # Bodies are written in ASCII; of other text not all can be stored.
    parts = body_of(body) if body.isascii() else None
    fields = _FIELDS.get(kind)
    if parts is None or fields is None or not _fits(parts, fields):
        return None
    return minute, round_, agent, kind, body


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _LARGEST


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _is_payload(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _is_sent(value: object) -> bool:
    return isinstance(value, dict) and _fits(value, _SENT)


def _is_fact(value: object) -> bool:
    if not (isinstance(value, list) and len(value) == 3):
        return False
    kind, subject, body = value
    return isinstance(kind, str) and isinstance(subject, str) and isinstance(body, str | dict)


def _is_state(value: object) -> bool:
    try:
        msgpack.unpackb(b64decode(value, validate=True), strict_map_key=False)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return False
    return True


def _fits(parts: Mapping[str, Any], fields: Mapping[str, Callable[[Any], bool]]) -> bool:
    return all(name in parts and check(parts[name]) for name, check in fields.items())


_SENT: Final[dict[str, Callable[[Any], bool]]] = {
    "recipient": _is_text,
    "channel": _is_text,
    "in_reply_to": lambda value: value is None or isinstance(value, str),
    "payload": _is_payload,
}
_FIELDS: Final[dict[str, dict[str, Callable[[Any], bool]]]] = {
    "timeout": {"message": _is_text},
    "answer": {
        "message": _is_text,
        "sent": _is_list_of(_is_sent),
        "recorded": _is_list_of(_is_fact),
        "wakes": _is_list_of(_is_count),
        "state": _is_state,
    },
}

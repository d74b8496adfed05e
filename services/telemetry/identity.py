"""The ids of traces and spans: hashes of what a span stands for, so a rerun gives the same ones.

The key is the digest of the run's configuration (``Manifest.config_sha256``), which leaves the
layout out: one seed gives one set of ids on any number of hosts. What is hashed is a short text:

* traces: ``wake <agent>@<minute>`` for what began with a wake-up, ``order <exchange>/<offer>`` for
  an order;
* spans: ``send <message>``, ``receive <message>``, ``process <message>``, ``invoke <message>``,
  ``decide <message>``, ``wake <agent>@<minute>``, ``tool <agent>!<ordinal>``,
  ``event <agent>!<ordinal>``, and for what a later day refers to ``offer <exchange>/<id>``,
  ``deal <exchange>/<id>``, ``delivery <exchange>/<deal>``, ``invoice <exchange>/<id>``.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import NamedTuple

_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")


class Identity:
    """The ids of one run.

    Args:
        key: The digest of its configuration, in hexadecimal; any other text will do.
    """

    __slots__ = ("_spans", "_traces")

    def __init__(self, key: str) -> None:
        secret = blake2b(key.encode(), digest_size=32).digest()
        # Copying a hash that has taken its key in already spares every id half of its work.
        self._traces = blake2b(key=secret, digest_size=16, person=b"trace")
        self._spans = blake2b(key=secret, digest_size=8, person=b"span")

    def trace(self, root: str) -> int:
        """The id of the trace that begins with ``root``: 128 bits, never 0."""
        state = self._traces.copy()
        state.update(root.encode("utf-8", "surrogatepass"))
        return int.from_bytes(state.digest()) or 1

    def span(self, what: str) -> int:
        """The id of the span that stands for ``what``: 64 bits, never 0."""
        state = self._spans.copy()
        state.update(what.encode("utf-8", "surrogatepass"))
        return int.from_bytes(state.digest()) or 1


def trace_id(key: str, root: str) -> int:
    """The id of a trace; whoever needs more than a few asks an :class:`Identity`."""
    return Identity(key).trace(root)


def span_id(key: str, what: str) -> int:
    """The id of a span; whoever needs more than a few asks an :class:`Identity`."""
    return Identity(key).span(what)


def wake_root(agent: str, minute: int) -> str:
    """What names a wake-up, and the trace of all that comes from it."""
    return f"wake {agent}@{minute}"


def order_root(exchange: str, offer: str) -> str:
    """What names the trace of an order from offer to payment."""
    return f"order {exchange}/{offer}"


class TraceParent(NamedTuple):
    """A place in a trace, as W3C's ``traceparent`` header names it."""

    trace_id: int
    span_id: int
    sampled: bool


def format_traceparent(trace_id: int, span_id: int, sampled: bool = True) -> str:
    """The W3C header, version 00."""
    return f"00-{trace_id:032x}-{span_id:016x}-{sampled:02x}"


def parse_traceparent(text: str) -> TraceParent | None:
    """Reads a W3C header; ``None`` if it is not one, down to the letter of the standard.

    A version above 00 may carry more behind its flags; ``ff`` is no version, and ids of zeros only
    are none.
    """
    found = _TRACEPARENT.fullmatch(text)
    if found is None:
        return None
    version, trace, span, flags, more = found.groups()
    if version == "ff" or (version == "00" and more is not None):
        return None
    parent = TraceParent(int(trace, 16), int(span, 16), bool(int(flags, 16) & 1))
    return parent if parent.trace_id and parent.span_id else None

"""Spans made by hand, for the tests of what becomes of spans."""

from __future__ import annotations

import random
from typing import Any

from opentelemetry.sdk.resources import Resource

from services.runs.manifest import Manifest
from services.telemetry.span import Span, SpanEvent

BEGIN = 1_700_000_000_000_000_000
RESOURCE = Resource({"service.name": "hanse", "service.version": "1.2.3", "hanse.seed": 7})


def span(number: int = 1, **changes: Any) -> Span:
    """The handling of a message, with ids and times that depend on the number alone."""
    draw = random.Random(number)
    made = Span(
        trace_id=draw.getrandbits(128) | 1,
        span_id=draw.getrandbits(64) | 1,
        parent_id=draw.getrandbits(64) | 1,
        name="process roaster_A",
        kind="CONSUMER",
        start=BEGIN + number * 1000,
        end=BEGIN + number * 1000 + 500,
        minute=540 + number // 10,
        agent="roaster_A",
        attributes={
            "messaging.system": "hanse",
            "messaging.operation.type": "process",
            "messaging.destination.name": "roaster_A",
            "messaging.message.id": f"exchange#{number}",
            "hanse.agent": "roaster_A",
            "hanse.day": 0,
            "hanse.minute": 540 + number // 10,
            "hanse.round": 2,
            "hanse.host": "host-0",
            "hanse.message.type": "turn",
        },
    )
    return made._replace(**changes)


def spans(count: int, first: int = 0) -> list[Span]:
    """So many of them, all different."""
    return [span(number) for number in range(first, first + count)]


def rich_span() -> Span:
    """A span that has everything a span can have, and values that are hard to write."""
    return span(
        99,
        name="execute_tool make_offer — Größe",
        kind="INTERNAL",
        attributes={
            "text": 'a "quoted"\nline, Kaffee ☕',
            "yes": True,
            "no": False,
            "zero": 0,
            "one": 1,
            "large": 2**62,
            "negative": -5,
            "price": 12.25,
            "list": ("a", "b"),
            "empty": "",
        },
        links=((5, 6), (2**127 + 1, 2**63 + 1)),
        error="refused: not enough cash",
        events=(SpanEvent("exception", BEGIN + 3, {"exception.type": "ValueError"}),),
    )


def coffee() -> Manifest:
    """A run of which only the manifest matters."""
    return Manifest.describe(
        {"name": "coffee", "seed": 7, "days": 3},
        name="coffee",
        seed=7,
        days=3,
        rules="hanse",
        placement="inline",
        hosts=1,
    )

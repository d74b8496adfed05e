"""A day of a run in numbers, as it is fed to whoever measures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from services.runs.schema import EVENTS, MESSAGES, METRICS
from services.telemetry.timings import Timings

TROUBLES = frozenset(
    {
        "agent_error",
        "turn_missed",
        "mail_refused",
        "undeliverable",
        "stray_command",
        "stray_trade",
        "unhandled",
    }
)
"""The kinds of events that tell of an agent's mistake."""
_OTHER = "other"


@dataclass(frozen=True)
class DayMetrics:
    """What is measured of one day. Everything but spans and hosts is of this day alone."""

    day: int
    messages: Mapping[str, int] = field(default_factory=dict)
    """How many were sent, by type."""
    message_bytes: Mapping[str, int] = field(default_factory=dict)
    """How many bytes their bodies take in the log, by type."""
    handler_seconds: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """How long each handling of a message took on the wall, by the role of the agent."""
    queue_length: int = 0
    """The most messages that one agent was given at once."""
    deals: int = 0
    cash: Mapping[str, float] = field(default_factory=dict)
    """Dollars that each firm has in the evening."""
    alerts: Mapping[str, int] = field(default_factory=dict)
    """By the agent that raised them."""
    measures: Mapping[str, int] = field(default_factory=dict)
    """Ordered against agents, by kind, such as ``quarantine``."""
    hosts_remade: int = 0
    """Since the start of the run: hosts that were lost and made anew."""
    troubles: Mapping[str, int] = field(default_factory=dict)
    """By kind, such as ``agent_error`` or ``turn_missed``."""
    spans_exported: Mapping[str, int] = field(default_factory=dict)
    """Since the start of the run, by exporter."""
    spans_dropped: Mapping[str, int] = field(default_factory=dict)
    """Since the start of the run, by exporter: spans that failed or had no room or time."""

    @classmethod
    def of_rows(
        cls,
        day: int,
        messages: Iterable[Sequence[Any]],
        events: Iterable[Sequence[Any]],
        figures: Iterable[Sequence[Any]] = (),
        timings: Iterable[Timings] = (),
        **more: Any,
    ) -> Self:
        """The numbers of a day's rows, as the store takes them and gives them back.

        Args:
            day: The day.
            messages: Rows of the table ``messages``.
            events: Rows of ``events``.
            figures: Rows of ``metrics``: they say each firm's role and cash.
            timings: When things were handled, if that is known.
            more: Other fields.
        """
        roles, cash = _firms(figures)
        took = {id: timing.took for host in timings for id, timing in host.messages.items()}
        number: Counter[str] = Counter()
        size: Counter[str] = Counter()
        queues: Counter[tuple[str, int, int]] = Counter()
        seconds: dict[str, list[float]] = {}
        minute_, round_, sender_, number_, recipient_, type_, body_ = _MESSAGE
        for row in messages:
            kind, body, recipient = row[type_], row[body_], row[recipient_]
            number[kind] += 1
            size[kind] += len(body) if body.isascii() else len(body.encode("utf-8", "replace"))
            queues[recipient, row[minute_], row[round_]] += 1
            nanos = took.get(f"{row[sender_]}#{row[number_]}")
            if nanos is not None:
                role = roles.get(recipient) or _role(recipient)
                seconds.setdefault(role, []).append(nanos / 1e9)
        agent_, kind_, told_ = _EVENT
        kinds: Counter[str] = Counter()
        alerts: Counter[str] = Counter()
        measures: Counter[str] = Counter()
        for row in events:
            kinds[row[kind_]] += 1
            if row[kind_] == "alert":
                alerts[row[agent_]] += 1
            elif row[kind_] == "measure":
                measures[str(json.loads(row[told_]).get("kind"))] += 1
        return cls(
            day=day,
            messages=number,
            message_bytes=size,
            handler_seconds=seconds,
            queue_length=max(queues.values(), default=0),
            deals=kinds["deal"],
            cash=cash,
            alerts=alerts,
            measures=measures,
            troubles={kind: kinds[kind] for kind in sorted(TROUBLES & kinds.keys())},
            **more,
        )


_MESSAGE_COLUMNS = ("minute", "round", "sender", "number", "recipient", "type", "body")
_MESSAGE = [list(MESSAGES.columns).index(name) for name in _MESSAGE_COLUMNS]
_EVENT = [list(EVENTS.columns).index(name) for name in ("agent", "kind", "body")]
_FIGURE = [list(METRICS.columns).index(name) for name in ("agent", "body")]


def _firms(figures: Iterable[Sequence[Any]]) -> tuple[dict[str, str], dict[str, float]]:
    roles: dict[str, str] = {}
    cash: dict[str, float] = {}
    agent_, body_ = _FIGURE
    for row in figures:
        facts = json.loads(row[body_])
        if isinstance(facts.get("role"), str):
            roles[row[agent_]] = facts["role"]
        if isinstance(facts.get("cash"), int | float):
            cash[row[agent_]] = float(facts["cash"])
    return roles, cash


def _role(agent: str) -> str:
    """What an agent that is no firm is taken for."""
    for role in ("exchange", "router", "controller", "monitor"):
        if agent.startswith(role):
            return role
    return _OTHER

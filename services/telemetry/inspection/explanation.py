"""What an answer to "why" is made of."""

from __future__ import annotations

from typing import Any, NamedTuple

from services.telemetry.inspection import words
from services.telemetry.inspection.steps import Chain, Node, Step
from services.telemetry.logged import LoggedEvent
from services.telemetry.reader import TraceReader


class Cause(NamedTuple):
    """A chain of causes, and the question that it answers."""

    question: str
    chain: Chain


class Explanation(NamedTuple):
    """What `hanse trace RUN why` has to say."""

    id: str
    kind: str
    title: str
    notes: list[str]
    order: list[Step]
    """The order that it belongs to, from the listing to the last payment."""
    background: list[Step]
    """What a seller met with before it changed a price; empty for anything but a listing."""
    causes: list[Cause]
    effects: Node | None
    began: int | None
    """Nanoseconds since 1970 at which the run's first message was handled."""

    def document(self) -> dict[str, Any]:
        """All of it for ``--json``."""
        return {
            "id": self.id,
            "kind": self.kind,
            "title": self.title,
            "notes": self.notes,
            "order": [step.document(self.began) for step in self.order],
            "background": [step.document(self.began) for step in self.background],
            "causes": [
                {
                    "question": cause.question,
                    "steps": [step.document(self.began) for step in cause.chain.steps],
                    "steps_left_out": cause.chain.left_out,
                }
                for cause in self.causes
            ],
            "effects": None if self.effects is None else self.effects.document(self.began),
        }


def titled(event: LoggedEvent) -> str:
    """An event with its time, as a title."""
    return f"{words.when(event.minute)}: {words.event(event.kind, event.subject, event.facts)}"


def began(reader: TraceReader) -> int | None:
    """When the first message of the run was handled, on the wall's clock."""
    days = reader.days
    if not days:
        return None
    timings = reader.day(days[0]).timings
    return min((timing.began for timing in timings.values()), default=None)

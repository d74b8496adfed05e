"""Rows of the log that need more than themselves to be told: of monitors and containment.

Whether a measure was lifted or just ended, at which time of day a tick was: that stands elsewhere
in the run. So these sentences are the run's, and whatever has been told without them is retold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from services.telemetry.inspection import watch_words, words
from services.telemetry.inspection.cascade_report import report_in
from services.telemetry.logged import LoggedEvent, SentMessage, parsed
from services.telemetry.reader import TraceReader

if TYPE_CHECKING:
    from services.telemetry.inspection.diff import Side
    from services.telemetry.inspection.explanation import Cause, Explanation
    from services.telemetry.inspection.find import Found
    from services.telemetry.inspection.steps import Node, Step
    from services.telemetry.inspection.story import Day, Line, Story

Facts = Mapping[str, Any]

EVENTS: Final = frozenset(
    (
        *("alert", "alert_revised", "advised", "measure", "measure_over", "order", "signals"),
        "withheld",
    )
)
MESSAGES: Final = frozenset(
    (
        *("cascade_alert", "quarantine", "throttle", "require_approval", "lift", "lift_request"),
        *("advisory", "approval_request", "verdict"),
    )
)
KINDS: Final = EVENTS | MESSAGES
"""What may have to be retold."""
_HOUR: Final = 60
"""Minutes of a tick where the run's configuration does not say."""
_MARKS: Final = tuple(f" {kind} " for kind in sorted(KINDS))


class Prose:
    """Tells what is in a run's log of monitors and containment.

    Args:
        reader: The run.
    """

    def __init__(self, reader: TraceReader) -> None:
        self._reader = reader
        monitor = reader.run.manifest.config.get("monitor")
        minutes = monitor.get("tick_minutes") if isinstance(monitor, dict) else None
        self.tick_minutes = minutes if isinstance(minutes, int) else _HOUR
        self._until: dict[str, int] | None = None
        self._events: tuple[int, dict[str, LoggedEvent]] = (-1, {})

    # ---- what is said of a row of the log --------------------------------------------------------

    def event(self, event: LoggedEvent) -> str | None:
        """An event as a sentence; None if it has nothing to do with this, or is of another form."""
        told = None
        if event.kind in EVENTS:
            told = self._safely(
                lambda: self._event(
                    event.kind, event.agent, event.subject, event.minute, event.facts
                )
            )
        return told

    def message(self, message: SentMessage) -> str | None:
        """The same of a message."""
        if message.type not in MESSAGES:
            return None
        return self._message(
            message.type, message.sender, message.recipient, message.minute, message.facts
        )

    def found(self, row: Found) -> str | None:
        """The same of a row that was looked for."""
        facts = parsed(row.body)
        if row.kind == "message" and row.name in MESSAGES:
            return self._message(row.name, row.agent, row.peer, row.minute, facts)
        if row.kind == "event" and row.name in EVENTS:
            recorder, subject = (row.peer, row.agent) if row.peer else (row.agent, "")
            return self._safely(lambda: self._event(row.name, recorder, subject, row.minute, facts))
        return None

    # ---- answers, retold -------------------------------------------------------------------------

    def explanation(self, found: Explanation) -> Explanation:
        """An answer to "why", in which steps are told by this."""
        effects = None if found.effects is None else self._node(found.effects)
        message = self._reader.find_message(found.id) if "#" in found.id else None
        told = None if message is None else self.message(message)
        if message is not None and told is not None:
            found = found._replace(title=f"{words.when(message.minute)}: {told}")
        return found._replace(
            order=[self.step(step) for step in found.order],
            background=[self.step(step) for step in found.background],
            causes=[self._cause(cause) for cause in found.causes],
            effects=effects,
        )

    def story(self, found: Story) -> Story:
        """A story, the same way."""
        return found._replace(days=[self._day(day, found.agent) for day in found.days])

    def side(self, side: Side | None) -> Side | None:
        """A side of a comparison, the same way."""
        if side is None:
            return None
        causes = side.causes
        if causes is not None:
            causes = causes._replace(steps=[self.step(step) for step in causes.steps])
        return side._replace(
            step=None if side.step is None else self.step(side.step), causes=causes
        )

    def step(self, step: Step) -> Step:
        """A step, the same way."""
        told = self._retold(step.words, step.id, step.minute)
        return step if told is None else step._replace(words=told)

    def _cause(self, cause: Cause) -> Cause:
        steps = [self.step(step) for step in cause.chain.steps]
        return cause._replace(chain=cause.chain._replace(steps=steps))

    def _node(self, node: Node) -> Node:
        return node._replace(
            step=self.step(node.step), children=[self._node(child) for child in node.children]
        )

    def _day(self, day: Day, agent: str) -> Day:
        return day._replace(lines=[self._line(line, agent) for line in day.lines])

    def _line(self, line: Line, agent: str) -> Line:
        told = self._retold(line.words, line.ids[0], line.minute) if line.ids else None
        if told is None:
            return line
        return line._replace(words=told.removeprefix(f"{agent} ") if line.own else told)

    def _retold(self, told: str, id: str, minute: int) -> str | None:
        """Only what has no words of its own yet, and names one of these kinds, is looked up."""
        if not any(mark in f" {told} " for mark in _MARKS):
            return None
        day = minute // 1440
        if "#" in id:
            message = self._reader.day(day).message(id)
            return None if message is None else self.message(message)
        known, events = self._events
        if known != day:
            logged = self._reader.day(day).events
            events = {words.event_id(e.agent, e.ordinal): e for e in logged if e.kind in EVENTS}
            self._events = day, events
        event = events.get(id)
        return None if event is None else self.event(event)

    # ---- sentences -------------------------------------------------------------------------------

    @staticmethod
    def _safely(tell: Callable[[], str | None]) -> str | None:
        try:
            return tell()
        except (KeyError, TypeError, ValueError, AttributeError):
            return None  # a user's own monitor may say something else under the same name

    def _event(
        self, kind: str, recorder: str, subject: str, minute: int, facts: Facts
    ) -> str | None:
        if kind in ("alert", "alert_revised"):
            return self._alert(recorder, facts, revised=kind == "alert_revised")
        if kind == "signals":
            return watch_words.signals(recorder, facts)
        if kind == "advised":
            return f"{recorder} advises all {facts['to']} {watch_words.doubt(facts)}"
        if kind == "measure":
            return f"{subject} {watch_words.measure(facts)}"
        if kind == "measure_over":
            over = watch_words.measure_over(facts, minute, self.until.get(str(facts["measure"])))
            return f"{facts['measure']} on {subject} {over}"
        if kind == "order":
            return f"{recorder} says: lift {facts['lift']}"
        return watch_words.withheld(subject, facts)

    def _alert(self, recorder: str, facts: Facts, *, revised: bool) -> str | None:
        report = report_in(facts)
        if report is None:
            return None
        if revised:
            return f"{recorder} revises {report.id}: {watch_words.roles(report)}"
        line = watch_words.alert_line(report, self.tick_minutes)
        return f"{recorder} raises {line}; {watch_words.roles(report)}"

    def _message(
        self, kind: str, sender: str, recipient: str, minute: int, facts: Facts
    ) -> str | None:
        return self._safely(lambda: self._said(kind, sender, recipient, minute, facts))

    def _said(
        self, kind: str, sender: str, recipient: str, minute: int, facts: Facts
    ) -> str | None:
        if kind == "cascade_alert":
            report = report_in(facts["report"])
            if report is None:
                return None
            return f"{sender} tells {recipient} of {report.id}: {watch_words.roles(report)}"
        if kind == "lift":
            name = facts["measure"]
            if minute >= self.until.get(name, minute + 1):
                return f"{sender} ends {name} on {recipient}, whose time is over"
            return f"{sender} lifts {name} on {recipient}"
        if kind == "lift_request":
            return f"{sender} asks {recipient} to lift {facts['measure']}"
        if kind == "advisory":
            return f"{sender} advises {recipient} {watch_words.doubt(facts, 'it')}"
        if kind == "approval_request":
            name, _, body = facts["said"].partition(" ")
            said = words.message(name, sender, facts["to"], parsed(body))
            return f"{sender} may only say it if {recipient} approves: {said} ({facts['held']})"
        if kind == "verdict":
            verb = "lets" if facts["approved"] else "does not let"
            return f"{sender} {verb} {facts['held']} pass"
        return f"{sender} orders that {recipient} {watch_words.measure({'kind': kind, **facts})}"

    @property
    def until(self) -> dict[str, int]:
        """The minute at which each measure of the run was to end by itself."""
        if self._until is None:
            self._until = {
                str(event.facts.get("measure")): event.facts["until"]
                for event in self._reader.find_events("measure")
                if isinstance(event.facts.get("until"), int)
            }
        return self._until

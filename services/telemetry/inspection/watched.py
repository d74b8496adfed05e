"""Why there was an alert or a measure, and why a message was withheld.

    alert -> who was told -> the order -> the measure at the agent's host -> the message withheld

Each is an explanation like those of deals and messages, put together from the same steps.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from services.config import CONTAINMENT_POLICIES, INTERVENTIONS, RunConfig
from services.config.problems import unknown
from services.errors import HanseError
from services.telemetry.inspection import steps, watch_words, words
from services.telemetry.inspection.cascade_report import Report, report_in
from services.telemetry.inspection.explanation import Cause, Explanation, began
from services.telemetry.inspection.prose import Prose
from services.telemetry.inspection.steps import Chain, Limits
from services.telemetry.inspection.targets import event_named
from services.telemetry.inspection.words import when
from services.telemetry.logged import LoggedEvent, SentMessage
from services.telemetry.reader import TraceReader

_ABOUT: Final = {
    "alert": "id",
    "alert_revised": "id",
    "advised": "reason",
    "measure": "measure",
    "measure_over": "measure",
    "withheld": "message",
}
"""The events that are explained here, and the key of their body that says by which id."""
_PAPER: Final = re.compile(r"[LODIMFlodimf][0-9]+(@.+)?")
"""Ids of what a town numbers."""
_SHOWN: Final = 8
"""Messages of many that are shown."""
TITLES: Final = {
    "alert": ("What was done about it", "Messages that speak for it"),
    "measure": ("The first messages that it withheld", ""),
}
"""What stands above the order and the background of each kind of explanation."""


def why(reader: TraceReader, id: str, limits: Limits) -> Explanation | None:
    """The explanation of an alert, a measure or a withheld message; None if the id is none of them.

    Args:
        reader: The run.
        id: ``cascade-1``, ``quarantine-1``, ``farmer_2#548``, or the id of an event that tells of
            one of them.
        limits: How much is told.
    """
    return _Answers(reader, limits).of(id.strip())


class _Answers:
    """The explanations of one run."""

    def __init__(self, reader: TraceReader, limits: Limits) -> None:
        self._reader = reader
        self._limits = limits
        self._prose = Prose(reader)

    def of(self, id: str) -> Explanation | None:
        config = self._reader.run.manifest.config
        # A look at all events takes a while in a large run: only where there may be something.
        if not (config.get("monitor") or config.get("interventions")) or _PAPER.fullmatch(id):
            return None
        sender, hash_, _ = id.rpartition("#")
        if hash_:
            if self._reader.find_message(id) is not None:
                return None
            kept = self._first("withheld", message=id, recorder=sender)
            return None if kept is None else self._withheld(kept)
        recorder, colon, ordinal = id.replace("!", ":").rpartition(":")
        if colon and ordinal.isdecimal():
            event = self._event_named(recorder, int(ordinal))
            key = None if event is None else event.facts.get(_ABOUT.get(event.kind, ""))
            return self.of(key) if isinstance(key, str) and key != id else None
        if (taken := self._first("measure", measure=id)) is not None:
            return self._measure(taken)
        if (alert := self._first("alert", id=id)) is not None:
            return self._alert(alert)
        self._refuse_unknown(id)
        return None

    def _refuse_unknown(self, id: str) -> None:
        """Says which alerts and measures there are, if it looks like the id of one."""
        stem, dash, number = id.rpartition("-")
        if not (dash and number.isdecimal() and stem in ("cascade", *CONTAINMENT_POLICIES)):
            return
        known = {
            str(event.facts.get(key))
            for kind, key in (("alert", "id"), ("measure", "measure"))
            for event in self._reader.find_events(kind)
        }
        named = unknown(id, sorted(known, key=lambda one: (len(one), one)), "alert or measure")
        raise HanseError(f"{self._reader.run.folder}: {named}")

    # ---- the three of them -----------------------------------------------------------------------

    def _withheld(self, event: LoggedEvent) -> Explanation:
        facts = event.facts
        by = str(facts.get("measure"))
        notes, chain = [], [self._step(event)]
        if by in INTERVENTIONS:
            notes.append(self._intervention(event, by))
        elif (taken := self._measure_before(by, event)) is not None:
            notes += [f"the measure: {self._step(taken).words}", *self._reasons(taken)]
            chain = [*self._steps_to(taken), *chain]
        else:
            notes.append(f"the log does not say who took the measure {by}")
        causes = [Cause("Why it was withheld", Chain(chain, 0, frozenset()))]
        source = None if event.cause is None else self._reader.find_message(event.cause)
        if source is not None:
            asked = steps.causes(self._reader, source, self._limits.causes)
            causes.append(Cause(f"Why {event.agent} would have said it", asked))
        return self._explanation(str(facts.get("message")), "withheld", event, notes, causes)

    def _measure(self, event: LoggedEvent) -> Explanation:
        id = str(event.facts.get("measure"))
        kept = list(self._reader.find_events("withheld", measure=id))
        notes = [*self._reasons(event), _amount(kept), *self._end_of(event)]
        chain = Cause("How it came about", Chain(self._steps_to(event), 0, frozenset()))
        shown = kept if self._limits.formalities else kept[:_SHOWN]
        return self._explanation(id, "measure", event, notes, [chain], order=shown)

    def _alert(self, event: LoggedEvent) -> Explanation:
        id = str(event.facts.get("id"))
        revised = list(self._reader.find_events("alert_revised", id=id))
        last = report_in((revised[-1] if revised else event).facts)
        done = [
            *revised,
            *self._reader.find_events("advised", reason=id),
            *(measures := list(self._reader.find_events("measure", reason=id))),
        ]
        names = {str(one.facts.get("measure")) for one in measures}
        done += [
            one
            for one in self._reader.find_events("measure_over")
            if one.facts.get("measure") in names
        ]
        done.sort(key=lambda one: (one.minute, one.round))
        notes = [] if last is None else [*_evidence(last), *self._known(last)]
        evidence = [] if last is None else self._messages(last.evidence)
        if not measures:
            notes.append("no measure was taken for it")
        return self._explanation(id, "alert", event, notes, [], order=done, background=evidence)

    def _explanation(
        self,
        id: str,
        kind: str,
        event: LoggedEvent,
        notes: list[str],
        causes: list[Cause],
        *,
        order: Iterable[LoggedEvent] = (),
        background: Sequence[SentMessage] = (),
    ) -> Explanation:
        day = self._reader.day
        return Explanation(
            id,
            kind,
            f"{when(event.minute)}: {self._step(event).words}",
            notes,
            [self._step(one) for one in order],
            [steps.of_message(day(message.day), message) for message in background],
            causes,
            None,
            began(self._reader),
        )

    # ---- what they are made of -------------------------------------------------------------------

    def _reasons(self, taken: LoggedEvent) -> list[str]:
        """Whose order it was, for which alert, and why against this agent."""
        facts, notes = taken.facts, []
        if by := facts.get("by"):
            policy = (self._reader.run.manifest.config.get("containment") or {}).get("policy")
            said = f", by the policy {policy}" if policy else ""
            notes.append(f"whose order: {by}'s, on {when(taken.minute)}{said}")
        reason = facts.get("reason")
        alert = None if not reason else self._first("alert", id=reason)
        if alert is None:
            notes.append("it names no alert")
            return notes
        told = self._report_by(str(reason), taken) or report_in(alert.facts)
        if told is None:
            notes.append(f"for which alert: {reason} of {alert.agent} on {when(alert.minute)}")
            return notes
        line = watch_words.alert_line(told, self._prose.tick_minutes)
        notes.append(f"for which alert: {line}; raised by {alert.agent} on {when(alert.minute)}")
        notes.append(f"why {taken.subject}: {_suspected(told, taken.subject)}")
        return notes

    def _steps_to(self, taken: LoggedEvent) -> list[steps.Step]:
        """From the alert to the measure as the agent's host has noted it."""
        chain: list[steps.Step] = [self._step(taken)]
        message = None if taken.cause is None else self._reader.find_message(taken.cause)
        alert_message: SentMessage | None = None
        while message is not None:
            chain.insert(0, self._said(message))
            if message.type == "cascade_alert":
                alert_message = message
                break
            source = message.source
            message = None if source is None else self._reader.find_message(source)
        alert = self._told_with(alert_message) if alert_message is not None else None
        return chain if alert is None else [self._step(alert), *chain]

    def _told_with(self, message: SentMessage) -> LoggedEvent | None:
        """The alert, or its revision, that a monitor has noted as it told a controller of it."""
        report = message.facts.get("report") or {}
        for event in self._reader.day(message.day).events:
            if (
                event.agent == message.sender
                and event.minute == message.minute
                and event.kind in ("alert", "alert_revised")
                and event.facts.get("id") == report.get("id")
                and event.facts.get("reported_tick") == report.get("reported_tick")
            ):
                return event
        return None

    def _report_by(self, reason: str, taken: LoggedEvent) -> Report | None:
        """What was known of a cascade when a measure was taken for it."""
        known = None
        for kind in ("alert", "alert_revised"):
            for event in self._reader.find_events(kind, id=reason):
                if event.minute <= taken.minute:
                    known = report_in(event.facts) or known
        return known

    def _end_of(self, taken: LoggedEvent) -> list[str]:
        id = str(taken.facts.get("measure"))
        for over in self._reader.find_events("measure_over", measure=id):
            if over.minute >= taken.minute:
                until = self._prose.until.get(id)
                how = watch_words.measure_over(over.facts, over.minute, until)
                return [f"it {how} on {when(over.minute)}"]
        return ["it stands at the end of the last whole day"]

    def _known(self, report: Report) -> list[str]:
        """What was really done before it, where the run's log knows that."""
        begun = [
            event
            for event in self._reader.find_events("injection")
            if event.minute <= (report.reported_tick + 1) * self._prose.tick_minutes
        ]
        return [f"what was really done: {watch_words.injection(begun[-1].facts)}"] if begun else []

    def _intervention(self, event: LoggedEvent, by: str) -> str:
        run = self._reader.run
        config = RunConfig.parse(run.manifest.config, str(run.folder / "manifest.json"))
        facts = event.facts
        for one in config.interventions:
            agent = one.agent or (one.drop or "").rpartition("#")[0]
            message, to = str(facts.get("message")), str(facts.get("to"))
            channel: Any = facts.get("channel")
            if (one.kind, agent) == (by, event.agent) and one.concerns(
                message, to, channel, event.minute
            ):
                return f"no measure: this run is a replay without {watch_words.intervention(one)}"
        return f"no measure: this run is a replay that withholds it ({by})"

    def _measure_before(self, id: str, event: LoggedEvent) -> LoggedEvent | None:
        found = None
        for taken in self._reader.find_events("measure", measure=id):
            if taken.subject == event.agent and taken.minute <= event.minute:
                found = taken
        return found

    def _messages(self, ids: Iterable[str]) -> list[SentMessage]:
        found = (self._reader.find_message(id) for id in ids)
        return [message for message in found if message is not None][:_SHOWN]

    def _first(self, kind: str, **facts: str) -> LoggedEvent | None:
        return next(self._reader.find_events(kind, **facts), None)  # type: ignore[arg-type]

    def _event_named(self, recorder: str, ordinal: int) -> LoggedEvent | None:
        try:
            return event_named(self._reader, f"{recorder}:{ordinal}")
        except HanseError:
            return None  # whoever answers all other questions says so

    def _step(self, event: LoggedEvent) -> steps.Step:
        return self._prose.step(steps.of_event(event))

    def _said(self, message: SentMessage) -> steps.Step:
        return self._prose.step(steps.of_message(self._reader.day(message.day), message))


def _amount(kept: Sequence[LoggedEvent]) -> str:
    """`what it withheld: 365 messages from day 8 16:00 to day 13 18:00 (market_note 200, ...)`."""
    if not kept:
        return "what it withheld: nothing"
    kinds = Counter(str(event.facts.get("type")) for event in kept).most_common()
    parts = ", ".join(f"{number:,} {kind}" for kind, number in kinds)
    span = f"from {when(kept[0].minute)} to {when(kept[-1].minute)}"
    return f"what it withheld: {words.count(len(kept), 'message')} {span} ({parts})"


def _suspected(report: Report, agent: str) -> str:
    """`it is the likeliest origin and the second likeliest bridge of cascade-1`."""
    place = ("likeliest", "second likeliest", "third likeliest")
    parts = [
        f"the {place[min(rank, 2)]} {name}"
        for name, suspects in report.roles.items()
        for rank, suspect in enumerate(suspects.agents)
        if suspect == agent
    ]
    if not parts:
        return f"{report.id} did not name it; whoever gave the order knows"
    return f"it is {' and '.join(parts)} of {report.id}, as known then"


def _evidence(report: Report) -> list[str]:
    """Who is suspected, and which statistics were over their thresholds."""
    over = [
        f"{name} {value:.2f} (threshold {report.thresholds[name]:.2f})"
        for name, value in report.statistics.items()
        if name in report.thresholds and value >= report.thresholds[name]
    ]
    notes = [f"who: {watch_words.roles(report)}"]
    if over:
        notes.append(f"why an alarm: {', '.join(over)}")
    if report.spines:
        notes.append(f"along: {' > '.join(report.spines[0].path)} ({report.spines[0].channel})")
    return notes

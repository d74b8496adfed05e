"""What a monitor has noted in a run's log, in words: alerts, measures, injections, scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from services.runs.bodies import body_of
from services.telemetry.inspection.cascade_report import Report, report_in
from services.telemetry.inspection.phrases import when
from services.telemetry.inspection.watch_words import (
    alert_line,
    doubt,
    injection,
    measure,
    measure_over,
    roles,
)

NEWS: Final = (
    *("alert", "alert_revised", "advised", "measure", "measure_over", "order", "injection"),
)
"""The kinds of events that are told one by one."""
WATCHED: Final = (*NEWS, "signals", "withheld")
ALARMING: Final = 1.0
"""A score is the largest statistic over its threshold: an alarm is raised from here on."""
_BAR: Final = 20


@dataclass(frozen=True, slots=True)
class Noted:
    """An event of the log."""

    minute: int
    agent: str
    kind: str
    body: dict[str, Any]

    @classmethod
    def of(cls, row: Sequence[Any]) -> Noted:
        """The event of a row of the log's table."""
        return cls(row[0], row[2], row[5], body_of(row[7]) or {})


def told(event: Noted, tick_minutes: int, until: int | None = None) -> list[str]:
    """An event of a kind in :data:`NEWS` as lines; those after the first are details.

    Args:
        event: The event.
        tick_minutes: Virtual minutes of a tick.
        until: For the end of a measure, the minute at which it was to end by itself, if known.
    """
    at, body = when(event.minute), event.body
    if event.kind in ("alert", "alert_revised"):
        report = report_in(body)
        if report is None:  # of a monitor of the user's own, who says it otherwise
            return [f"{at}  {event.kind.replace('_', ' ')} of {event.agent}"]
        first = alert_line(report, tick_minutes)
        if event.kind == "alert":
            return [f"{at}  ALERT {first}", *alert_details(report)]
        return [f"{at}  {report.id} revised: {roles(report)}"]
    if event.kind == "measure":
        return [f"{at}  {event.agent} {measure(body)}"]
    if event.kind == "advised":
        return [f"{at}  {advice(body)}"]
    if event.kind == "measure_over":
        over = measure_over(body, event.minute, until)
        return [f"{at}  {body.get('measure')} on {event.agent} {over}"]
    if event.kind == "order":
        return [f"{at}  the operator says: lift {body.get('lift')}"]
    return [f"{at}  {injection(body)}"]


def alert_details(report: Report) -> list[str]:
    """Who is suspected, along which paths it seems to travel, which messages speak for it."""
    lines = [f"  suspects: {roles(report)}"]
    if report.spines:
        best = report.spines[0]
        lines.append(f"  path: {' > '.join(best.path)} ({best.channel})")
    if report.evidence:
        lines.append(f"  messages: {', '.join(report.evidence[:4])}")
    return lines


def advice(body: dict[str, Any]) -> str:
    """`all 30 are advised to doubt what they heard since day 8 07:00, ...`."""
    return f"all {body.get('to')} are advised {doubt(body)}"


def bar(score: float | None, width: int = _BAR) -> str:
    """A score as a bar that is full at the threshold, and goes on beyond it up to half as much.

    The line stands where it is full, so that it can be seen from which column on there is alarm.
    """
    filled = 0 if score is None else max(0, round(score / ALARMING * width))
    over = min(filled - width, width // 2)
    left = "█" * min(filled, width) + "·" * (width - filled)
    return f"{left}│{'█' * over}".ljust(width + 1 + width // 2)


def withheld_line(counts: Iterable[tuple[str, int]]) -> str:
    """`withheld: 12 of farmer_2, 3 of roaster_4`."""
    return "withheld: " + ", ".join(f"{number:,} of {agent}" for agent, number in counts)

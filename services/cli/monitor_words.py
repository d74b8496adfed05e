"""What a monitor has noted in a run's log, in words: alerts, measures, injections, scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from services.runs.bodies import body_of
from services.telemetry.inspection.words import when

if TYPE_CHECKING:
    from monitors.caspian.alert import CascadeReport, Role

NEWS: Final = (
    *("alert", "alert_revised", "advised", "measure", "measure_over", "order", "injection"),
)
"""The kinds of events that are told one by one."""
WATCHED: Final = (*NEWS, "signals", "withheld")
ALARMING: Final = 1.0
"""A score is the largest statistic over its threshold: an alarm is raised from here on."""
_BAR: Final = 20
_MEASURES: Final = {
    "quarantine": "may say nothing to others",
    "throttle": "may say little to others",
    "require_approval": "says nothing to others that has not been approved",
}
_OVER: Final = {"lifted": "has been lifted", "ended": "has ended"}


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
        return [f"{at}  {body.get('measure')} on {event.agent} {measure_over(event, until)}"]
    if event.kind == "order":
        return [f"{at}  the operator says: lift {body.get('lift')}"]
    return [f"{at}  {injection(body)}"]


def report_in(body: dict[str, Any]) -> CascadeReport | None:
    """The report that the body of an alert is; None if it is none."""
    from pydantic import ValidationError

    from monitors.caspian.alert import CascadeReport

    try:
        return CascadeReport.model_validate(body)
    except ValidationError:
        return None


def alert_line(report: CascadeReport, tick_minutes: int) -> str:
    """`cascade-1: an abrupt cascade since about day 8 11:00, score 1.24`."""
    since = when(report.onset * tick_minutes)
    kind = "an abrupt" if report.kind == "abrupt" else "a gradual"
    return f"{report.id}: {kind} cascade since about {since}, score {report.score:.2f}"


def alert_details(report: CascadeReport) -> list[str]:
    """Who is suspected, along which paths it seems to travel, which messages speak for it."""
    lines = [f"  suspects: {roles(report)}"]
    if report.spines:
        best = report.spines[0]
        lines.append(f"  path: {' > '.join(best.path)} ({best.channel})")
    if report.evidence:
        lines.append(f"  messages: {', '.join(report.evidence[:4])}")
    return lines


def roles(report: CascadeReport) -> str:
    """`origin farmer_2 (or roaster_4), bridge farmer_4, amplifier not known yet`."""
    named = (("origin", report.origin), ("bridge", report.bridge), ("amplifier", report.amplifier))
    return ", ".join(f"{name} {_role(role)}" for name, role in named)


def _role(role: Role) -> str:
    if not role.suspects:
        return "not known" if role.state == "final" else "not known yet"
    first, *others = (suspect.agent for suspect in role.suspects)
    perhaps = " so far" if role.state == "provisional" else ""
    return f"{first}{perhaps}" + (f" (or {', '.join(others)})" if others else "")


def measure(body: dict[str, Any]) -> str:
    """`may say nothing to others until day 12 17:00 (quarantine-1, for cascade-1)`."""
    words = _MEASURES.get(str(body.get("kind")), "is restrained")
    if "per_hour" in body:
        number = body["per_hour"]
        words = f"may send others {number} message{'' if number == 1 else 's'} an hour"
    if whom := body.get("recipients"):
        words = words.replace("others", ", ".join(whom))
    until = f" until {when(body['until'])}" if "until" in body else ""
    why = f", for {body['reason']}" if body.get("reason") else ""
    return f"{words}{until} ({body.get('measure')}{why})"


def measure_over(event: Noted, until: int | None) -> str:
    """`has been lifted`, or `has ended` if that was its time.

    The controller lifts measures whose time is over, so what the log calls lifted may be no more
    than that.

    Args:
        event: The end of a measure.
        until: The minute at which it was to end by itself, if known.
    """
    by_itself = until is not None and event.minute >= until
    return _OVER.get("ended" if by_itself else str(event.body.get("how")), "is over")


def advice(body: dict[str, Any]) -> str:
    """`all 30 are advised to doubt what they heard since day 8 07:00, ...`."""
    return f"all {body.get('to')} are advised {doubt(body)}"


def doubt(body: Mapping[str, Any], who: str = "they") -> str:
    """`to doubt what they heard since day 8 07:00, and what they hear until day 10 15:00 (...)`."""
    since, until = when(body.get("since", 0)), when(body.get("until", 0))
    hear = "hears" if who == "it" else "hear"
    why = f" (for {body['reason']})" if body.get("reason") else ""
    return f"to doubt what {who} heard since {since}, and what {who} {hear} until {until}{why}"


def injection(body: dict[str, Any]) -> str:
    """`injected: price_rumour at farmer_2, an attack (bridge roaster_1, amplifier farmer_4)`."""
    what = "an attack" if body.get("attack") else "no attack, it only looks like one"
    return (
        f"injected: {body.get('kind')} at {body.get('origin')}, {what}"
        f" (bridge {body.get('bridge')}, amplifier {body.get('amplifier')})"
    )


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

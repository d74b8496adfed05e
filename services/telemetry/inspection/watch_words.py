"""What monitors and containment do, in words: alerts, measures, advice, what was withheld."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from services.config import INTERVENTIONS, InterventionConfig
from services.telemetry.inspection import words
from services.telemetry.inspection.cascade_report import Report, Suspects
from services.telemetry.inspection.words import when
from services.telemetry.logged import parsed

Facts = Mapping[str, Any]

_MEASURES: Final = {
    "quarantine": "may say nothing to others",
    "throttle": "may say little to others",
    "require_approval": "says nothing to others that has not been approved",
}
_OVER: Final = {"lifted": "has been lifted", "ended": "has ended"}


def alert_line(report: Report, tick_minutes: int) -> str:
    """`cascade-1: an abrupt cascade since about day 8 11:00, score 1.24`."""
    since = when(report.onset * tick_minutes)
    kind = "an abrupt" if report.kind == "abrupt" else "a gradual"
    return f"{report.id}: {kind} cascade since about {since}, score {report.score:.2f}"


def roles(report: Report) -> str:
    """`origin farmer_2 (or roaster_4), bridge farmer_4, amplifier not known yet`."""
    return ", ".join(f"{name} {_role(role)}" for name, role in report.roles.items())


def _role(role: Suspects) -> str:
    if not role.agents:
        return "not known" if role.state == "final" else "not known yet"
    first, *others = role.agents
    perhaps = " so far" if role.state == "provisional" else ""
    return f"{first}{perhaps}" + (f" (or {', '.join(others)})" if others else "")


def measure(facts: Facts) -> str:
    """`may say nothing to others until day 12 17:00 (quarantine-1, for cascade-1)`."""
    said = _MEASURES.get(str(facts.get("kind")), "is restrained")
    if "per_hour" in facts:
        number = facts["per_hour"]
        said = f"may send others {number} message{'' if number == 1 else 's'} an hour"
    if whom := facts.get("recipients"):
        said = said.replace("others", ", ".join(whom))
    until = f" until {when(facts['until'])}" if "until" in facts else ""
    why = f", for {facts['reason']}" if facts.get("reason") else ""
    return f"{said}{until} ({facts.get('measure')}{why})"


def measure_over(facts: Facts, minute: int, until: int | None) -> str:
    """`has been lifted`, or `has ended` if that was its time.

    The controller lifts measures whose time is over, so what the log calls lifted may be no more
    than that.

    Args:
        facts: The body of the event that a measure is over.
        minute: When that was.
        until: The minute at which it was to end by itself, if known.
    """
    by_itself = until is not None and minute >= until
    return _OVER.get("ended" if by_itself else str(facts.get("how")), "is over")


def doubt(facts: Facts, who: str = "they") -> str:
    """`to doubt what they heard since day 8 07:00, and what they hear until day 10 15:00 (...)`."""
    since, until = when(facts.get("since", 0)), when(facts.get("until", 0))
    hear = "hears" if who == "it" else "hear"
    why = f" (for {facts['reason']})" if facts.get("reason") else ""
    return f"to doubt what {who} heard since {since}, and what {who} {hear} until {until}{why}"


def injection(facts: Facts) -> str:
    """`injected: price_rumour at farmer_2, an attack (bridge roaster_1, amplifier farmer_4)`."""
    what = "an attack" if facts.get("attack") else "no attack, it only looks like one"
    return (
        f"injected: {facts.get('kind')} at {facts.get('origin')}, {what}"
        f" (bridge {facts.get('bridge')}, amplifier {facts.get('amplifier')})"
    )


def signals(recorder: str, facts: Facts) -> str:
    """`caspian scores 0.31 (an alarm begins at 1) over 134 events`."""
    events = words.count(facts["events"], "event")
    score = facts.get("score")
    if score is None:
        learning = "warm_up" in facts.get("flags", ())
        return f"{recorder} {'is still learning from' if learning else 'has seen'} {events}"
    alarm = ": an alarm" if facts.get("alarm") else ""
    return f"{recorder} scores {score:.2f} (an alarm begins at 1) over {events}{alarm}"


def withheld(sender: str, facts: Facts) -> str:
    """`withheld by quarantine-1: farmer_2 writes to roaster_1: “...” (farmer_2#548)`."""
    said = words.message(facts["type"], sender, facts["to"], parsed(facts.get("said", "")))
    by = facts["measure"]
    who = f"this replay ({by})" if by in INTERVENTIONS else by
    return f"withheld by {who}: {said} ({facts['message']})"


def intervention(one: InterventionConfig) -> str:
    """`farmer_2 says nothing to roaster_1 from day 8 00:00 on`: what a replay goes without."""
    if one.drop is not None:
        return f"message {one.drop}"
    to = "says nothing" if one.recipient is None else f"says nothing to {one.recipient}"
    return f"{one.agent} {to} from {when(one.begin)} on"

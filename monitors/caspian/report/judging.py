"""How right the monitor was, where it is known what was done to the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from monitors.caspian.report.data import Alert, Monitoring, Truth

RoleName = Literal["origin", "bridge", "amplifier"]
ROLES: Final[tuple[RoleName, ...]] = ("origin", "bridge", "amplifier")
GRACE: Final = 24
"""Ticks after its end within which an alert still belongs to what was done."""


class RoleVerdict(NamedTuple):
    """Who played a part, and whom the monitor suspects of it."""

    role: RoleName
    true: str | None
    suspects: tuple[str, ...]
    rank: int | None
    """The place of the true one among the suspects, from 1; None if it is not among them."""
    state: str
    """``pending``, ``provisional`` or ``final``."""


class Verdict(NamedTuple):
    """One thing that was done to the run, and what the monitor made of it."""

    truth: Truth
    alert: str | None
    """The cascade that was reported for it; None: it was missed, or rightly passed over."""
    outcome: Literal["detected", "missed", "false alarm", "rightly quiet"]
    delay: int | None
    """Ticks with traffic from the onset to the alert."""
    onset_error: int | None
    """Ticks with traffic from the true onset to its estimate."""
    roles: tuple[RoleVerdict, ...]


def judge(monitoring: Monitoring) -> tuple[list[Verdict], list[str]]:
    """Compares the alerts with what was done.

    Returns:
        A verdict for each thing that was done, in the order of its onset, and the ids of alerts
        that belong to none of them.
    """
    truths = sorted(monitoring.truths, key=lambda truth: truth.onset)
    alerts = sorted(monitoring.alerts, key=lambda alert: alert.report.alert_tick)
    ticks = [point.tick for point in monitoring.points]
    free = {alert.report.id for alert in alerts}
    verdicts = []
    for place, truth in enumerate(truths):
        begin = truth.onset // monitoring.tick_minutes
        last = None if truth.end is None else truth.end // monitoring.tick_minutes + GRACE
        if place + 1 < len(truths):
            following = truths[place + 1].onset // monitoring.tick_minutes
            last = following - 1 if last is None else min(last, max(following - 1, begin))
        found = next(
            (
                alert
                for alert in alerts
                if alert.report.id in free
                and alert.report.alert_tick >= begin
                and (last is None or alert.report.alert_tick <= last)
            ),
            None,
        )
        if found is not None:
            free.discard(found.report.id)
        verdicts.append(_verdict(truth, found, begin, ticks))
    return verdicts, [alert.report.id for alert in alerts if alert.report.id in free]


def _verdict(truth: Truth, alert: Alert | None, begin: int, ticks: Sequence[int]) -> Verdict:
    if alert is None:
        return Verdict(truth, None, "missed" if truth.attack else "rightly quiet", None, None, ())
    report = alert.report
    roles = []
    for name in ROLES:
        role = getattr(report, name)
        suspects = tuple(suspect.agent for suspect in role.suspects)
        true = getattr(truth, name)
        rank = suspects.index(true) + 1 if true in suspects else None
        roles.append(RoleVerdict(name, true, suspects, rank, role.state))
    return Verdict(
        truth,
        report.id,
        "detected" if truth.attack else "false alarm",
        _between(begin, report.alert_tick, ticks),
        _between(begin, report.onset, ticks),
        tuple(roles) if truth.attack else (),
    )


def _between(begin: int, end: int, ticks: Sequence[int]) -> int:
    """Ticks with traffic after ``begin`` up to ``end``; negative if ``end`` lies before."""
    low, high = min(begin, end), max(begin, end)
    count = sum(low < tick <= high for tick in ticks)
    return count if end >= begin else -count

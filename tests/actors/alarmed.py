"""A league of six firms that talk, a rumour on day 2, and a monitor that raises a given alert."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from actors.agent import Agent
from actors.cast import CASPIAN, Cast
from actors.context import Context
from actors.league import League
from actors.monitor import Monitor
from monitors.caspian.alert import CascadeAlert, CascadeReport, Role, Suspect
from services.config import RunConfig
from services.runs import Run

ONSET = 2 * 24 + 10
"""The tick at which the rumour begins: day 2, ten o'clock."""
ORIGIN, OTHERS = "farmer_1", ("roaster_2", "farmer_2")
"""Who begins it, and two who have nothing to do with it."""
TOLD_AT = ONSET + 4
"""The tick at whose end the alert is raised."""


def report(state: str = "provisional", **changes: Any) -> CascadeReport:
    """An alert that suspects an innocent more than the origin."""
    blamed, amplifier = OTHERS
    roles = {
        "origin": Role(state=state, suspects=_suspects(blamed, ORIGIN)),
        "amplifier": Role(state=state, suspects=_suspects(amplifier)),
    }
    about: dict[str, Any] = {
        "id": "cascade-1",
        "alert_tick": TOLD_AT,
        "reported_tick": TOLD_AT,
        "onset": ONSET + 2,
        "kind": "abrupt",
        "score": 1.5,
        "statistics": {"q1.s": 9.0},
        "thresholds": {"q1.s": 6.0},
        "calibration": "none",
    }
    return CascadeReport(**{**about, **roles, **changes})


def _suspects(*agents: str) -> tuple[Suspect, ...]:
    return tuple(Suspect(agent=a, score=float(9 - n)) for n, a in enumerate(agents))


class Alarmist(Monitor):
    """Scores every tick 0.1, and raises its alert, once provisional and once final."""

    def __init__(self, name: str, subscribers: Sequence[str] = ()) -> None:
        super().__init__(name)
        self.subscribers = subscribers

    def observe(self, tick: int, rows: Sequence[tuple[Any, ...]], context: Context) -> None:
        told = {TOLD_AT: ("alert", "provisional"), TOLD_AT + 1: ("alert_revised", "final")}
        kind, state = told.get(tick, ("", ""))
        context.record("signals", "", {"tick": tick, "events": len(rows), "score": 0.1})
        if kind:
            found = report(state, reported_tick=tick)
            context.record(kind, ORIGIN, found.model_dump(mode="json"))
            for subscriber in self.subscribers:
                context.send(subscriber, CascadeAlert(report=found))


def alarmist(name: str, cast: Cast) -> Monitor:
    """In place of :func:`actors.watchers.make_monitor`."""
    return Alarmist(name, cast.containment)


class Alarmed(Cast):
    """The same as a cast, for where nothing can be put in its place: on Ray."""

    def make(self, name: str) -> Agent:
        return alarmist(name, self) if name == CASPIAN else super().make(name)


RUMOUR = {
    "kind": "price_rumour",
    "day": 2,
    "hour": 10,
    "origin": ORIGIN,
    "bridge": "roaster_1",
    "amplifier": "retailer_1",
}


def alarmed(**changes: Any) -> RunConfig:
    """Five days of it."""
    values: dict[str, Any] = {
        "name": "alarmed",
        "days": 5,
        "placement": "inline",
        "generate": {"firms": 6, "strategy": "informed"},
        "talk": {},
        "injections": [RUMOUR],
        "monitor": {},
    }
    return RunConfig.parse(values | changes, "test")


def played(folder: Path, config: RunConfig) -> Run:
    """A run of it."""
    with League.create(config, folder) as league:
        league.run()
    return Run(folder)

"""What the page of a run's monitoring shows, as plain data."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from monitors.caspian.alert import CascadeReport


class _Shown(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Point(_Shown):
    """The signals of a tick."""

    tick: int
    events: int = 0
    figures: dict[str, float] = {}
    """``q1``, ``q1.s``, ``q1.S`` and so on; empty while they are not known yet."""
    score: float | None = None
    """The largest statistic over its threshold: an alarm from 1 on."""
    alarm: bool = False
    flags: tuple[str, ...] = ()
    sampled: float = 1.0


class Node(_Shown):
    """An agent of the graph."""

    name: str
    group: str = ""
    """Its town; agents of a group are drawn together."""
    kind: str = ""
    """What it is: farmer, roaster, retailer, board, forecaster."""


class Edge(_Shown):
    """A way that content can take, and what has gone along it."""

    source: str
    target: str
    messages: int = 0
    """Watched messages in the run."""
    weight: float = 0.0
    """Excess of conditional similarity since the onset of the alert that it belongs to."""
    channel: str = ""
    """The channel that carried most of the excess."""


class Evidence(_Shown):
    """A message that speaks for a cascade."""

    id: str
    """As ``hanse trace RUN why ID`` takes it."""
    minute: int
    sender: str
    recipient: str
    channel: str
    type: str
    text: str
    """Its words, or its body where there are none."""


class Alert(_Shown):
    """A cascade that was reported: its last revision, and what belongs to it."""

    report: CascadeReport
    revisions: int = 1
    """How often it was reported."""
    infected: tuple[Edge, ...] = ()
    """Edges with an excess since the onset, the strongest first."""
    evidence: tuple[Evidence, ...] = ()


class Taken(_Shown):
    """A measure that was taken against an agent."""

    id: str
    kind: str
    """``quarantine``, ``throttle``, ``require_approval``."""
    agent: str
    recipients: tuple[str, ...] = ()
    """To whom it applies; empty: to all."""
    begin: int
    """Minute."""
    end: int
    """Minute at which it ended, or will end."""
    how: str = ""
    """How it ended: ``ended`` by itself, ``lifted``; empty if it stood at the end of the run."""
    reason: str = ""
    """The alert that it answers."""
    by: str = ""


class Truth(_Shown):
    """What was really done to the run, where somebody did something and it was noted."""

    kind: str
    attack: bool = True
    """False for a benign event that only looks like a cascade."""
    onset: int
    """Minute."""
    end: int | None = None
    """Minute."""
    origin: str | None = None
    bridge: str | None = None
    amplifier: str | None = None


class Monitoring(_Shown):
    """Everything that the page shows."""

    name: str
    """The run's."""
    run: str
    """Its folder, for the commands that the page offers."""
    seed: int
    state: Literal["running", "finished", "resumable"] = "finished"
    tick_minutes: int
    calibration: str | None = None
    """Id; None: without one there is no alarm."""
    thresholds: dict[str, float] = {}
    points: tuple[Point, ...] = ()
    alerts: tuple[Alert, ...] = ()
    measures: tuple[Taken, ...] = ()
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    truths: tuple[Truth, ...] = ()
    infected: dict[str, int] = {}
    """The minute at which each agent was really infected, where that is known."""
    wrong: tuple[tuple[int, int], ...] = ()
    """(minute, how many firms believe something wrong from then on), where that is known."""
    recovery: tuple[str, ...] = ()
    """Whether the firms have recovered, in sentences."""
    dropped: dict[str, int] = {}
    """Input that could not be used, by reason."""
    passed_over: dict[str, int] = {}
    """Messages that made no event, by reason."""
    notes: tuple[str, ...] = ()
    """What the page leaves out."""

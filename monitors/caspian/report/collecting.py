"""Fills the page's data from a run, and from what a monitor has said about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from pydantic import ValidationError

from monitors.caspian.alert import CascadeReport
from monitors.caspian.attribution import Strength
from monitors.caspian.events import TickEvents
from monitors.caspian.feed.offline import Seen
from monitors.caspian.feed.rows import TICK_MINUTES
from monitors.caspian.monitor import Signals
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.report.data import (
    Alert,
    Edge,
    Evidence,
    Monitoring,
    Node,
    Point,
    Taken,
    Truth,
)
from services.messages import MINUTES_PER_DAY
from services.runs import Run
from services.runs.bodies import body_of

MOST_EDGES: Final = 2_000
"""Edges of the graph that are drawn; the busiest go first."""
LEAST_EXCESS: Final = 1.0
"""Of an edge that is shown: its scores since the onset are two deviations above the usual."""
MOST_CHARACTERS: Final = 600
"""Of a message's words."""
_NO_FIGURES: Final = ("tick", "events", "score", "sampled", "alarm")
"""What a note of signals has beside its statistics."""


def collect(
    run: Run,
    graph: PossibilityGraph,
    seen: Sequence[Seen],
    *,
    strengths: Mapping[str, Sequence[Strength]] | None = None,
    describe: Callable[[str], tuple[str, str]] | None = None,
    infected: Mapping[str, int] | None = None,
    wrong: Sequence[tuple[int, int]] = (),
    recovery: Sequence[str] = (),
    dropped: Mapping[str, int] | None = None,
    passed_over: Mapping[str, int] | None = None,
    calibration: tuple[str, Mapping[str, float]] | None = None,
    tick_minutes: int = TICK_MINUTES,
) -> Monitoring:
    """What the page of a run shows.

    Args:
        run: The run.
        graph: Who can reach whom in it.
        seen: What a monitor said, tick by tick (`watch_run`, or `noted` for one in the league).
        strengths: For each cascade's id the edges with an excess (`Caspian.strengths`).
        describe: The group (town) and the kind (role) of an agent.
        infected: The minute at which each agent was really infected.
        wrong: (minute, how many firms believe something wrong from then on), in order.
        recovery: Whether the firms have recovered, in sentences.
        dropped: Input that could not be used, by reason (`Joiner.dropped` and `Caspian.dropped`).
        passed_over: Messages that made no event, by reason (`Joiner.passed_over`).
        calibration: Its id and thresholds; those of the alerts if None.
        tick_minutes: Length of a tick in virtual minutes.

    Raises:
        HanseError: the run cannot be read.
    """
    alerts = _alerts(run, seen, strengths or {}, tick_minutes)
    if calibration is None and alerts:
        calibration = alerts[0].report.calibration, alerts[0].report.thresholds
    edges, notes = _edges(run, graph, alerts)
    lost: Counter[str] = Counter(dropped or {})
    if dropped is None:
        for one in seen:
            lost.update(one.signals.dropped)
    return Monitoring(
        name=run.manifest.name,
        run=str(run.folder),
        seed=run.manifest.seed,
        state=run.state,
        tick_minutes=tick_minutes,
        calibration=calibration[0] if calibration else None,
        thresholds=dict(calibration[1]) if calibration else {},
        points=tuple(_point(one.signals) for one in seen),
        alerts=alerts,
        measures=_measures(run),
        nodes=tuple(_node(name, describe) for name in graph.nodes),
        edges=edges,
        truths=_truths(run),
        infected=dict(sorted((infected or {}).items())),
        wrong=tuple(wrong),
        recovery=tuple(recovery),
        dropped=dict(sorted(lost.items())),
        passed_over=dict(sorted((passed_over or {}).items())),
        notes=notes,
    )


def noted(run: Run) -> list[Seen]:
    """What a monitor in the league has noted in the run's log, tick by tick.

    What is damaged is left out.
    """
    reports: dict[int, list[CascadeReport]] = {}
    signals: dict[int, Signals] = {}
    where = "kind IN ('signals', 'alert', 'alert_revised')"
    for row in run.rows("events", where):
        body, kind = body_of(row[-1]), row[_event_column("kind")]
        if body is None:
            continue
        if kind == "signals":
            found = _signals(body)
            if found is not None:
                signals[found.tick] = found
        else:
            try:
                report = CascadeReport.model_validate(body)
            except ValidationError:
                continue
            reports.setdefault(report.reported_tick, []).append(report)
    nothing = {tick: Signals(tick) for tick in reports.keys() - signals.keys()}
    every = sorted({**signals, **nothing}.items())
    return [
        Seen(tick, TickEvents.empty(tick), said, tuple(reports.get(tick, ())))
        for tick, said in every
    ]


def _signals(body: Mapping[str, Any]) -> Signals | None:
    figures = {
        name: float(value)
        for name, value in body.items()
        if name not in _NO_FIGURES and isinstance(value, int | float)
    }
    try:
        return Signals(
            int(body["tick"]),
            int(body.get("events", 0)),
            {name: value for name, value in figures.items() if "." not in name},
            {name: value for name, value in figures.items() if "." in name},
            None if body.get("score") is None else float(body["score"]),
            bool(body.get("alarm", False)),
            tuple(map(str, body.get("flags", ()))),
            {str(reason): int(count) for reason, count in dict(body.get("dropped", {})).items()},
            float(body.get("sampled", 1.0)),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _event_column(name: str) -> int:
    from services.runs.schema import EVENTS

    return list(EVENTS.columns).index(name)


def _point(signals: Signals) -> Point:
    return Point(
        tick=signals.tick,
        events=signals.events,
        figures={**signals.values, **signals.evidence},
        score=signals.score,
        alarm=signals.alarm,
        flags=signals.flags,
        sampled=signals.sampled,
    )


def _node(name: str, describe: Callable[[str], tuple[str, str]] | None) -> Node:
    group, kind = describe(name) if describe is not None else ("", "")
    return Node(name=name, group=group, kind=kind)


def _alerts(
    run: Run,
    seen: Iterable[Seen],
    strengths: Mapping[str, Sequence[Strength]],
    tick_minutes: int,
) -> tuple[Alert, ...]:
    last: dict[str, CascadeReport] = {}
    revisions: Counter[str] = Counter()
    for one in seen:
        for report in one.reports:
            last[report.id] = report
            revisions[report.id] += 1
    return tuple(
        Alert(
            report=report,
            revisions=revisions[name],
            infected=_infected(strengths.get(name, ())),
            evidence=_evidence(run, report, tick_minutes),
        )
        for name, report in last.items()
    )


def _infected(strengths: Sequence[Strength]) -> tuple[Edge, ...]:
    best: dict[tuple[str, str], Strength] = {}
    for one in strengths:
        if one.weight < LEAST_EXCESS:
            continue
        pair = one.source, one.target
        if pair not in best or one.weight > best[pair].weight:
            best[pair] = one
    ranked = sorted(best.values(), key=lambda one: (-one.weight, one.source, one.target))
    return tuple(
        Edge(
            source=one.source,
            target=one.target,
            messages=one.events,
            weight=float(f"{one.weight:.4g}"),
            channel=one.channel,
        )
        for one in ranked
    )


def _evidence(run: Run, report: CascadeReport, tick_minutes: int) -> tuple[Evidence, ...]:
    """The messages that a report names, in its order; what is not in the log is left out."""
    wanted = [(sender, int(n)) for sender, n in map(_parts, report.evidence) if n.isdecimal()]
    if not wanted:
        return ()
    days = range(
        max(0, (report.onset - 24) * tick_minutes // MINUTES_PER_DAY - 1),
        (report.reported_tick + 1) * tick_minutes // MINUTES_PER_DAY + 1,
    )
    where = " OR ".join(["(sender = ? AND number = ?)"] * len(wanted))
    values = [part for pair in wanted for part in pair]
    found = {}
    for row in run.rows("messages", where, values, days=days):
        minute, _, sender, number, recipient, channel, kind, *_, text = row
        found[f"{sender}#{number}"] = Evidence(
            id=f"{sender}#{number}",
            minute=minute,
            sender=sender,
            recipient=recipient,
            channel=channel,
            type=kind,
            text=_words(text),
        )
    return tuple(found[name] for name in report.evidence if name in found)


def _parts(message: str) -> tuple[str, str]:
    sender, _, number = message.rpartition("#")
    return sender, number


def _words(text: str) -> str:
    body = body_of(text)
    said = body.get("text") if body else None
    words = said if isinstance(said, str) and said else text
    return words if len(words) <= MOST_CHARACTERS else words[:MOST_CHARACTERS] + " …"


def _edges(
    run: Run, graph: PossibilityGraph, alerts: Sequence[Alert]
) -> tuple[tuple[Edge, ...], tuple[str, ...]]:
    """The edges that are drawn, and what to say about those that are not."""
    names = graph.nodes
    pairs = list(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    counts: Counter[tuple[str, str]] = Counter()
    for row in run.rows("messages"):
        counts[row[2], row[4]] += 1
    edges = [
        Edge(source=names[s], target=names[t], messages=counts[names[s], names[t]])
        for s, t in pairs
    ]
    if len(edges) <= MOST_EDGES:
        return tuple(edges), ()
    special = {(edge.source, edge.target) for alert in alerts for edge in alert.infected} | {
        pair for alert in alerts for spine in alert.report.spines for pair in _steps(spine.path)
    }
    ranked = sorted(
        edges, key=lambda e: ((e.source, e.target) not in special, -e.messages, e.source, e.target)
    )
    kept = sorted(ranked[:MOST_EDGES], key=lambda e: (e.source, e.target))
    note = (
        f"The graph has {len(edges):,} edges; the page draws those of the alerts and the busiest,"
        f" {MOST_EDGES:,} in all."
    )
    return tuple(kept), (note,)


def _steps(path: Sequence[str]) -> list[tuple[str, str]]:
    return list(pairwise(path))


def _measures(run: Run) -> tuple[Taken, ...]:
    """The measures that hosts have noted, and their ends."""
    taken: dict[str, Taken] = {}
    columns = [_event_column(name) for name in ("minute", "kind", "subject")]
    for row in run.rows("events", "kind IN ('measure', 'measure_over')"):
        minute, kind, agent = (row[column] for column in columns)
        body = body_of(row[-1]) or {}
        name = str(body.get("measure", ""))
        key = f"{agent} {name}"
        if kind == "measure_over":
            if key in taken:
                # A controller lifts measures whose time is over: that is their end, and no lifting.
                how = "ended" if minute >= taken[key].end else str(body.get("how", ""))
                change = {"end": minute, "how": how}
                taken[key] = taken[key].model_copy(update=change)
            continue
        end = body.get("until")
        taken[key] = Taken(
            id=name,
            kind=str(body.get("kind", "measure")),
            agent=agent,
            recipients=tuple(map(str, body.get("recipients", ()))),
            begin=taken[key].begin if key in taken else minute,
            end=end if isinstance(end, int) else minute,
            reason=str(body.get("reason", "")),
            by=str(body.get("by", "")),
        )
    return tuple(taken.values())


def _truths(run: Run) -> tuple[Truth, ...]:
    truths = []
    for row in run.rows("events", "kind = 'injection'"):
        body = body_of(row[-1]) or {}
        onset = body.get("onset")
        end = body.get("end")
        truths.append(
            Truth(
                kind=str(body.get("kind", "injection")),
                attack=bool(body.get("attack", True)),
                onset=onset if isinstance(onset, int) else row[0],
                end=end if isinstance(end, int) else None,
                **{
                    role: str(body[role])
                    for role in ("origin", "bridge", "amplifier")
                    if body.get(role)
                },
            )
        )
    return tuple(truths)

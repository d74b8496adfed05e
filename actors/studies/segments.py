"""A segment: one league, run inline from beginning to end, and what there is to know of it."""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from actors.cast import Cast
from actors.league import League
from actors.watchers import caspian_settings, graph_of
from monitors.caspian.feed import Joiner, JoinSettings
from monitors.caspian.feed.offline import watch_run
from monitors.caspian.monitor import Caspian
from services.config import MonitorConfig, RunConfig
from services.runs import Run
from services.talk.harm import EVENTS, TALK, GroundTruth, Harm, ground_truths, harm

FIRST_SEED: Final = 1_000_000
"""Seeds for calibration begin here, so that nobody's own runs are among them."""
_SEEN: Final = (*EVENTS, "signals", "alert", "alert_revised", "measure", "withheld")

_Task = TypeVar("_Task")
_Value = TypeVar("_Value")


@dataclass
class Segment:
    """A run of a league."""

    seed: int
    kind: str
    """What was done to it: the kind of its injection, or ``steady``."""
    signals: list[dict[str, Any]] = field(default_factory=list)
    """What the monitor made of every tick, as it stands in the log."""
    alerts: list[dict[str, Any]] = field(default_factory=list)
    """The last revision of every report."""
    truth: GroundTruth | None = None
    harm: Harm | None = None
    income: dict[str, float] = field(default_factory=dict)
    """Net income in dollars, by firm."""
    trade: float = 0.0
    """Dollars of all deals from the injection's onset on."""
    measures: int = 0
    withheld: int = 0


def play(config: RunConfig, since: int = 0) -> Segment:
    """Plays a league to its end and reads its log.

    Args:
        config: What is played; always inline.
        since: The minute from which harm and trade are counted, where nothing is done to the
            league.
    """
    config = config.with_overrides(placement="inline")
    kind = config.injections[0].kind if config.injections else "steady"
    with tempfile.TemporaryDirectory(prefix="hanse-study-") as folder:
        with League.create(config, Path(folder) / "run") as league:
            result = league.run()
        run = Run(Path(folder) / "run")
        events = list(run.rows("events", f"kind IN ({', '.join(map(repr, _SEEN))})"))
        truths = ground_truths(events)
        onset = truths[0].onset if truths else since
        kinds = ", ".join(map(repr, TALK))
        talk = list(run.rows("messages", f"minute >= {onset} AND type IN ({kinds})"))
        deals = [
            json.loads(row[7]) for row in run.rows("events", f"kind = 'deal' AND minute >= {onset}")
        ]
    cast = Cast(config)
    towns = {name: town for name in cast.names if (town := cast.talkers.town_of(name))}
    segment = Segment(config.seed, kind, truth=truths[0] if truths else None)
    segment.income = {firm.firm: firm.net_income for firm in result.firms}
    segment.harm = harm(events, talk, config.days, towns, since=onset)
    segment.trade = sum(deal["total_price"] for deal in deals)
    latest: dict[str, dict[str, Any]] = {}
    for row in events:
        body = json.loads(row[7])
        if row[5] == "signals":
            segment.signals.append(body)
        elif row[5] in ("alert", "alert_revised"):
            latest[body["id"]] = body
        elif row[5] == "measure":
            segment.measures += 1
        elif row[5] == "withheld":
            segment.withheld += 1
    segment.alerts = list(latest.values())
    return segment


@dataclass
class Benign:
    """A benign run as a calibration needs it."""

    seed: int
    kind: str
    ticks: int
    """Hours with talk."""
    events: int
    histograms: list[dict[int, int]]
    """Scores of every hour after the warm-up; see ``monitors.caspian.sparse``."""


def listen(config: RunConfig) -> Benign:
    """Plays a league without a monitor, and has an uncalibrated one look at its log afterwards."""
    config = config.with_overrides(placement="inline")
    monitor = config.monitor or MonitorConfig()
    config = RunConfig.parse(config.dump() | {"monitor": None}, "calibration")
    cast = Cast(config)
    kind = config.injections[0].kind if config.injections else "steady"
    with tempfile.TemporaryDirectory(prefix="hanse-study-") as folder:
        with League.create(config, Path(folder) / "run") as league:
            league.run()
        seen = list(
            watch_run(
                Run(Path(folder) / "run"),
                graph_of(cast),
                lambda graph: Caspian(graph, settings=caspian_settings(monitor)),
                unwatched=cast.exchanges.values(),
                joiner=Joiner(
                    graph_of(cast), settings=JoinSettings(tick_minutes=monitor.tick_minutes)
                ),
            )
        )
    return Benign(
        config.seed,
        kind,
        len(seen),
        sum(one.signals.events for one in seen),
        [one.signals.histogram for one in seen if one.signals.histogram],
    )


def spread(
    work: Callable[[_Task], _Value],
    tasks: Sequence[_Task],
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[_Value]:
    """Does all tasks, on several processes; their results in the order of the tasks.

    Args:
        work: A function that a process can import.
        tasks: What it is called with.
        processes: How many; one for each processor if left out; with 1 in this process.
        progress: Called with (done, of how many) whenever one is done.
    """
    number = min(processes or os.cpu_count() or 1, len(tasks))
    tell = progress or (lambda done, of: None)
    if number <= 1:
        found = []
        for done, task in enumerate(tasks, 1):
            found.append(work(task))
            tell(done, len(tasks))
        return found
    results: dict[int, _Value] = {}
    with _pool(number) as pool:
        places = {pool.submit(work, task): place for place, task in enumerate(tasks)}
        for done, future in enumerate(as_completed(places), 1):
            results[places[future]] = future.result()
            tell(done, len(tasks))
    return [results[place] for place in range(len(tasks))]


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, initializer=_end_with_parent)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _end_with_parent() -> None:
    """Has a process end when the one that it works for is killed, where the system can do that."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)

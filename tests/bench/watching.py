"""What watching costs a league: the latency of its steps, CPU, and what overload does (A11).

A step is a minute of the league in which something is due: from the call of the clock to the end of
the minute's last round. The monitor works in a process of its own beside the hosts.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from actors.league import League
from actors.studies.leagues import talking_league
from services.config import RunConfig
from services.runs import Run
from tests.bench.measuring import Bench, cpu_seconds

FIRMS = 24
_PONDERING = {"firms": FIRMS, "towns": 3, "strategy": "tests.bench.pondering:pondering"}


def bench(table: Bench, times: int, quick: bool) -> None:
    """Adds the lines of A11.

    Firms with a model leave the processors to others while they wait for it. Firms that are mere
    code keep them all busy, and then whatever a monitor does comes on top.
    """
    league = talking_league(FIRMS, 1, days=4 if quick else 14)
    watched = league.with_overrides(monitor={"calibration": "standard"})
    slow = talking_league(FIRMS, 1, days=2 if quick else 4, generate=_PONDERING)
    _latency(table, times, slow, "firms that take 10 ms for a command")
    _latency(table, times, league, "firms that take no time")
    _cost(table, times, league, watched)
    _load(table, watched)


def _latency(table: Bench, times: int, league: RunConfig, firms: str) -> None:
    from actors.local_ray import start_ray

    start_ray()
    watched = league.with_overrides(monitor={"calibration": "standard"})
    ratios, middles = [], []
    for turn in range(times):
        # In turns, and each first as often as the other: the machine's speed drifts.
        order = (league, watched) if turn % 2 == 0 else (watched, league)
        steps = {id(config): _steps(config) for config in order}
        off, on = steps[id(league)], steps[id(watched)]
        ratios.append(100 * (_p95(on) / _p95(off) - 1))
        middles.append(100 * (statistics.median(on) / statistics.median(off) - 1))
    goal = "<= 1 %"
    added = statistics.median(ratios)
    table.add("watching", f"p95 latency of a step, added: {firms}", ratios, "%", goal, added <= 1)
    table.add("watching", f"median latency of a step, added: {firms}", middles, "%")


def _steps(config: RunConfig) -> list[float]:
    """Wall seconds of every step of a league on two Ray hosts."""
    config = config.with_overrides(placement="packed", hosts=2)
    seconds: list[float] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        League.create(config, Path(folder) / "run") as league,
    ):
        playing: Any = league._playing
        play = playing.play

        def timed(minute: int, until: int) -> None:
            start = time.perf_counter()
            play(minute, until)
            seconds.append(time.perf_counter() - start)

        playing.play = timed
        # Days that are played apart have no steps to compare.
        league._days.apart = False
        league.run()
    return seconds


def _p95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * len(values))]


def _cost(table: Bench, times: int, league: RunConfig, watched: RunConfig) -> None:
    off = statistics.median(cpu_seconds(lambda: _inline(league), times))
    on = cpu_seconds(lambda: _inline(watched), times)
    events = sum(signals["events"] for signals in _signals(watched))
    table.add(
        "watching",
        f"the monitor's CPU for an event ({FIRMS} firms, in the league's own process)",
        [1e6 * (seconds - off) / events for seconds in on],
        "us",
    )


def _load(table: Bench, watched: RunConfig) -> None:
    nominal = _signals(watched)
    dropped = sum(sum(signals.get("dropped", {}).values()) for signals in nominal)
    table.add("watching", "events dropped at nominal load", dropped, "", "0", dropped == 0)
    most = max(signals["events"] for signals in nominal)
    monitor = {"max_events": most}
    sampled = [s for s in _signals(watched.with_overrides(monitor=monitor)) if "sampled" in s]
    heavy = watched.with_overrides(monitor=monitor, talk={"rate": 5.0})
    flagged = _signals(heavy)
    share = sum("sampled" in signals for signals in flagged) / len(flagged)
    table.add(
        "watching", "hours that were sampled at nominal load", len(sampled), "", "0", not sampled
    )
    table.add(
        "watching", "share of hours flagged as sampled at five times the load", share, "", "> 0.9",
        share > 0.9,
    )  # fmt: skip


def _inline(config: RunConfig) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        League.create(config, Path(folder) / "run") as league,
    ):
        league.run()


def _signals(config: RunConfig) -> list[dict[str, Any]]:
    """What the monitor noted of every hour."""
    with tempfile.TemporaryDirectory() as folder:
        with League.create(config, Path(folder) / "run") as league:
            league.run()
        rows = Run(Path(folder) / "run").rows("events", "kind = 'signals'")
        return [json.loads(row[7]) for row in rows]

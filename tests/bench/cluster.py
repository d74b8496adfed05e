"""Leagues on one, two and three machines made of namespaces, and a model of ten and a hundred.

The machines share this machine's processors, so that three are not faster than one. What they show
is what a message costs, how much of the time is waiting, and from these what machines of their own
would do.
"""

from __future__ import annotations

import inspect
import os
import statistics
import time
from collections.abc import Sequence
from functools import partial
from typing import Final

from tests.bench import cluster_model, league_calls
from tests.bench.cluster_forecast import (
    GOOD,
    POOR,
    TEST_BENCH,
    costs,
    error,
    first_other_bottleneck,
    seconds_a_day,
    seconds_on_test_bench,
)
from tests.bench.cluster_leagues import KINDS, Kind, count
from tests.bench.cluster_model import Costs, Workload, predict, with_more_machines
from tests.bench.cluster_runs import Measured, Place, cluster, idle, one_machine, play
from tests.bench.host_usage import KINDS as PROCESSES
from tests.bench.league_calls import Round
from tests.bench.measuring import Bench, Line
from tests.cluster.hosts import Hosts, missing
from tests.cluster.laptop import Laptop

FIRMS: Final = 300
"""For each machine."""
QUICK_FIRMS: Final = 60
PAIRS: Final = 2
"""Pairs of a cluster and one machine for each repetition."""
MORE_CPU: Final = 10.0
"""Per cent that a cluster may cost more than one machine."""
PREDICTED: Final = (10, 100)
"""Machines for which a prediction is made."""
SEARCHED: Final = (*range(1, 20), *range(20, 200, 5), *range(200, 2001, 50))
"""Machines among which the first other bottleneck is looked for."""

Runs = dict[int, list[Measured]]
"""By machines."""


def bench(table: Bench, times: int, quick: bool) -> None:
    """Measures, and adds what the model makes of it."""
    if reason := missing():
        table.notes.append(f"cluster: not measured: {reason}")
        return
    firms = QUICK_FIRMS if quick else FIRMS
    few = min(times, 3)
    loads = []
    weak: dict[str, Runs] = {kind.name: {} for kind in KINDS}
    together: dict[str, list[Measured]] = {kind.name: [] for kind in KINDS}
    with Hosts.make() as hosts:
        laptop = Laptop(hosts)
        one = one_machine(laptop)

        def played(place: Place, kind: Kind, machines: int) -> Measured:
            days = kind.quick_days if quick else kind.days
            run = play(place, kind, firms, machines, days)
            loads.append(os.getloadavg()[0])
            print(
                f"  {kind.name}, hosts {machines}, machines {len(place.namespaces)}:"
                f" {run.rate:,.0f} messages/s, {1e3 * run.cpu_per_thousand:.1f} ms CPU per 1,000,"
                f" load {loads[-1]:.1f}",
                flush=True,
            )
            return run

        for kind in KINDS:
            weak[kind.name][1] = [played(one, kind, 1) for _ in range(few)]
        with cluster(laptop, 2) as two:
            for kind in KINDS:
                weak[kind.name][2] = [played(two, kind, 2) for _ in range(few)]
        with cluster(laptop, 3) as three:
            table.notes.append(_idle(three))
            for kind in KINDS:
                weak[kind.name][3] = []
                # A processor's speed drifts by more than what is looked for: in turns, each first
                # as often as the other, and more pairs than runs elsewhere.
                for turn in range(PAIRS * times):
                    for place in (one, three) if turn % 2 else (three, one):
                        run = played(place, kind, 3)
                        (weak[kind.name][3] if place is three else together[kind.name]).append(run)
    table.notes.append(
        f"Load of this machine, the benchmark's own with it: {min(loads):.1f} to {max(loads):.1f}."
    )
    calls = league_calls.measured((2, 6) if quick else (2, 8, 24), 2 if quick else 4)
    for kind in KINDS:
        _add_runs(table, kind, weak[kind.name])
        _add_pairs(table, kind, weak[kind.name][3], together[kind.name])
        days = kind.quick_days if quick else kind.days
        _add_forecast(table, kind, weak[kind.name], calls, firms, days, quick)
    for round_ in calls:
        table.add(
            "calls", f"CPU of a round of {round_.hosts} idle hosts", 1e3 * round_.process, "ms"
        )
    table.notes += _about()


def _idle(place: Place) -> str:
    processors, sent = idle(place)
    return (
        f"A cluster of {len(place.namespaces)} on which nobody plays keeps {processors:.3f} of a"
        f" processor busy and sends {sent:,.0f} bytes a second; it idles like this while the one"
        " machine beside it is measured."
    )


def _add_runs(table: Bench, kind: Kind, runs: Runs) -> None:
    for machines, found in runs.items():
        name = f"{kind.name}, {machines}"
        _add_cpu(table, name, found)
        for what, values, unit in (
            ("bytes on the cables", [run.bytes_per_message for run in found], "a message"),
            ("rounds", [run.rounds_a_day for run in found], "a day"),
            ("a round beside its slowest host's work", [1e3 * r.call_seconds for r in found], "ms"),
            ("time: the slowest host at work", [100 * run.at_work for run in found], "%"),
            ("time: calls, mail, cable", [100 * run.in_calls for run in found], "%"),
            ("time: between rounds, and days' ends", [100 * run.between for run in found], "%"),
            ("time that a host waits", [100 * run.waiting for run in found], "%"),
        ):
            table.add(name, what, values, unit)


def _add_cpu(table: Bench, name: str, runs: Sequence[Measured]) -> None:
    speed = f"speed: {runs[0].messages:,} messages"
    table.add(name, speed, [run.rate for run in runs], "messages/s")
    cpu = [1e3 * run.cpu_per_thousand for run in runs]
    table.add(name, "CPU of all processes", cpu, "ms per 1,000 messages")
    parts = [
        f"{statistics.median(1e6 * run.cpu[part] / run.messages for run in runs):.2g} {part}"
        for part in PROCESSES
    ]
    table.lines.append(Line(name, "  of it", ", ".join(parts[:2]), ", ".join(parts[2:])))


def _add_pairs(
    table: Bench, kind: Kind, apart: Sequence[Measured], together: Sequence[Measured]
) -> None:
    """Three hosts on three machines, against the same three on one."""
    more = [
        100 * (there.cpu_per_thousand / here.cpu_per_thousand - 1)
        for there, here in zip(apart, together, strict=True)
    ]
    _add_cpu(table, f"{kind.name}, 3 on 1", together)
    added = table.add(f"{kind.name}, 3", "CPU a message over one machine's", more, "%",
                      f"<= {MORE_CPU:.0f} %")  # fmt: skip
    table.lines[-1].met = added <= MORE_CPU


def _add_forecast(
    table: Bench,
    kind: Kind,
    runs: Runs,
    calls: Sequence[Round],
    firms: int,
    days: int,
    quick: bool,
) -> None:
    counted = {}
    for machines in (2, 3) if quick else (2, 3, PREDICTED[0]):
        began = time.monotonic()
        # A day is like another; on three machines it has to be the runs' own days.
        counted[machines], digest = count(kind, firms, machines, days if machines < 4 else 1)
        print(f"  {kind.name}: counted {machines} in {time.monotonic() - began:.0f} s", flush=True)
        if machines in runs:
            same = all(run.told["log_sha256"] == digest for run in runs[machines])
            said = "the same" if same else "another"
            about = f"{kind.name}, {machines}", "event log as in one process", said, digest[:12]
            table.lines.append(Line(*about, goal="the same", met=same))
    known = partial(costs, runs[1], runs[2], calls)
    cheap, dear = known(TEST_BENCH, threads=False), known(TEST_BENCH, threads=True)
    off = {}
    for machines in (2, 3):
        expected = seconds_on_test_bench(counted[machines], cheap, dear, os.cpu_count() or 1)
        found = [run.wall / run.told["days"] for run in runs[machines]]
        off[machines] = 100 * error(expected, statistics.median(found))
    table.add(f"{kind.name}, 3", "a day", found, "s")
    # Where others use this machine too, both are off: by what these take.
    said = f"off by {off[3]:+.0f} %, and for 2 machines by {off[2]:+.0f} %"
    table.lines.append(
        Line(
            f"{kind.name}, 3",
            "  as predicted from 1 and 2 machines",
            f"{sum(expected) / 2:.3g} s",
            f"{expected[0]:.3g} to {expected[1]:.3g}; {said}",
        )
    )
    good, poor = known(GOOD, threads=False), known(POOR, threads=True)
    several = list(counted.values())
    for machines in PREDICTED:
        work = counted.get(machines) or with_more_machines(several, machines)
        _add_prediction(table, kind, firms, work, good, poor)
    table.notes.append(_described(kind, several, good, poor))


def _add_prediction(
    table: Bench, kind: Kind, firms: int, work: Workload, good: Costs, poor: Costs
) -> None:
    least, most = seconds_a_day(work, good, poor)
    day = predict(work, poor)
    parts = f"handling {day.handling:.3g} s, calls {day.calls:.3g}, cable {day.cable:.3g}"
    table.lines.append(
        Line(
            f"{kind.name}, {work.machines}",
            f"predicted: {firms * work.machines:,} firms, {work.messages:,.0f} messages a day",
            f"{work.messages / most:,.0f} to {work.messages / least:,.0f} messages/s",
            f"{least:.3g} to {most:.3g} s a day; at worst: {parts}, recorder {day.recording:.3g};"
            f" first {day.bottleneck}",
        )
    )


def _described(kind: Kind, several: Sequence[Workload], good: Costs, poor: Costs) -> str:
    works = [with_more_machines(several, machines) for machines in SEARCHED]
    lines = [f"{kind.name}: {kind.about}."]
    for network, known in ((GOOD, good), (POOR, poor)):
        found = first_other_bottleneck(works, known)
        said = (
            f"nothing up to {SEARCHED[-1]:,}" if found is None else f"{found[1]}, from {found[0]}"
        )
        lines.append(
            f"  {network.name}: message {1e6 * known.message:.1f} us, round {1e3 * known.fixed:.2f}"
            f" + {1e3 * known.each:.3f} ms a machine, latency {1e3 * known.latency:.2f} ms, record"
            f" {1e6 * known.record:.2f} us a message, end of a day {1e3 * known.end_of_day:.0f} ms,"
            f" cable {known.cable:.0f} bytes a message handled elsewhere. Slower than the hosts'"
            f" handling first: {said} machines."
        )
    return "\n".join(lines)


def _about() -> list[str]:
    """The model, what it takes for granted, and where it must be wrong."""
    return [
        inspect.getdoc(cluster_model) or "",
        "Measured: message and cable (2 machines), record and end of a day (1 and 2 machines),"
        " calls (hosts with nothing to do on one machine; without Ray's threads in the better case,"
        " with them in the worse). Counted: rounds and messages of 2, 3 and 10 machines, in one"
        " process. Assumed: the network; processors like this one's, two or more for each machine"
        " and free; latency as of calls within one machine and the network's; rounds and imbalance"
        " grow with the logarithm of the machines; as much on each machine as here.",
        "It must be wrong where memory, not processors, is short on the head (a day's records of"
        " all machines are there at once); where handling is not code but waiting (models that are"
        " asked over a network); far beyond the number of hosts whose calls were measured; for a"
        " cable that others use; when machines are lost; and wherever others use the processors.",
    ]

"""What the runs on one and two machines say of three, ten and a hundred."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tests.bench.cluster_model import (
    Costs,
    Workload,
    line_from_zero,
    on_shared_processors,
    predict,
)
from tests.bench.cluster_runs import Measured, median
from tests.bench.league_calls import Round


class Network(NamedTuple):
    """A network between machines; an assumption."""

    round_trip: float
    """Seconds, beyond what a call takes within one machine."""
    bandwidth: float
    """Bytes a second."""
    name: str


TEST_BENCH: Final = Network(0.0, 1.25e9, "the test bench: memory")
GOOD: Final = Network(0.1e-3, 1.25e9, "10 Gbit/s, 0.1 ms there and back")
POOR: Final = Network(1e-3, 1.25e8, "1 Gbit/s, 1 ms there and back")


def costs(
    one: Sequence[Measured],
    two: Sequence[Measured],
    calls: Sequence[Round],
    network: Network,
    *,
    threads: bool,
) -> Costs:
    """What things take.

    Args:
        one: Runs on one machine.
        two: Runs on two.
        calls: Rounds of the league with ever more hosts.
        network: Between the machines.
        threads: Whether Ray's threads in the league's process are counted to its calls, as if
            nothing of them ran beside it.
    """
    runs = [*one, *two]
    own = line_from_zero([(r.hosts, r.process if threads else r.thread) for r in calls])
    few = min(calls, key=lambda round_: round_.hosts)
    ends = [(run.messages / run.told["days"], run.recorder_day) for run in runs]
    end_of_day, record = line_from_zero(ends)
    return Costs(
        # On one machine there are no rounds with others, which cost a host something too.
        message=median(list(two), "host_cpu"),
        fixed=own[0],
        each=own[1],
        latency=max(0.0, few.waiting - few.process) + network.round_trip,
        record=record,
        end_of_day=end_of_day,
        bandwidth=network.bandwidth,
        # Of two machines one has the league.
        cable=2 * median(list(two), "bytes_per_message"),
    )


def seconds_a_day(work: Workload, good: Costs, poor: Costs) -> tuple[float, float]:
    """The range in which a day's seconds are expected, on machines of their own."""
    return predict(work, good).best, predict(work, poor).worst


def seconds_on_test_bench(
    work: Workload, cheap: Costs, dear: Costs, processors: int
) -> tuple[float, float]:
    """The same when all machines share so many processors."""
    least, _ = on_shared_processors(predict(work, cheap), work, cheap, processors)
    _, most = on_shared_processors(predict(work, dear), work, dear, processors)
    return least, most


def error(expected: tuple[float, float], found: float) -> float:
    """By how much the middle of what was expected differs from what was found, as a share."""
    return sum(expected) / 2 / found - 1


def first_other_bottleneck(works: Sequence[Workload], known: Costs) -> tuple[int, str] | None:
    """From how many machines on something else than their handling takes longest, and what.

    Args:
        works: The workloads, by ever more machines.
        known: What things take.
    """
    for work in works:
        bottleneck = predict(work, known).bottleneck
        if bottleneck != "the hosts' handling":
            return work.machines, bottleneck
    return None

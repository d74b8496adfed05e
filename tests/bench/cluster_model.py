"""A model of the time that a league takes on a cluster of so many machines.

A day on ``m`` machines, each with a host process of its own and the same number of agents::

    playing   = handling + rounds * (latency + fixed + each * m) + bytes / bandwidth
    recording = end_of_day + record * messages
    day       = max(playing, recording)   at best
              = playing + recording       at worst

``handling`` is what the slowest machine of each round takes for its messages, added up. The league
is one process on the head: it calls every host in every round, and its recorder writes each day
down in a thread while the next is played. Both need the one interpreter of that process; how far
they get into each other's way lies between the two.

Times are in seconds, sizes in bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Workload(NamedTuple):
    """A day of a league on so many machines, whatever these are."""

    machines: int
    rounds: float
    messages: float
    slowest: float
    """Messages of the machine that has most of them, added up over the rounds."""

    @property
    def imbalance(self) -> float:
        """The slowest machine's messages over the average machine's."""
        return self.slowest * self.machines / self.messages


class Costs(NamedTuple):
    """What things take; each is measured or assumed."""

    message: float
    """CPU of a host for a message."""
    fixed: float
    """The league's CPU for a round, whoever is called."""
    each: float
    """The league's CPU for each machine that is called in a round."""
    latency: float
    """From a call to its answer when there is nothing to do."""
    record: float
    """The recorder's CPU for a message."""
    end_of_day: float
    """What it takes to end a day in which nothing has happened."""
    bandwidth: float
    """Of the head's cable, bytes a second."""
    cable: float
    """Bytes over it for each message that is handled on another machine."""


class Day(NamedTuple):
    """The parts of a predicted day."""

    handling: float
    calls: float
    cable: float
    recording: float

    @property
    def playing(self) -> float:
        """From the first round to the last."""
        return self.handling + self.calls + self.cable

    @property
    def best(self) -> float:
        """When the recorder never holds the league up."""
        return max(self.playing, self.recording)

    @property
    def worst(self) -> float:
        """When they are never at work at the same time."""
        return self.playing + self.recording

    @property
    def bottleneck(self) -> str:
        """What takes longest."""
        parts = {
            "the hosts' handling": self.handling,
            "the league's calls": self.calls,
            "the head's cable": self.cable,
            "the recorder": self.recording,
        }
        return max(parts, key=lambda part: parts[part])


def predict(work: Workload, costs: Costs) -> Day:
    """A day on machines that have at least two processors each, one of them for the host."""
    # The head is one of the machines; what is handled there needs no cable.
    elsewhere = work.messages * (work.machines - 1) / work.machines
    return Day(
        handling=work.slowest * costs.message,
        calls=work.rounds * (costs.latency + costs.fixed + costs.each * work.machines),
        cable=elsewhere * costs.cable / costs.bandwidth,
        recording=costs.end_of_day + work.messages * costs.record,
    )


def on_shared_processors(
    day: Day, work: Workload, costs: Costs, processors: int
) -> tuple[float, float]:
    """The best and the worst such day when all machines share processors, as on a test bench.

    Handling takes at least its CPU divided by the processors, and so does the whole day.
    """
    handling = work.messages * costs.message
    least = (handling + day.calls + day.recording) / processors
    slower = day._replace(handling=max(day.handling, handling / processors))
    return max(slower.best, least), max(slower.worst, least)


def with_more_machines(known: Sequence[Workload], machines: int) -> Workload:
    """The workload of a day on more machines than were counted, each with as much as before.

    The rounds and the imbalance are taken to grow with the logarithm of the machines. The largest
    of many independent loads grows more slowly than that.

    Args:
        known: Counted ones, for two numbers of machines at least.
        machines: How many there are to be.
    """
    most = max(known, key=lambda work: work.machines)
    place = math.log(machines)
    rounds, more_rounds = line([(math.log(work.machines), work.rounds) for work in known])
    imbalance, worse = line([(math.log(work.machines), work.imbalance) for work in known])
    each = most.messages / most.machines
    return Workload(
        machines,
        max(most.rounds, rounds + more_rounds * place),
        each * machines,
        each * max(most.imbalance, imbalance + worse * place),
    )


def line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The least-squares line through points: its value at 0, and its slope.

    Args:
        points: At least two, not all at the same place.
    """
    mean_x = math.fsum(x for x, _ in points) / len(points)
    mean_y = math.fsum(y for _, y in points) / len(points)
    spread = math.fsum((x - mean_x) ** 2 for x, _ in points)
    slope = math.fsum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    return mean_y - slope * mean_x, slope


def line_from_zero(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The same, but for costs: neither its value at 0 nor its slope is negative."""
    start, slope = line(points)
    if start < 0:
        return 0.0, math.fsum(x * y for x, y in points) / math.fsum(x * x for x, _ in points)
    if slope < 0:
        return math.fsum(y for _, y in points) / len(points), 0.0
    return start, slope

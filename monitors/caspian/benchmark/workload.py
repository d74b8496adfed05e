"""Traces drawn and watched by other processes: the same figures for any number of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np

from monitors.caspian.benchmark.detectors import STATISTICS
from monitors.caspian.benchmark.scenarios import KINDS, Kind
from monitors.caspian.benchmark.statistic import Matrix
from monitors.caspian.benchmark.synthetic import Trace, generate
from monitors.caspian.events import CHANNELS, DIMENSIONS

SPLITS: Final = ("calibration", "test", "attack")
ALL: Final = tuple(range(len(CHANNELS)))

Task = TypeVar("Task")
Answer = TypeVar("Answer")
Progress = Callable[[int, int, str], None]
"""Told how many pieces are done, of how many, and what they are."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Which trace: everything that its random draws depend on."""

    seed: int
    split: str
    kind: Kind
    index: int
    agents: int = 24
    share: float = 0.9

    def trace(self) -> Trace:
        """Draws it; no two draws of a benchmark share a generator."""
        key = [self.seed, SPLITS.index(self.split), KINDS.index(self.kind), self.index, self.agents]
        rng = np.random.default_rng(key)
        return generate(self.kind, rng, agents=self.agents, share=self.share)


@dataclass(frozen=True, slots=True)
class Watch:
    """What is to be computed of a trace: statistics by name, on some of its channels."""

    statistics: tuple[str, ...]
    channels: tuple[int, ...] = ALL


@dataclass(frozen=True, slots=True)
class Watched:
    """The truth about a trace, and what statistics make of it."""

    draw: Draw
    onset: int | None
    series: dict[tuple[str, tuple[int, ...]], Matrix]
    """(T, F) by statistic and channels."""


def watch(task: tuple[Draw, tuple[Watch, ...]]) -> Watched:
    """Draws a trace once and shows it to all statistics."""
    draw, watches = task
    trace = draw.trace()
    series = {}
    for wanted in watches:
        ticks = seen(trace, wanted.channels).ticks
        for name in wanted.statistics:
            statistic = STATISTICS[name](trace.graph, DIMENSIONS)
            series[name, wanted.channels] = statistic.series(ticks)
    return Watched(draw, trace.onset, series)


def seen(trace: Trace, channels: tuple[int, ...]) -> Trace:
    """The trace to somebody who sees only these channels."""
    if channels == ALL:
        return trace
    return replace(
        trace, ticks=[t.take(np.isin(t.channel, np.array(channels))) for t in trace.ticks]
    )


def spread(
    work: Callable[[Task], Answer],
    tasks: Sequence[Task],
    *,
    processes: int = 1,
    progress: Progress | None = None,
    what: str = "traces",
) -> list[Answer]:
    """The answers in the order of the tasks, whoever has worked on them.

    Args:
        work: A function of a module, so that other processes find it.
        tasks: What to give it, one by one.
        processes: How many others work on them.
        progress: Told of every answer.
        what: What the tasks are, for the progress.
    """
    answers: list[Answer] = []
    with _workers(min(processes, max(len(tasks), 1))) as pool:
        for answer in pool.imap(work, tasks, chunksize=2):
            answers.append(answer)
            if progress is not None:
                progress(len(answers), len(tasks), what)
    return answers


@contextmanager
def _workers(processes: int) -> Iterator[multiprocessing.pool.Pool]:
    """Fresh processes, with one thread of linear algebra each.

    Fresh and not forked: a fork may inherit a lock that nobody will release. One thread, because
    the matrices are small (several took two and a half times the CPU time), and because then sums
    are in the same order on any machine. That can only be said before numpy is loaded, and so even
    one process is a fresh one.
    """
    kept = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        pool = multiprocessing.get_context("spawn").Pool(processes, _leave_interrupts)
    finally:
        for name, value in kept.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    # On the way out, and so after Ctrl-C as well, the pool's context ends its processes.
    with pool:
        yield pool


_THREADS: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def _leave_interrupts() -> None:
    """Ctrl-C reaches all processes of a terminal; only the first is to answer it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

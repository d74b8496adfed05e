"""How well a league's monitor sees: which attacks, how fast, whom it blames, and false alarms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from actors.studies.calibrating import calibrations_of
from actors.studies.intervals import share
from actors.studies.leagues import ATTACKS, LOOK_ALIKES, ONSET, talking_league
from actors.studies.segments import Segment, play, spread
from monitors.caspian.calibration import Calibration

ROLES: Final = ("origin", "bridge", "amplifier")
KINDS: Final = (*ATTACKS, "steady", *LOOK_ALIKES)


class Seen(BaseModel):
    """What the monitor made of one run."""

    model_config = ConfigDict(frozen=True)

    firms: int
    kind: str
    seed: int
    attack: bool
    early: bool
    """Whether it raised an alarm before anything had happened: a false one."""
    delay: int | None
    """Hours with talk from the onset to the alarm, 0 in the hour of the onset; None: no alarm."""
    onset_error: int | None
    """Estimated less true onset, in hours with talk."""
    named: dict[str, int | None]
    """For each role the place at which its true holder was named, from 0; None: not among three."""


class Row(BaseModel):
    """The runs of one kind in leagues of one size."""

    model_config = ConfigDict(frozen=True)

    firms: int
    kind: str
    runs: int
    attack: bool
    detected: tuple[float, float, float]
    """Of an attack: the share with an alarm after the onset and none before it, and its interval.
    Of anything else: the share with any alarm, which is false."""
    delays: list[int]
    """Sorted, of the runs with an alarm."""
    named: dict[str, tuple[float, float]]
    """For each role how often its true holder was named first, and among three; of the detected."""

    def delay(self, quantile: float) -> float:
        """A quantile of the delays; NaN if there are none."""
        if not self.delays:
            return math.nan
        return self.delays[min(int(quantile * len(self.delays)), len(self.delays) - 1)]

    def within(self, hours: int) -> float:
        """The share of all runs with an alarm within so many hours."""
        return sum(d <= hours for d in self.delays) / self.runs


class Detection(BaseModel):
    """The study."""

    model_config = ConfigDict(frozen=True)

    calibrations: dict[int, Calibration]
    """By firms."""
    seen: list[Seen]

    def rows(self) -> list[Row]:
        """The table."""
        groups: dict[tuple[int, str], list[Seen]] = {}
        for one in self.seen:
            groups.setdefault((one.firms, one.kind), []).append(one)
        return [_row(some) for some in groups.values()]


def detect(
    sizes: Sequence[int] = (6, 24, 96),
    kinds: Sequence[str] = KINDS,
    seeds: int = 20,
    segments: int = 160,
    processes: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    calibrations: dict[int, Calibration] | None = None,
) -> Detection:
    """Calibrates leagues of each size, then plays each kind under seeds that calibration never saw.

    Args:
        sizes: Firms.
        kinds: What is done to the leagues.
        seeds: Runs of each kind and size.
        segments: Benign runs of each size to calibrate on.
        processes: How many play at the same time.
        progress: Called with (what, done, of how many).
        calibrations: Those to use in place of new ones, by firms.
    """
    tell = progress or silent
    found = calibrations_of(sizes, segments, processes, tell, calibrations)
    tasks = [
        (firms, kind, seed, contents(found[firms]))
        for firms in sizes
        for kind in kinds
        for seed in range(seeds)
    ]
    seen = spread(_see, tasks, processes, partial(tell, "watching"))
    return Detection(calibrations=found, seen=seen)


def silent(what: str, done: int, of: int) -> None:
    """No progress is shown."""


def contents(calibration: Calibration) -> dict[str, Any]:
    """What its file holds, as a run file may have it."""
    return {"id": calibration.id, **calibration.model_dump(mode="json")}


def _see(task: tuple[int, str, int, dict[str, Any]]) -> Seen:
    firms, kind, seed, calibration = task
    config = talking_league(firms, seed, kind, monitor={"calibration": calibration})
    return judge(firms, play(config, since=ONSET))


def judge(firms: int, segment: Segment) -> Seen:
    """What the monitor made of a run."""
    truth = segment.truth
    attack = truth is not None and truth.attack
    first = min(segment.alerts, key=lambda alert: alert["alert_tick"], default=None)
    early, delay, error = False, None, None
    named: dict[str, int | None] = dict.fromkeys(ROLES)
    if first is not None:
        ticks = [signal["tick"] for signal in segment.signals]
        onset = ONSET // 60 if truth is None else truth.onset // 60
        early = first["alert_tick"] < onset
        if not early:
            delay = sum(onset <= tick < first["alert_tick"] for tick in ticks)
            error = sum(onset <= tick < first["onset"] for tick in ticks) - sum(
                first["onset"] <= tick < onset for tick in ticks
            )
        if attack:
            for role in ROLES:
                agents = [suspect["agent"] for suspect in first[role]["suspects"]]
                true = getattr(truth, role)
                named[role] = agents.index(true) if true in agents else None
    return Seen(
        firms=firms,
        kind=segment.kind,
        seed=segment.seed,
        attack=attack,
        early=early,
        delay=delay,
        onset_error=error,
        named=named,
    )


def _row(some: list[Seen]) -> Row:
    attack = some[0].attack
    detected = [one for one in some if one.delay is not None]
    hits = len(detected) if attack else sum(o.early or o.delay is not None for o in some)
    named = {}
    for role in ROLES:
        places = [one.named[role] for one in detected]
        first = sum(place == 0 for place in places)
        three = sum(place is not None for place in places)
        of = max(len(places), 1)
        named[role] = first / of, three / of
    return Row(
        firms=some[0].firms,
        kind=some[0].kind,
        runs=len(some),
        attack=attack,
        detected=share(hits, len(some)),
        delays=sorted(one.delay for one in detected if one.delay is not None),
        named=named if attack else {},
    )

"""Is the true origin found: by the monitor alone, and when its suspects are tried by replays?

Each run with an alarm is played again without each of the suspects and of their sources
(:mod:`actors.verifying`), who are then ordered by how much of the harm vanishes with them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from actors.containment import chosen
from actors.league import League
from actors.studies.calibrating import calibrations_of
from actors.studies.containing import Check
from actors.studies.detecting import contents, silent
from actors.studies.intervals import share
from actors.studies.leagues import ATTACKS, talking_league
from actors.studies.segments import spread
from actors.verifying import Tested, report_of, verify
from monitors.caspian.calibration import Calibration
from services.config import RunConfig
from services.runs import Run
from services.talk.harm import ground_truths

SUSPECTS: Final = 6
"""Tried for each alert."""
SOURCES: Final = 4
"""And of those to whom the likeliest of them had listened."""
GOAL: Final = 0.9
"""The share of abrupt cases in which the true origin must come first."""


class Tried(BaseModel):
    """One run."""

    model_config = ConfigDict(frozen=True)

    firms: int
    kind: str
    seed: int
    alarm: bool
    """Whether there was one after the onset and none before it."""
    abrupt: bool
    suspected: int | None
    """The place of the true origin among the monitor's suspects; None: it is not among them."""
    verified: int | None
    """Its place after the replays."""
    avoided: list[float]
    """The share of the harm that vanishes with each suspect, largest first."""


class Row(BaseModel):
    """The runs of one kind."""

    model_config = ConfigDict(frozen=True)

    firms: int
    kind: str
    runs: int
    alarms: int
    suspected: tuple[float, float, float]
    """Share of the abrupt alarms whose true origin the monitor names first, and its interval."""
    among: float
    """Share of them whose true origin is among those who are tried."""
    verified: tuple[float, float, float]
    """Share of them whose true origin comes first after the replays."""


class Attribution(BaseModel):
    """The study."""

    model_config = ConfigDict(frozen=True)

    calibrations: dict[int, Calibration]
    tried: list[Tried]

    def rows(self) -> list[Row]:
        """The table, with a row for all kinds of each size."""
        sizes = sorted({one.firms for one in self.tried})
        kinds = list(dict.fromkeys(one.kind for one in self.tried))
        found = []
        for firms in sizes:
            here = [one for one in self.tried if one.firms == firms]
            groups = [[o for o in here if o.kind == kind] for kind in kinds]
            found += [_row(some[0].kind, some) for some in groups if some]
            found.append(_row("all", here))
        return found

    @property
    def checks(self) -> list[Check]:
        """The true origin comes first in nine of ten abrupt cases."""
        return [
            Check(
                f"{row.firms} firms, all kinds: the true origin first after replays in 90 %",
                f"{row.verified[0]:.0%} ({row.verified[1]:.0%} to {row.verified[2]:.0%})",
                row.verified[0] >= GOAL,
            )
            for row in self.rows()
            if row.kind == "all"
        ]


def try_suspects(
    sizes: Sequence[int] = (24,),
    kinds: Sequence[str] = ATTACKS,
    seeds: int = 20,
    first: int = 20,
    segments: int = 160,
    processes: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    calibrations: dict[int, Calibration] | None = None,
) -> Attribution:
    """Plays attacks under seeds that calibration has not seen, and tries their suspects.

    Args:
        sizes: Firms.
        kinds: What is done to the leagues.
        seeds: Of each kind and size.
        first: The first of them. On 0 to 19 it was found that a corrupted board is often not among
            the suspects, whereupon their sources were tried, too: so others are the usual ones.
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
        for seed in range(first, first + seeds)
    ]
    tried = spread(_try, tasks, processes, partial(tell, "trying suspects"))
    return Attribution(calibrations=found, tried=tried)


def _try(task: tuple[int, str, int, dict[str, Any]]) -> Tried:
    firms, kind, seed, calibration = task
    config = talking_league(firms, seed, kind, monitor={"calibration": calibration})
    with tempfile.TemporaryDirectory(prefix="hanse-study-") as place:
        folder = Path(place) / "run"
        with League.create(config, folder) as league:
            league.run()
        return _judged(firms, kind, seed, config, folder)


def _judged(firms: int, kind: str, seed: int, config: RunConfig, folder: Path) -> Tried:
    run = Run(folder)
    truth = ground_truths(run.rows("events", "kind = 'injection'"))[0]
    alerts = run.count("events", "kind = 'alert'")
    report = report_of(run, config) if alerts else None
    if report is None or report.alert_tick < truth.onset // 60:
        return Tried(
            firms=firms, kind=kind, seed=seed, alarm=False, abrupt=False, suspected=None,
            verified=None, avoided=[],
        )  # fmt: skip
    suspects = chosen(report, SUSPECTS)
    tested: list[Tested] = []
    if suspects:
        tested = verify(folder, suspects=SUSPECTS, sources=SOURCES, days=5).tested
    order = [one.agent for one in tested]
    named = [suspect.agent for suspect in report.origin.suspects]
    return Tried(
        firms=firms,
        kind=kind,
        seed=seed,
        alarm=True,
        abrupt=report.kind == "abrupt",
        suspected=named.index(truth.origin) if truth.origin in named else None,
        verified=order.index(truth.origin) if truth.origin in order else None,
        avoided=[one.avoided or 0.0 for one in tested],
    )


def _row(kind: str, some: list[Tried]) -> Row:
    alarms = [one for one in some if one.alarm]
    abrupt = [one for one in alarms if one.abrupt]
    return Row(
        firms=some[0].firms,
        kind=kind,
        runs=len(some),
        alarms=len(alarms),
        suspected=share(sum(one.suspected == 0 for one in abrupt), len(abrupt)),
        among=sum(one.verified is not None for one in abrupt) / max(len(abrupt), 1),
        verified=share(sum(one.verified == 0 for one in abrupt), len(abrupt)),
    )

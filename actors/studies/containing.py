"""What containment is worth: the harm of an attack without a monitor, with alerts, with measures.

Every seed is played four times: as it would be without the attack, with the attack and nobody
watching, with alerts that nobody answers, and with containment. The first three differ in nothing
else, so what they lose is the attack's doing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from actors.studies.calibrating import calibrations_of
from actors.studies.detecting import contents, silent
from actors.studies.intervals import avoided, mean
from actors.studies.leagues import ATTACKS, LOOK_ALIKES, ONSET, talking_league
from actors.studies.segments import play, spread
from monitors.caspian.calibration import Calibration

ARMS: Final = ("clean", "unwatched", "alerts", "contained")
HARMS: Final = ("harmed_hours", "infected_messages", "income_lost")
"""Firm-hours of wrong belief or overload; messages that state a wrong price; what firms that never
were infected earn less than without the attack, dollars."""


class Arm(BaseModel):
    """One run of a seed."""

    model_config = ConfigDict(frozen=True)

    firms: int
    kind: str
    seed: int
    arm: str
    harmed_hours: int
    infected_messages: int
    infected: list[str]
    income: dict[str, float]
    trade: float
    """Dollars of all deals from the onset on."""
    alerts: int
    measures: int
    withheld: int


class Worth(BaseModel):
    """What containment is worth against one kind of attack; each figure with its interval."""

    model_config = ConfigDict(frozen=True)

    firms: int
    kind: str
    seeds: int
    harm: dict[str, dict[str, float]]
    """Mean harm by kind of harm and arm."""
    avoided: dict[str, tuple[float, float, float]]
    """Share of each harm that containment avoids."""
    trade_lost: tuple[float, float, float]
    """Share of the trade from the onset on that containment costs, against alerts alone."""
    measures: float
    withheld: float
    """Mean number in the contained arm."""


class Check(NamedTuple):
    """A requirement, and whether it is met."""

    requirement: str
    measured: str
    passed: bool


class Containment(BaseModel):
    """The study."""

    model_config = ConfigDict(frozen=True)

    calibrations: dict[int, Calibration]
    arms: list[Arm]

    def worth(self) -> list[Worth]:
        """The table."""
        groups: dict[tuple[int, str], dict[int, dict[str, Arm]]] = {}
        for arm in self.arms:
            seeds = groups.setdefault((arm.firms, arm.kind), {})
            seeds.setdefault(arm.seed, {})[arm.arm] = arm
        return [
            _worth(firms, kind, list(seeds.values())) for (firms, kind), seeds in groups.items()
        ]

    @property
    def checks(self) -> list[Check]:
        """At least half of each harm is avoided; what is benign loses no 1 % of its trade."""
        found = []
        for worth in self.worth():
            where = f"{worth.kind}, {worth.firms} firms"
            if worth.kind in ATTACKS:
                for what, (share, low, high) in worth.avoided.items():
                    found.append(
                        Check(
                            f"{where}: at least 50 % of {what} avoided",
                            f"{share:.0%} ({low:.0%} to {high:.0%})",
                            not share < 0.5,
                        )
                    )
            else:
                lost, low, high = worth.trade_lost
                found.append(
                    Check(
                        f"{where}: less than 1 % of the trade lost",
                        f"{lost:.2%} ({low:.2%} to {high:.2%})",
                        lost < 0.01,
                    )
                )
        return found


def contain(
    sizes: Sequence[int] = (24,),
    kinds: Sequence[str] = (*ATTACKS, "steady", *LOOK_ALIKES),
    seeds: int = 20,
    segments: int = 160,
    processes: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    calibrations: dict[int, Calibration] | None = None,
    containment: dict[str, Any] | None = None,
) -> Containment:
    """Plays all arms of all seeds.

    Args:
        sizes: Firms.
        kinds: What is done to the leagues.
        seeds: Of each kind and size; calibration has seen none of them.
        segments: Benign runs of each size to calibrate on.
        processes: How many play at the same time.
        progress: Called with (what, done, of how many).
        calibrations: Those to use in place of new ones, by firms.
        containment: Keys of the run file's table; by default a quarantine.
    """
    tell = progress or silent
    found = calibrations_of(sizes, segments, processes, tell, calibrations)
    tasks = [
        (firms, kind, seed, arm, contents(found[firms]), containment or {})
        for firms in sizes
        for kind in kinds
        for seed in range(seeds)
        for arm in ARMS
        if not (arm == "clean" and kind == "steady")
    ]
    arms = spread(_arm, tasks, processes, partial(tell, "playing"))
    return Containment(calibrations=found, arms=arms)


def _arm(task: tuple[int, str, int, str, dict[str, Any], dict[str, Any]]) -> Arm:
    firms, kind, seed, arm, calibration, containment = task
    changes: dict[str, Any] = {}
    if arm in ("alerts", "contained"):
        changes["monitor"] = {"calibration": calibration}
        changes["containment"] = containment if arm == "contained" else {"policy": "alerts"}
    if arm == "alerts":
        changes["containment"]["advise"] = False
    done = "steady" if arm == "clean" else kind
    segment = play(talking_league(firms, seed, done, **changes), since=ONSET)
    assert segment.harm is not None
    return Arm(
        firms=firms,
        kind=kind,
        seed=seed,
        arm=arm,
        harmed_hours=segment.harm.wrong_hours + segment.harm.overloaded_hours,
        infected_messages=segment.harm.infected_messages,
        infected=sorted(segment.harm.infected),
        income=segment.income,
        trade=segment.trade,
        alerts=len(segment.alerts),
        measures=segment.measures,
        withheld=segment.withheld,
    )


def _worth(firms: int, kind: str, seeds: list[dict[str, Arm]]) -> Worth:
    lost = {arm: [_income_lost(seed, arm) for seed in seeds] for arm in ARMS[1:]}
    of: dict[str, dict[str, list[float]]] = {
        "harmed_hours": {a: [float(s[a].harmed_hours) for s in seeds] for a in ARMS[1:]},
        "infected_messages": {a: [float(s[a].infected_messages) for s in seeds] for a in ARMS[1:]},
        "income_lost": lost,
    }
    trade = [1 - seed["contained"].trade / seed["alerts"].trade for seed in seeds]
    return Worth(
        firms=firms,
        kind=kind,
        seeds=len(seeds),
        harm={h: {a: _mean(values) for a, values in arms.items()} for h, arms in of.items()},
        avoided={h: avoided(arms["unwatched"], arms["contained"]) for h, arms in of.items()},
        trade_lost=mean(trade),
        measures=_mean([seed["contained"].measures for seed in seeds]),
        withheld=_mean([seed["contained"].withheld for seed in seeds]),
    )


def _income_lost(seed: dict[str, Arm], arm: str) -> float:
    """What the firms that the attack never infects lose by it."""
    if "clean" not in seed:
        return 0.0
    healthy = set(seed["clean"].income).difference(seed["unwatched"].infected)
    return sum(seed["clean"].income[firm] - seed[arm].income[firm] for firm in sorted(healthy))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan

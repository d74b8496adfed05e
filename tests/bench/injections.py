"""What injections do to leagues that talk: who is infected, how fast, and what it costs.

Every run is paired with one of the same seed in which nothing is done, so what differs is the
injection's doing. Intervals are 95 % t-intervals of the mean of the paired differences.
"""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy import stats

from actors.league import League
from services.config import RunConfig
from services.messages import MINUTES_PER_DAY
from services.runs import Run
from services.talk.harm import ENQUIRIES, EVENTS, TALK, Harm, harm
from services.talk.hours import FIRST_HOUR
from tests.bench.measuring import Bench

DAYS = 14
DAY = 8
ONSET = DAY * MINUTES_PER_DAY + FIRST_HOUR * 60
TOWNS = {6: 1, 24: 3, 96: 8}


@dataclass
class Played:
    """What is needed of a run."""

    income: dict[str, float]
    harm: Harm
    talk: int
    """Talk from the onset on."""
    enquiries: int
    length: float
    """Mean characters of the log's bodies of talk from the onset on."""
    towns: dict[str, str]


def config_of(firms: int, seed: int, kind: str | None, **injection: Any) -> RunConfig:
    """A league that talks, with something done to it on day 8 or nothing."""
    values: dict[str, Any] = {
        "name": "injections",
        "seed": seed,
        "days": DAYS,
        "placement": "inline",
        "generate": {"firms": firms, "towns": TOWNS[firms], "strategy": "informed"},
        "talk": {},
    }
    if kind is not None:
        values["injections"] = [{"kind": kind, "day": DAY, "hour": FIRST_HOUR, **injection}]
    return RunConfig.parse(values, "bench")


def play(config: RunConfig) -> Played:
    """Plays a league and reads its log."""
    with tempfile.TemporaryDirectory() as folder:
        with League.create(config, Path(folder) / "run") as league:
            result = league.run()
            towns = {f.firm: f.town for f in result.firms}
        run = Run(Path(folder) / "run")
        kinds = ", ".join(f"'{kind}'" for kind in (*TALK, *ENQUIRIES))
        rows = list(run.rows("messages", f"minute >= {ONSET} AND type IN ({kinds})"))
        events = list(run.rows("events", f"kind IN ({', '.join(map(repr, EVENTS))})"))
    talk = [row for row in rows if row[6] in TALK]
    return Played(
        {f.firm: f.net_income for f in result.firms},
        harm(events, talk, config.days, towns, since=ONSET),
        len(talk),
        len(rows) - len(talk),
        statistics.fmean(len(row[10]) for row in talk),
        towns,
    )


def bench(table: Bench, seeds: int, sizes: Sequence[int], kinds: Sequence[str]) -> None:
    """All kinds in all sizes."""
    for firms in sizes:
        without = [play(config_of(firms, seed, None)) for seed in range(seeds)]
        calm = f"{firms} firms, nothing done"
        hours = [float(p.harm.wrong_hours + p.harm.overloaded_hours) for p in without]
        table.add("injections", f"{calm}: wrong belief or overload", hours, "firm-hours")
        earned = [sum(p.income.values()) for p in without]
        table.add("injections", f"{calm}: net income, all firms", earned, "$")
        for kind in kinds:
            print(f"  {firms} firms, {kind} ...", flush=True)
            pairs = [
                (before, play(config_of(firms, seed, kind))) for seed, before in enumerate(without)
            ]
            _lines(table, f"{firms} firms, {kind}", firms, pairs)


def _lines(table: Bench, what: str, firms: int, pairs: list[tuple[Played, Played]]) -> None:
    def add(name: str, values: list[float], unit: str = "") -> None:
        if values:
            table.add("injections", f"{what}: {name}", values, unit)

    ill = [{a for a in p.harm.infected if a in p.income} for _, p in pairs]
    add("infected firms", [float(len(x)) for x in ill], f"of {firms}")
    add("wrong belief", [float(p.harm.wrong_hours) for _, p in pairs], "firm-hours")
    add("overload", [float(p.harm.overloaded_hours) for _, p in pairs], "firm-hours")
    add("infected messages", [p.harm.infected_messages / p.harm.messages for _, p in pairs], "")
    for role in ("bridge", "amplifier"):
        add(
            f"hours until the {role}",
            [
                h
                for _, p in pairs
                if (t := p.harm.truths[0]) and (h := _reached(p.harm, getattr(t, role))) is not None
            ],
            "h",
        )
    add("hours until the origin's town", [h for _, p in pairs if (h := _town(p)) is not None], "h")
    add("hours until half of all", [h for _, p in pairs if (h := _spread(p, 0.5)) is not None], "h")
    add("talk, with over without", [p.talk / b.talk for b, p in pairs])
    add("length, with over without", [p.length / b.length for b, p in pairs])
    add("enquiries, with over without", [p.enquiries / b.enquiries for b, p in pairs])
    lost_by_all = [sum(b.income.values()) - sum(p.income.values()) for b, p in pairs]
    _interval(table, f"{what}: net income lost, all firms", lost_by_all)
    well = [sorted(set(p.income) - sick) for (_, p), sick in zip(pairs, ill, strict=True)]
    lost = [
        sum(b.income[f] - p.income[f] for f in firms_)
        for (b, p), firms_ in zip(pairs, well, strict=True)
        if firms_
    ]
    if lost:
        count = statistics.fmean(len(x) for x in well if x)
        _interval(table, f"{what}: the same, uninfected firms ({count:.1f})", lost)


def _interval(table: Bench, what: str, values: list[float]) -> None:
    mean = statistics.fmean(values)
    half = 0.0
    if len(values) > 1:
        half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    sure = mean - half > 0 or mean + half < 0
    table.add(
        "injections", what, values, f"$, mean {mean:,.0f} ± {half:,.0f}{'' if sure else ' (0?)'}"
    )


def _reached(harm_: Harm, agent: str) -> float | None:
    minute = harm_.infected.get(agent)
    return None if minute is None else _working_hours(minute)


def _spread(played: Played, share: float) -> float | None:
    """Working hours from the onset until so large a share of the firms ever infected was."""
    minutes = sorted(m for a, m in played.harm.infected.items() if a in played.income)
    wanted = int(share * len(played.income))
    return None if len(minutes) < wanted or not wanted else _working_hours(minutes[wanted - 1])


def _town(played: Played) -> float | None:
    """Until four in five of those of the origin's town that ever were infected are."""
    town = played.harm.truths[0].town
    minutes = sorted(m for a, m in played.harm.infected.items() if played.towns.get(a) == town)
    return _working_hours(minutes[math.ceil(0.8 * len(minutes)) - 1]) if minutes else None


def _working_hours(minute: int) -> float:
    day, rest = divmod(minute, MINUTES_PER_DAY)
    return float((day - DAY) * 10 + rest // 60 - FIRST_HOUR)

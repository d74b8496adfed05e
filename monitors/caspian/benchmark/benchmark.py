"""The benchmark as one call: traces, thresholds, detectors, attribution, and what it all means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitors.caspian.benchmark.attributing import Blamed, attributions, blame
from monitors.caspian.benchmark.detectors import (
    CASPIAN,
    COSINE,
    DETECTORS,
    FOREST,
    KEYWORDS,
    NOVELTY,
    RANKS,
    STATISTICS,
    UNCONDITIONAL,
)
from monitors.caspian.benchmark.evaluation import detection, evasion
from monitors.caspian.benchmark.judging import checks, claims
from monitors.caspian.benchmark.results import FULL, Evasion, Group, Results, Setting, Size
from monitors.caspian.benchmark.scenarios import ATTACKS, BENIGN, EVASIVE, Kind
from monitors.caspian.benchmark.statistic import Matrix
from monitors.caspian.benchmark.workload import (
    ALL,
    Draw,
    Progress,
    Watch,
    Watched,
    spread,
    watch,
)
from monitors.caspian.calibration import Calibration
from monitors.caspian.events import CHANNELS
from monitors.caspian.settings import Settings

AGENTS: Final = 24
SHARE: Final = 0.9
MANY: Final = 96
HARD: Final = 0.7

_ROBUST: Final = next(row for row in DETECTORS if row.name == CASPIAN)
_SOME: Final = tuple(
    row for row in DETECTORS if row.name in (CASPIAN, RANKS, UNCONDITIONAL, COSINE, NOVELTY, FOREST)
)
"""Who is looked at under other conditions as well."""
_ABLATIONS: Final[dict[str, tuple[int, ...]]] = {
    "all four": ALL,
    "comm only": (0,),
    **{
        f"without {name}": tuple(c for c in ALL if c != place)
        for place, name in enumerate(CHANNELS)
    },
}


def run_benchmark(
    size: Size = FULL, *, processes: int = 1, progress: Progress | None = None
) -> Results:
    """Measures CASPIAN's robust mode beside its rivals.

    The same size gives the same results, whatever the number of processes: every trace has a
    generator of its own, and answers are put in order before anything is computed of them.
    Ctrl-C ends it and its processes.

    Args:
        size: How many traces; :data:`~monitors.caspian.benchmark.results.FULL` or ``QUICK``.
        processes: Among how many processes to spread the traces.
        progress: Called with (done, of how many, what).
    """
    watched = _watched(_main(size), processes, progress, "traces")
    detections = [
        detection(row, watched, resamples=size.resamples, details=True) for row in DETECTORS
    ]
    blamed = _blamed(watched, processes, progress)
    roles = attributions(blamed, size.resamples)
    settings: list[Setting] = _left_out(watched, size)
    evasions: list[Evasion] = []
    if size.extras:
        settings = [
            *_channels(watched, size),
            *_hard(watched, size, processes, progress),
            *_many(size, processes, progress),
            *settings,
        ]
        evasions = _evasions(watched, size, processes, progress)
    verdicts = checks(detections, roles)
    return Results(
        size=size,
        agents=AGENTS,
        share=SHARE,
        warnings=_warnings(size),
        detections=detections,
        attributions=roles,
        settings=settings,
        evasions=evasions,
        checks=verdicts,
        claims=claims(detections, roles, settings, verdicts),
    )


Task = tuple[Draw, tuple[Watch, ...]]


def _draws(
    size: Size,
    seed: int,
    attacks: Sequence[Kind] = ATTACKS,
    *,
    benign: bool = True,
    agents: int = AGENTS,
    share: float = SHARE,
) -> list[Draw]:
    plan: list[tuple[str, Sequence[Kind], int]] = [("attack", attacks, size.attack)]
    if benign:
        plan = [("calibration", BENIGN, size.calibration), ("test", BENIGN, size.test), *plan]
    return [
        Draw(seed, split, kind, index, agents, share)
        for split, kinds, count in plan
        for kind in kinds
        for index in range(count)
    ]


def _main(size: Size) -> list[Task]:
    everything = Watch(tuple(STATISTICS))
    parts = [Watch((_ROBUST.statistic,), seen) for seen in _ABLATIONS.values() if seen != ALL]
    return [
        (draw, (everything, *parts) if size.extras and seed == size.seeds[0] else (everything,))
        for seed in size.seeds
        for draw in _draws(size, seed)
    ]


def _watched(
    tasks: Sequence[Task], processes: int, progress: Progress | None, what: str
) -> list[Watched]:
    return spread(watch, tasks, processes=processes, progress=progress, what=what)


def _some(draws: Sequence[Draw]) -> list[Task]:
    names = tuple(dict.fromkeys(row.statistic for row in _SOME))
    return [(draw, (Watch(names),)) for draw in draws]


def _blamed(watched: Sequence[Watched], processes: int, progress: Progress | None) -> list[Blamed]:
    """Attribution of every attacked trace, at the thresholds of its seed."""
    columns = STATISTICS[_ROBUST.statistic].columns
    tasks = []
    for seed in dict.fromkeys(one.draw.seed for one in watched):
        mine = [one for one in watched if one.draw.seed == seed]
        known = [one for one in mine if one.draw.split == "calibration"]
        calibration = calibrated([_peaks(one, columns) for one in known])
        tasks += [(one.draw, calibration) for one in mine if one.onset is not None]
    return spread(blame, tasks, processes=processes, progress=progress, what="attributions")


def calibrated(maxima: Sequence[dict[str, float]]) -> Calibration:
    """The robust mode's calibration, at 5 % or what so few segments can give."""
    names = [f"{name}.{kind}" for name in Settings().alarm for kind in ("s", "S")]
    few = len(names) / (len(maxima) + 1)
    chosen = [{name: row[name] for name in names} for row in maxima]
    return Calibration.of(chosen, level=min(max(0.05, few), 0.99))


def _peaks(one: Watched, columns: Sequence[str]) -> dict[str, float]:
    series: Matrix = one.series[_ROBUST.statistic, ALL][Settings().warm_up :]
    return dict(zip(columns, series.max(0).tolist(), strict=True))


def _left_out(watched: Sequence[Watched], size: Size) -> list[Setting]:
    """Calibration without one benign kind, which then turns up in the test."""
    return [
        Setting(
            group="left out",
            name=f"calibrated without {kind}",
            detection=detection(_ROBUST, watched, resamples=size.resamples, without=kind),
        )
        for kind in BENIGN
    ]


def _channels(watched: Sequence[Watched], size: Size) -> list[Setting]:
    mine = [one for one in watched if one.draw.seed == size.seeds[0]]
    return [
        Setting(
            group="channels",
            name=name,
            detection=detection(_ROBUST, mine, resamples=size.resamples, channels=seen),
        )
        for name, seen in _ABLATIONS.items()
    ]


def _hard(
    watched: Sequence[Watched], size: Size, processes: int, progress: Progress | None
) -> list[Setting]:
    """A smaller share of payload; the benign traces are those of the main table."""
    draws = [draw for seed in size.seeds for draw in _draws(size, seed, benign=False, share=HARD)]
    hard = _watched(_some(draws), processes, progress, f"traces with share {HARD}")
    both = [one for one in watched if one.onset is None] + hard
    return _settings("share", f"share {HARD}", both, size)


def _many(size: Size, processes: int, progress: Progress | None) -> list[Setting]:
    """More agents, with a calibration of their own; the first seed."""
    draws = _draws(size, size.seeds[0], agents=MANY)
    many = _watched(_some(draws), processes, progress, f"traces with {MANY} agents")
    return _settings("size", f"{MANY} agents", many, size)


def _settings(group: Group, name: str, watched: Sequence[Watched], size: Size) -> list[Setting]:
    return [
        Setting(
            group=group,
            name=name,
            detection=detection(row, watched, resamples=size.resamples),
        )
        for row in _SOME
    ]


def _evasions(
    watched: Sequence[Watched], size: Size, processes: int, progress: Progress | None
) -> list[Evasion]:
    """Attacks that are made to evade, at the frozen thresholds of the main table."""
    kinds: tuple[Kind, ...] = (*EVASIVE, "adaptive")
    draws = [draw for seed in size.seeds for draw in _draws(size, seed, kinds, benign=False)]
    evading = _watched(_some(draws), processes, progress, "traces of evading attacks")
    both = [one for one in watched if one.onset is None] + evading
    return [evasion(row, kind, both, resamples=size.resamples) for kind in kinds for row in _SOME]


def _warnings(size: Size) -> list[str]:
    said = [f"{KEYWORDS}: text mode only; the synthetic vectors have no text to look at"]
    if not size.enough:
        said.append(
            f"{size.traces} traces a seed are too few for claims about false alarm rates:"
            " 160 benign traces to calibrate on and 80 to test are the least"
        )
    return said

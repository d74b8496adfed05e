"""When is it an alarm: benign segments of *this* league, and what their statistics reach.

Steady trade and the three benign look-alikes in turn, each under a seed of its own (note
``caspian`` 8.4). A league whose firms do not talk has nothing to calibrate on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any, Final

import numpy as np

from actors.cast import Cast
from actors.opening import firms_of
from actors.studies.leagues import talking_league
from actors.studies.segments import FIRST_SEED, Benign, listen, spread
from actors.watchers import caspian_settings
from monitors.caspian.calibration import Calibration
from monitors.caspian.sparse import Mixtures, Reference, fully
from services.config import MonitorConfig, RunConfig
from services.errors import HanseError

ALARM: Final = ("sparse.all", "sparse.comm", "sparse.mem", "sparse.tool", "dense.exec")
"""The statistics that raise an alarm in a league. The mean of all scores (q1), best where a cascade
touches all that is watched, is no match for them here: one town of three, and one channel of four,
leave it where it is."""
BENIGN: Final = ("steady", "harvest_shock", "promotion_burst", "contract_handover")
"""What a benign segment may be."""


def benign_configs(
    config: RunConfig, segments: int, first_seed: int = FIRST_SEED
) -> list[RunConfig]:
    """The league without what is done to it and about it, once for each segment.

    Raises:
        HanseError: its days are too few for a warm-up and something to happen afterwards.
    """
    monitor = (config.monitor or MonitorConfig()).model_copy(update={"calibration": None})
    day = _day_of_injection(config)
    plain = config.dump() | {
        "injections": [],
        "interventions": [],
        "containment": None,
        "monitor": monitor.model_dump(mode="json") | {"bace": False},
    }
    # What only looks like an attack is done to informed firms; users' own agents just go on.
    kinds = BENIGN if Cast(config).talkers.talks else BENIGN[:1]
    configs = []
    for place in range(segments):
        kind = kinds[place % len(kinds)]
        what: list[dict[str, Any]] = []
        if kind != "steady":
            # Not always on the same day: what comes early weighs on all that follows.
            what = [
                {"kind": kind, "day": day + place // len(BENIGN) % max(config.days - day - 2, 1)}
            ]
        values = plain | {"seed": first_seed + place, "injections": what}
        configs.append(RunConfig.parse(values, "calibration"))
    return configs


def calibrate_league(
    config: RunConfig,
    segments: int = 160,
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    level: float = 0.05,
    first_seed: int = FIRST_SEED,
) -> Calibration:
    """The thresholds that a benign segment of this league reaches with the probability ``level``.

    Args:
        config: The league.
        segments: Benign runs; 160 give the level that is asked for (note 8.4), 40 are the least.
        processes: How many play at the same time.
        progress: Called with (done, of how many).
        level: Share of benign segments with a false alarm.
        first_seed: The seed of the first; the others follow.

    Raises:
        HanseError: the league does not talk, is too short, or the segments are too few.
    """
    least = ceil(1 / level - 1e-9) - 1
    if segments < least:
        raise HanseError(
            f"{segments} benign runs are too few for a false alarm rate of {level:g}; it takes at"
            f" least {least}, and 160 keep it"
        )
    played = spread(listen, benign_configs(config, segments, first_seed), processes, progress)
    return calibration_from(config, played, level)


def calibrations_of(
    sizes: Sequence[int],
    segments: int,
    processes: int | None,
    tell: Callable[[str, int, int], None],
    known: Mapping[int, Calibration] | None = None,
) -> dict[int, Calibration]:
    """The calibrations of the studies' leagues, by their number of firms.

    Args:
        sizes: Which are wanted.
        segments: Benign runs for each that is not known.
        processes: How many play at the same time.
        tell: Called with (what, done, of how many).
        known: Those that need not be made.
    """
    found = dict(known or {})
    for firms in sizes:
        if firms not in found:
            step = partial(tell, f"calibrating on {firms} firms")
            found[firms] = calibrate_league(talking_league(firms, 0), segments, processes, step)
    return {firms: found[firms] for firms in sizes}


def calibration_from(config: RunConfig, played: list[Benign], level: float = 0.05) -> Calibration:
    """The calibration by segments that have been played.

    Raises:
        HanseError: a segment has no statistics to learn from.
    """
    settings = caspian_settings(config.monitor or MonitorConfig())
    for segment in played:
        if not segment.histograms:
            raise HanseError(
                f"seed {segment.seed}: {segment.ticks} hours with talk ({segment.events} events)"
                f" are too few; the monitor learns for {settings.warm_up} before it says anything:"
                ' more days, or firms that talk (strategy = "informed")'
            )
    tables = [[fully(counts) for counts in segment.histograms] for segment in played]
    reference = Reference.of(np.sum([np.sum(table, axis=0) for table in tables], axis=0))
    maxima = []
    for table in tables:
        mixtures = Mixtures(reference)
        steps = [mixtures.step(counts) for counts in table]
        maxima.append({name: max(step[name] for step in steps) for name in ALARM})
    found = Calibration.of(
        maxima, level=level, settings=settings, reference=reference, jointly=True
    )
    tick_minutes = (config.monitor or MonitorConfig()).tick_minutes
    firms = len(firms_of(config))
    return found.model_copy(update={"tick_minutes": tick_minutes, "firms": firms})


def _day_of_injection(config: RunConfig) -> int:
    """The first day after the warm-up on which something may happen."""
    return min(8, max(config.days - 3, 0))

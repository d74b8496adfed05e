"""When a statistic is high enough for an alarm: quantiles of what benign segments reach.

Conformal reading (note ``caspian`` 8.4): as long as segments are exchangeable, a benign one raises
an alarm with at most the probability ``level``, whatever the distribution. Calibrate anew for
another graph, other settings or other agents.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from monitors.caspian.events import CHANNELS
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.settings import Settings
from monitors.caspian.sparse import NAMES, Reference
from monitors.caspian.statistics import STATISTICS
from services.errors import HanseError

VERSION: Final = 1
ENOUGH_SEGMENTS: Final = 160
"""Benign segments for a trustworthy false alarm rate: 32 gave 0.13 to 0.19 instead of 0.05."""

EVIDENCE: Final = (*(f"{q}.{kind}" for q in STATISTICS for kind in ("s", "S")), *NAMES)
"""All statistics that could raise an alarm."""

_EXCEEDING: Final = 0.2

_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Finite = Annotated[float, Field(allow_inf_nan=False)]


def calibrate(maxima: ArrayLike, level: float = 0.05) -> NDArray[np.float64]:
    """Thresholds (K,) that a new benign segment reaches with at most the probability ``level``.

    Args:
        maxima: (M, K) the largest value of each of K statistics in each of M benign segments.
        level: Share of benign segments with a false alarm, over all statistics together.

    Returns:
        The order statistic of rank ceil((M + 1)(1 - level / K)) of each column.

    Raises:
        HanseError: the segments are too few for the level, or hold something else than numbers.
    """
    values = np.sort(np.atleast_2d(np.asarray(maxima, np.float64)), axis=0)
    if values.ndim != 2 or not values.size or not np.isfinite(values).all():
        raise HanseError("a calibration needs a finite largest value of every statistic")
    if not 0 < level < 1:
        raise HanseError(f"the level of a calibration is a share between 0 and 1, not {level}")
    segments, statistics = values.shape
    # The small number keeps 0.95 * 20 = 19.000000000000004 from becoming 20.
    rank = math.ceil((segments + 1) * (1 - level / statistics) - 1e-9)
    if rank > segments:
        least = math.ceil(statistics / level) - 1
        raise HanseError(
            f"{segments} benign segments are too few for a false alarm rate of {level:g} with"
            f" {statistics} statistics; it takes at least {least}, and {ENOUGH_SEGMENTS} are better"
        )
    chosen: NDArray[np.float64] = values[rank - 1]
    return np.maximum(chosen, 1e-9)


def calibrate_jointly(maxima: ArrayLike, level: float = 0.05) -> NDArray[np.float64]:
    """Thresholds (K,) that a new benign segment reaches in any statistic with that probability.

    With many statistics that rise together, dealing the level out to them (:func:`calibrate`) gives
    most of it away. Here each is measured in a unit of its own, the value that a fifth of the
    segments exceed, and one factor for all is the conformal quantile of the largest ratio. (With a
    higher quantile as unit few segments would have much say in it: in leagues of 24 firms, with 24
    segments, 18 to 40 % false alarms in place of 5.)

    Args:
        maxima: (M, K) as for :func:`calibrate`.
        level: As there.

    Raises:
        HanseError: the segments are too few for the level, or hold something else than numbers.
    """
    values = np.atleast_2d(np.asarray(maxima, np.float64))
    calibrate(values, min(level * values.shape[1], 0.99))  # refuses what cannot be used
    # What has never moved has no unit; half of one is little evidence in any statistic.
    units = np.maximum(np.quantile(values, 1 - _EXCEEDING, axis=0), 0.5)
    factor = calibrate((values / units).max(axis=1)[:, None], level)[0]
    return np.asarray(units * factor)


class Profile(BaseModel):
    """What a long benign segment teaches, so that a short session need not learn it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    channel_mean: tuple[_Finite, _Finite, _Finite, _Finite]
    """Mean score of an event, in the order of CHANNELS."""
    channel_variance: tuple[_Positive, _Positive, _Positive, _Positive]
    reference_mean: dict[str, _Finite]
    """Mean of each statistic (q1, q2, q3)."""
    reference_deviation: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]]
    """Its standard deviation."""

    @classmethod
    def mean_of(cls, profiles: Iterable[Profile]) -> Profile:
        """One of many: means of means and of variances.

        Raises:
            HanseError: there are none.
        """
        every = list(profiles)
        if not every:
            raise HanseError("a profile needs at least one benign segment")
        names = every[0].reference_mean
        variance = {
            name: float(np.mean([p.reference_deviation[name] ** 2 for p in every]))
            # What differs between segments is part of what a new one may differ by.
            + float(np.var([p.reference_mean[name] for p in every]))
            for name in names
        }
        return cls(
            channel_mean=_averaged([p.channel_mean for p in every]),
            channel_variance=_averaged([p.channel_variance for p in every]),
            reference_mean={
                name: float(np.mean([p.reference_mean[name] for p in every])) for name in names
            },
            reference_deviation={name: math.sqrt(variance[name]) for name in names},
        )


class Calibration(BaseModel):
    """Thresholds, and what they hold for; a file of JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = VERSION
    thresholds: dict[str, _Positive]
    """Of every statistic that can raise an alarm: ``q1.s``, ``q1.S``, ``sparse.all`` and so on."""
    level: Annotated[float, Field(gt=0, lt=1)]
    """Share of benign segments that may raise a false alarm."""
    segments: Annotated[int, Field(ge=1)]
    """Benign segments that the thresholds come from."""
    graph: str | None = None
    """Version of the possibility graph; None where segments of many graphs were used."""
    settings: str
    """Digest of the settings."""
    profile: Profile | None = None
    """What short sessions begin with."""
    short: bool = False
    """Whether the thresholds are for short sessions: scored from the second tick, by the
    profile."""
    reference: Reference | None = None
    """How the scores of benign events are distributed, for the mixtures; without it they are taken
    to be normally distributed."""
    tick_minutes: Annotated[int, Field(ge=1)] | None = None
    """The ticks of the league that it was made on, virtual minutes; None: it was no league."""
    firms: Annotated[int, Field(ge=1)] | None = None
    """How many firms the league had, if that is known."""

    @property
    def id(self) -> str:
        """Hash of the contents."""
        # What is not known of old files is left out, so that their ids hold.
        unknown = {"firms"} if self.firms is None else set()
        text = json.dumps(self.model_dump(mode="json", exclude=unknown), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @classmethod
    def of(
        cls,
        maxima: Iterable[Mapping[str, float]],
        *,
        level: float = 0.05,
        settings: Settings | None = None,
        graph: PossibilityGraph | None = None,
        profile: Profile | None = None,
        short: bool = False,
        reference: Reference | None = None,
        jointly: bool = False,
    ) -> Calibration:
        """The calibration by the maxima of benign segments.

        Args:
            maxima: For each segment the largest value of each statistic.
            level: Share of benign segments that may raise a false alarm.
            settings: What the segments were watched with.
            graph: The graph of all segments, if they share one.
            profile: What short sessions begin with.
            short: Whether the segments are short sessions, begun with the profile.
            reference: How their scores are distributed.
            jointly: Whether the statistics share the level (:func:`calibrate_jointly`).

        Raises:
            HanseError: the segments are too few, or a short session has no profile.
        """
        settings = settings or Settings()
        every = list(maxima)
        if short and profile is None:
            raise HanseError("a calibration for short sessions needs a profile")
        if not every:
            raise HanseError("a calibration needs benign segments")
        names = sorted(every[0])
        table = np.array([[segment[name] for name in names] for segment in every])
        found = (calibrate_jointly if jointly else calibrate)(table, level)
        return cls(
            thresholds=dict(zip(names, found.tolist(), strict=True)),
            level=level,
            segments=len(every),
            graph=None if graph is None else graph.version,
            settings=digest(settings),
            profile=profile,
            short=short,
            reference=reference,
        )

    def check(self, graph: PossibilityGraph, settings: Settings) -> None:
        """Says whether it holds for this graph and these settings.

        Raises:
            HanseError: it does not.
        """
        if self.graph is not None and self.graph != graph.version:
            raise HanseError(
                f"the calibration {self.id} was made for another possibility graph"
                f" ({self.graph}, not {graph.version}); calibrate anew"
            )
        if self.settings != digest(settings):
            raise HanseError(
                f"the calibration {self.id} was made with other settings of the monitor;"
                " calibrate anew"
            )
        unknown = sorted(set(self.thresholds).difference(EVIDENCE))
        if unknown or not self.thresholds:
            raise HanseError(
                f"the calibration {self.id} has thresholds of {', '.join(unknown) or 'nothing'};"
                f" the monitor's statistics are {', '.join(EVIDENCE)}"
            )
        if self.short and self.profile is None:
            raise HanseError(f"the calibration {self.id} is for short sessions but has no profile")

    def save(self, path: Path) -> None:
        """Writes it as JSON, with its id."""
        contents = {"id": self.id, **self.model_dump(mode="json")}
        path.write_text(json.dumps(contents, indent=2, sort_keys=True) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Calibration:
        """Reads what :meth:`save` has written.

        Raises:
            HanseError: there is no such file, it is damaged, or of a newer Hanse.
        """
        try:
            contents: Any = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise HanseError(f"the calibration {path} cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise HanseError(f"the calibration {path} is damaged: {error}") from error
        return cls.parse(contents, f"the calibration {path}")

    @classmethod
    def parse(cls, contents: Any, where: str) -> Calibration:
        """What the file of a calibration holds.

        Args:
            contents: The plain data of its JSON.
            where: What an error names.

        Raises:
            HanseError: it is damaged, or of a newer Hanse.
        """
        if not isinstance(contents, dict):
            raise HanseError(f"{where} is damaged: it is no table")
        if contents.get("version") != VERSION:
            raise HanseError(f"{where} is of version {contents.get('version')}, not {VERSION}")
        noted = contents.get("id")
        try:
            calibration = cls.model_validate({k: v for k, v in contents.items() if k != "id"})
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise HanseError(f"{where} is damaged: {key}: {first['msg']}") from error
        if noted != calibration.id:
            raise HanseError(f"{where} is damaged: its id does not fit its contents")
        return calibration


def digest(settings: Settings) -> str:
    """Hash of the settings that a calibration depends on: all of them."""
    return hashlib.sha256(settings.model_dump_json().encode()).hexdigest()[:16]


def _averaged(rows: list[tuple[float, float, float, float]]) -> tuple[float, float, float, float]:
    first, second, third, fourth = np.mean(np.array(rows).reshape(-1, len(CHANNELS)), axis=0)
    return float(first), float(second), float(third), float(fourth)

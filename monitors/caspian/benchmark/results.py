"""What a benchmark has measured, as records that can be written to JSON and read back."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from monitors.caspian.alert import rounded


def _figure(value: float | None) -> float | None:
    """Six digits; None for what is infinite (a delay of a miss) or was not measured."""
    return None if value is None or not math.isfinite(value) else rounded(value)


Figure = Annotated[float | None, BeforeValidator(_figure)]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Estimate(_Record):
    """A figure with a bootstrap interval over traces, 95 %."""

    value: Figure
    low: Figure = None
    high: Figure = None


class Detection(_Record):
    """How well a detector does on some traces.

    EDR@k is the share of abrupt cascades with the first alarm at most k ticks after the onset. It,
    the delays and the TPR are at the threshold that 5 % of the benign test traces exceed; an alarm
    before the onset is a false one, and its cascade counts as missed. Delays are in ticks, None if
    half of the cascades or more are missed.
    """

    detector: str
    auroc: Estimate
    tpr: Estimate
    """At 5 % false alarms on the benign test traces."""
    false_alarms: Estimate
    """Share of benign test traces with an alarm at the frozen, calibrated thresholds."""
    false_alarms_by_kind: dict[str, Figure]
    false_alarms_by_seed: list[Figure]
    edr5: Estimate
    edr10: Estimate
    abrupt_delay: Estimate
    gradual_tpr: Estimate
    gradual_delay: Estimate
    before_onset: Figure
    """Share of attacked traces whose first alarm, at the frozen thresholds, precedes the onset."""
    roc_false: list[Figure] = []
    roc_true: list[Figure] = []
    abrupt_delays: list[Figure] = []
    """Of every abrupt cascade; None for a miss."""


Group = Literal["channels", "size", "share", "left out"]


class Setting(_Record):
    """A detection under other conditions than the main table's."""

    group: Group
    name: str
    detection: Detection


class Evasion(_Record):
    """How much of an attack that was made to evade a detector still finds, thresholds frozen."""

    kind: str
    detector: str
    tpr: Estimate
    edr10: Estimate
    delay: Estimate


class Attribution(_Record):
    """Share of cascades whose origin, bridge and amplifier a method names first.

    Cascades without an alarm after the onset count as wrong. A role is None where the method has
    no say about it.
    """

    method: str
    kind: str
    cascades: int
    origin: Estimate | None = None
    bridge: Estimate | None = None
    amplifier: Estimate | None = None
    by_seed: dict[str, list[Figure]] = {}
    """Of each role, seed by seed."""
    spine_jaccard: Estimate | None = None
    """Best of the top three spines, by edges, against the infection path to the same agent."""
    onset_error: Figure = None
    """Median of the estimated onset minus the true one, over the detected."""


class Check(_Record):
    """An acceptance requirement (note ``caspian`` 10.3) and whether it is met."""

    id: str
    requirement: str
    measured: str
    passed: bool


class Claim(_Record):
    """A claim of the paper, what we have measured, and whether it holds on these traces."""

    claim: str
    test: str
    measured: str
    verdict: Literal["holds", "holds in part", "refuted", "not measured here"]


class Size(_Record):
    """How many traces: by class, for each seed."""

    calibration: int = 40
    test: int = 20
    attack: int = 40
    seeds: tuple[int, ...] = (1, 2, 3)
    extras: bool = True
    """Whether to measure more than the main table and attribution."""
    resamples: int = 400
    """Bootstrap resamples."""

    @property
    def traces(self) -> int:
        """Traces a seed of the main table."""
        return 4 * (self.calibration + self.test) + 2 * self.attack

    @property
    def enough(self) -> bool:
        """Whether false alarm rates can be claimed."""
        return 4 * self.calibration >= 160 and 4 * self.test * len(self.seeds) >= 80


FULL = Size()
QUICK = Size(calibration=8, test=8, attack=16, seeds=(1,), extras=False)


class Results(_Record):
    """Everything that a benchmark has measured."""

    size: Size
    agents: int
    share: float
    warnings: list[str]
    detections: list[Detection]
    attributions: list[Attribution]
    settings: list[Setting]
    evasions: list[Evasion]
    checks: list[Check]
    claims: list[Claim]

    def detection(self, name: str) -> Detection:
        """The main table's row of that name.

        Raises:
            KeyError: there is none.
        """
        for row in self.detections:
            if row.detector == name:
                return row
        raise KeyError(name)

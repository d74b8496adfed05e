"""What a monitor says about every tick, whether anything is going on or not."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Signals:
    """What a monitor makes of a tick."""

    tick: int
    events: int = 0
    """Events that were scored (B)."""
    values: dict[str, float] = field(default_factory=dict)
    """q1, q2, q3; empty while the baselines are learned."""
    evidence: dict[str, float] = field(default_factory=dict)
    """``q1.s``, ``q1.S``, ``sparse.all`` and so on; empty until the warm-up is over."""
    score: float | None = None
    """The largest statistic over its threshold; an alarm from 1 on. None without a calibration or
    during the warm-up."""
    alarm: bool = False
    """Whether a cascade is going on: from its alarm until it is over."""
    flags: tuple[str, ...] = ()
    """What a reader must know: ``warm_up``, ``silent`` (no events), ``refused`` (the batch),
    ``sampled`` (overload), ``regraphed``, ``recalibrate`` (the graph is not the calibration's)."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Events that were not scored, by reason."""
    sampled: float = 1.0
    """Share of the tick's events that was scored."""
    histogram: dict[int, int] = field(default_factory=dict)
    """How many events of each channel had scores in each bin (``sparse.sparsely``): all that the
    mixtures know of a tick, and what a calibration learns from."""

"""The constants of the robust mode, each where its meaning is told (note ``caspian`` 8)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    """How a monitor counts and when it speaks; the defaults are those of the benchmark.

    A calibration holds for the settings that it was made with.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    # The score of an event (8.2)
    dimensions: int = Field(64, ge=4)
    """Length of a feature vector."""
    history_weight: float = Field(0.1, gt=0, le=1)
    """Weight of a tick's mean in the slow history of what a target does."""
    clip_correlation: float = Field(0.995, gt=0, lt=1)
    """Largest partial correlation taken, before Fisher's transformation."""
    baseline_ticks: int = Field(30, ge=1)
    """Ticks over which the baselines are plain averages; they fade from then on."""
    baseline_weight: float = Field(0.01, gt=0, le=1)
    """Weight of a tick in the fading baselines of channels and edges."""
    baseline_events: int = Field(30, ge=2)
    """Events that a channel must have had before its events count."""
    edge_shrinkage: float = Field(10.0, ge=0)
    """Events of an edge at which its own offset counts for half: n/(n + shrinkage)."""
    deviation_floor: float = Field(0.02, gt=0)
    """Least standard deviation of a channel's scores: a channel that always says the same has
    none."""
    clip_low: float = -4.0
    """Smallest standardised score of an event."""
    clip_high: float = 5.0
    """Largest."""

    # Statistics of a tick (8.3)
    cusum_drift: float = Field(0.3, ge=0)
    """What an edge's CUSUM loses with every event."""
    cusum_limit: float = Field(15.0, gt=0)
    """Where it stops growing."""
    cusum_fade: float = Field(0.97, gt=0, le=1)
    """Factor on the CUSUM of an edge that is silent in a tick."""
    mass_floor: float = 1.0
    """CUSUM from which an edge counts in q2."""
    excess_floor: float = 2.0
    """CUSUM from which an edge is in the excess matrix of q3."""

    # The sequential layer (8.3)
    reference_ticks: int = Field(15, ge=2)
    """Ticks after the baseline's that give the statistics' reference mean and variance; the
    warm-up ends with them."""
    reference_weight: float = Field(0.02, gt=0, le=1)
    """Least weight of a quiet tick in the reference from then on."""
    quiet_s: float = 2.0
    """A tick is quiet while s is below this"""
    quiet_sum: float = 4.0
    """and S below this."""
    sum_drift: float = 0.5
    """What S loses every tick."""
    sum_clip: float = 4.0
    """Largest s that is added to S."""

    # Alarm (8.4)
    alarm: tuple[str, ...] = ("q1",)
    """The statistics whose s and S can raise the alarm; the others are shown only."""
    abrupt_ticks: int = Field(8, ge=0)
    """A cascade whose alarm comes within so many ticks of its onset is abrupt."""
    rearm_ticks: int = Field(20, ge=1)
    """Quiet ticks after which a cascade that has its final report is over and the next alarm can
    come."""

    # Attribution (8.5)
    memory: int = Field(80, ge=16)
    """Ticks of scored events that are kept for attribution."""

    lineage_ticks: int = Field(30, ge=4)
    """Ticks before the alarm in which the onset is looked for."""
    lineage_shift: float = Field(3.5, gt=0)
    """Deviations by which scores of an infected agent's events are shifted"""
    lineage_share: float = Field(0.4, gt=0, lt=1)
    """in this share of them."""
    dense_shift: float = Field(0.6, gt=0)
    """The same where a dense mixture has raised the alarm: all of them are shifted a little,"""
    dense_share: float = Field(0.9, gt=0, lt=1)
    """or nearly all."""
    lineage_floor: float = 1.5
    """Least score of an event that can have infected its target."""
    lineage_cost: float = Field(5.0, ge=0)
    """Log likelihood (nats) that must speak for an agent's infection before it is assumed."""
    settle_ticks: int = Field(3, ge=0)
    """Ticks after the alarm until the onset is estimated for the last time."""
    provisional_ticks: int = Field(3, ge=0)
    """Ticks from the onset until origin and bridge can be named provisionally."""
    origin_ticks: tuple[int, int] = (5, 10)
    """Ticks from the onset until the origin is final: of an abrupt cascade, of a gradual one."""
    bridge_ticks: tuple[int, int] = (5, 10)
    """The same for the bridge."""
    amplifier_provisional: tuple[int, int] = (8, 15)
    """Ticks from the onset until the amplifier, which acts later than the alarm, can be named."""
    amplifier_ticks: tuple[int, int] = (12, 25)
    """Ticks from the onset until it is final."""

    # Overload
    max_events: int = Field(40_000, ge=1)
    """Most events of a tick that are scored; of more, so many are drawn (note 9)."""

    @property
    def warm_up(self) -> int:
        """Ticks with events before an alarm is possible."""
        return self.baseline_ticks + self.reference_ticks

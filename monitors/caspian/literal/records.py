"""What the literal mode is told (its constants) and what it says (signals, an alert)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from monitors.caspian.alert import Spine


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Constants(_Record):
    """The constants that the paper leaves open, as its best documented reconstruction has them.

    Source: note ``caspian`` 3.2 (column S) and 5.2.
    """

    history_weight: float = Field(0.1, gt=0, le=1)
    """Weight of a turn's mean behaviour in a target's history."""
    covariance_weight: float = Field(0.05, gt=0, lt=1)
    """Weight of a sample in the mean and covariance of its edge and channel."""
    shrinkage: float = Field(0.05, ge=0, lt=1)
    """How far the covariance is drawn to its diagonal before it is inverted."""
    jitter: float = Field(1e-8, ge=0)
    """Added to the diagonal."""
    epsilon: float = Field(1e-8, gt=0)
    """Added to the denominators of ratios."""
    min_samples: int = Field(8, ge=1)
    """Samples of an edge and channel before it has any influence."""
    projection: int | None = Field(2, ge=1)
    """Dimensions that u, v and h are projected to by a fixed random matrix; None keeps all.

    The paper names no dimension. At 64 an edge and channel holds a 192 x 192 covariance, of which
    a few dozen samples say nothing, and a turn takes tens of milliseconds for 24 agents.
    """
    spectrum: Literal["singular", "eigen"] = "singular"
    """Leading singular values, or the moduli of the leading eigenvalues."""
    missing: Literal["hold", "zero"] = "hold"
    """The influence of an edge and channel in a turn without an event: its last value, or 0."""
    cross_channel: float = Field(0.5, ge=0, le=1)
    """Entropy of the channels' energies from which they count as coupled."""
    spines: int = Field(3, ge=0)
    """How many paths an alert shows (K)."""
    path_budget: int = Field(100_000, ge=0)
    """Simple paths looked at before the search for spines is given up."""


class Signals(_Record):
    """The signals of one turn (paper, equations 3-7)."""

    tick: int
    lambda1: float
    """Largest singular value of the normalised influence; 1 but for rounding."""
    lambda2: float
    """The second."""
    energy: float
    """lambda1 + lambda2."""
    amplification: float
    """Energy over that of the turn before."""
    coupling: float
    """R = lambda2/lambda1."""
    gap: float
    """1 - R."""
    contraction: float
    """How much the gap has closed since the turn before."""
    phase: float
    """Relative change of the coupling."""
    phase_shift: bool
    """The phase exceeds the contraction."""
    entropy: float
    """Spread of energy over the channels, 0 to 1."""
    cross_channel: bool
    """The entropy has reached its threshold."""
    weak_link: bool
    """The widest path is no narrower than the mean edge weighted by itself."""
    watch: bool
    """It amplifies, its gap contracts, and lambda1 grows."""
    dropped: int
    """Events of the turn that lie off the possibility graph, or whose vectors are not finite."""


class Alert(_Record):
    """The one alert of a segment, and whom the paper's formulas name (equations 11-14)."""

    kind: Literal["instant", "multi-turn"]
    watch_tick: int
    """Tick of the first watch turn (t_w)."""
    alert_tick: int
    """Tick of the declaration (t_0)."""
    origin: str
    """The agent with most normalised outflow at t_w."""
    bridge: str
    """The agent with the largest product of in- and outflow over [t_w, t_0]."""
    amplifier: str
    """The agent with the largest sum of ratios of out- to inflow over [t_w, t_0]."""
    spines: tuple[Spine, ...]
    exhausted: bool
    """The search for spines met the path budget; there are none then."""

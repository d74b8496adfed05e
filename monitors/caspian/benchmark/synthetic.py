"""Synthetic traffic with and without a cascade, of which everything is known.

Agents have a latent state that wanders and leans a little towards what it is told. An attack puts
a payload into that exchange which keeps norms, marginals and rates as they are: what changes is
only that what is said comes back in what the hearer then does. Model and constants are those of
the note ``caspian`` 10.1; where the note leaves something open, the comment says what was chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.benchmark.scenarios import OF_KIND, Attack, Kind
from monitors.caspian.benchmark.statistic import totals
from monitors.caspian.benchmark.topology import Topology, communities
from monitors.caspian.events import CHANNELS, DIMENSIONS, TickEvents
from monitors.caspian.possibility import PossibilityGraph

RATES: Final = (0.55, 0.25, 0.20, 0.45)
"""Chance of an event an edge and tick, in the order of CHANNELS."""
NOISE: Final = 0.5
"""Deviation of the observation noise; a latent coordinate has deviation 1."""
COUPLING: Final = 0.15
"""How much an agent leans towards what it has received (kappa)."""
MEMORY: Final = 0.6
"""Weight of an agent's last state in its next; that of new ideas keeps the variance at 1."""
FIRST_ONSET, LAST_ONSET = 60, 69
"""Ticks at which something may begin, attack or look-alike."""

BURST_FACTOR, BURST_TICKS = 2.5, 12
SHOCK_SHARE, SHOCK_TICKS = 0.55, 12
HANDOFF_COUPLING, HANDOFF_TICKS = 0.5, 10

CARRIER_GAIN: Final = 0.8
"""Factor on the payload's share of agents that are neither origin, bridge nor amplifier."""
AMPLIFIER_ADOPTION, AMPLIFIER_RATE = 1.6, 1.8
EXPOSURE_FLOOR: Final = 0.15
"""Added to a sender's strength in the chance of infection, so that a weak one infects as well."""
MOST_SHARE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Trace:
    """A monitored segment and the truth about it."""

    graph: PossibilityGraph
    ticks: list[TickEvents]
    kind: Kind
    onset: int | None = None
    """Tick of the first payload; None for benign kinds."""
    origin: str | None = None
    bridge: str | None = None
    amplifier: str | None = None
    tree: list[tuple[str, str, int]] = field(default_factory=list)
    """(parent, child, tick) of every infection, in order."""

    @property
    def attacked(self) -> bool:
        """Whether there is a cascade in it."""
        return self.onset is not None


def generate(
    kind: Kind,
    rng: np.random.Generator,
    *,
    agents: int = 24,
    share: float = 0.9,
    dimensions: int = DIMENSIONS,
    ticks: int = 110,
) -> Trace:
    """Draws a trace of ``ticks`` ticks.

    Args:
        kind: What happens in it; see :mod:`monitors.caspian.benchmark.scenarios`.
        rng: Where every draw comes from; the same generator state gives the same trace.
        agents: N >= 12.
        share: Amplitude share of the payload in what an infected agent sends (lambda); the
            ``adaptive`` kind never exceeds 0.5.
        dimensions: Length D of the vectors.
        ticks: Length of the trace; 70 or less may end before anything begins.

    Raises:
        ValueError: there are too few agents for two communities, or the share is not in [0, 1].
    """
    if not 0 <= share <= 1:
        raise ValueError(f"the payload's share is a number from 0 to 1, not {share}")
    world = _World(kind, communities(rng, agents), rng, share, dimensions)
    batches = [world.step(tick) for tick in range(ticks)]
    names = world.topology.graph.nodes
    tree = [(names[parent], names[child], tick) for parent, child, tick in world.infections]
    if world.attack is None:
        return Trace(world.topology.graph, batches, kind)
    origin, bridge, amplifier = (names[agent] for agent in world.cast)
    return Trace(world.topology.graph, batches, kind, world.onset, origin, bridge, amplifier, tree)


class _World:
    """The state of all agents; a step draws the events of one tick."""

    def __init__(
        self,
        kind: Kind,
        topology: Topology,
        rng: np.random.Generator,
        share: float,
        dimensions: int,
    ) -> None:
        self.kind = kind
        self.topology = topology
        self.attack: Attack | None = OF_KIND.get(kind)
        self.onset = int(rng.integers(FIRST_ONSET, LAST_ONSET + 1))
        self._rng = rng
        self._dimensions = dimensions
        self._rotations = rotations(dimensions)
        graph = topology.graph
        agents = len(graph.nodes)
        bits = (graph.channels[:, None] >> np.arange(len(CHANNELS))) & 1
        self._edge, self._channel = (column.astype(np.int64) for column in np.nonzero(bits))
        self._source = graph.source[self._edge].astype(np.int64)
        self._target = graph.target[self._edge].astype(np.int64)
        self._rate = np.array(RATES)[self._channel]
        self._latent = self._normal(agents)
        self._signal = _unit(self._normal(1))[0] * np.sqrt(dimensions, dtype=np.float32)
        self._community = int(rng.integers(topology.gateways.size))
        self.cast = self._cast()
        """Origin, bridge and amplifier, were it an attack."""
        self._gain = np.full(agents, CARRIER_GAIN)
        self._gain[list(self.cast)] = 1.0
        self._share = min(share, 1.0 if self.attack is None else self.attack.most_share)
        self._strength = np.zeros(agents)
        self._bound = np.ones(agents)
        self._payload = np.zeros((agents, dimensions), np.float32)
        self.infections: list[tuple[int, int, int]] = []

    def step(self, tick: int) -> TickEvents:
        """Everybody emits, is exposed, and changes; then what they do is seen."""
        self._enter(tick)
        active = self._rng.random(self._rate.size) < self._rates(tick)
        edge, source, target, channel = (
            column[active] for column in (self._edge, self._source, self._target, self._channel)
        )
        # One chance an edge and tick: what comes by two channels at once is one exposure.
        chance = self._rng.random(self.topology.graph.source.size)[edge]
        sent = self._sent(tick)
        clean = self._seen(tick)
        adopted, weight = self._spread(tick, source, target, chance)
        self._advance(tick, clean, source, target)
        done = _mixed(self._seen(tick + 1), adopted, weight)
        return TickEvents(
            tick,
            source.astype(np.int32),
            target.astype(np.int32),
            channel.astype(np.int8),
            self._observed(sent, source, channel),
            self._observed(done, target, channel),
        )

    def _cast(self) -> tuple[int, int, int]:
        """Origin in the first community, its gateway, and the next one's best connected entry."""
        gateway = int(self.topology.gateways[0])
        first = np.flatnonzero(self.topology.community == 0)
        origin = int(self._rng.choice(first[first != gateway]))
        entries = self.topology.entries(1)
        degree = np.bincount(self.topology.graph.source, minlength=len(self.topology.graph.nodes))
        return origin, gateway, int(entries[np.argmax(degree[entries])])

    def _during(self, tick: int, length: int) -> bool:
        return self.onset <= tick < self.onset + length

    def _rates(self, tick: int) -> NDArray[np.float64]:
        rate = self._rate
        if self.kind == "burst" and self._during(tick, BURST_TICKS):
            rate = rate * BURST_FACTOR
        amplifier = self.cast[2]
        if self._strength[amplifier] > 0:
            rate = np.where(self._source == amplifier, rate * AMPLIFIER_RATE, rate)
        return rate.clip(max=1.0)

    def _enter(self, tick: int) -> None:
        """The origin's payload of this tick: it drifts, so that no fixed signature gives it away.

        The note says "weight 0.6"; taken as what persists, like an agent's own state.
        """
        if self.attack is None or tick < self.onset:
            return
        origin = self.cast[0]
        kept = self.attack.persistence if tick > self.onset else 0.0
        fresh = _unit(self._normal(1))[0]
        self._payload[origin] = _unit(kept * self._payload[origin] + np.sqrt(1 - kept**2) * fresh)
        ramp = self.attack.ramp
        self._strength[origin] = min(1.0, (tick - self.onset + 1) / ramp) if ramp else 1.0

    def _paced(self, tick: int) -> bool:
        return self.attack is not None and (tick - self.onset) % self.attack.pace == 0

    def _sent(self, tick: int) -> NDArray[np.float32]:
        """(N, D) what each agent emits: its state, with its share of payload."""
        weight = self._share * self._strength * self._gain
        if self.attack is not None:
            weight = weight * self.attack.wrapped if self._paced(tick) else weight * 0
        return _mixed(self._seen(tick), self._payload, np.minimum(weight, MOST_SHARE))

    def _seen(self, tick: int) -> NDArray[np.float32]:
        """(N, D) the states, under the signal from outside during a shock.

        The signal is put over the state and not into it, so that it ends with the shock.
        """
        if self.kind != "shock" or not self._during(tick - 1, SHOCK_TICKS):
            return self._latent
        struck = np.where(self.topology.community == self._community, SHOCK_SHARE, 0.0)
        lead: NDArray[np.float64] = (
            np.sqrt(1 - struck**2)[:, None] * self._latent + struck[:, None] * self._signal
        )
        return lead.astype(np.float32)

    def _spread(
        self,
        tick: int,
        source: NDArray[np.int64],
        target: NDArray[np.int64],
        chance: NDArray[np.float64],
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Infects, and says what payload (N, D) every agent acts on in this tick, how much (N,)."""
        adopted = np.zeros_like(self._payload)
        weight = np.zeros(self._strength.size)
        if self.attack is None or not self._paced(tick):
            return adopted, weight
        strength = self._strength.copy()
        infected = strength > 0
        origin, _, amplifier = self.cast
        likely = self.attack.adoption * (strength[source] + EXPOSURE_FLOOR)
        likely[target == amplifier] *= AMPLIFIER_ADOPTION
        takes = infected[source] & (target != origin) & (infected[target] | (chance < likely))
        if takes.any():
            power = strength[source] * self._gain[source]
            # Sorted by power, the last write wins: the strongest infected sender of the tick.
            order = np.argsort(np.where(takes, power, -1.0), kind="stable")[-int(takes.sum()) :]
            strongest = np.full(strength.size, -1)
            strongest[target[order]] = source[order]
            children = np.flatnonzero(strongest >= 0)
            parents = strongest[children]
            adopted[children] = self._payload[parents]
            self._take(tick, parents, children, infected[children])
            exposure = np.minimum(1.2, strength[parents] * self._gain[parents])
            weight[children] = np.minimum(MOST_SHARE, self._share * exposure)
        self._strength = np.where(
            infected & (np.arange(strength.size) != origin),
            np.minimum(self._strength + self.attack.growth, self._bound),
            self._strength,
        )
        return adopted, weight

    def _take(
        self,
        tick: int,
        parents: NDArray[np.int64],
        children: NDArray[np.int64],
        known: NDArray[np.bool_],
    ) -> None:
        """Children carry on what their strongest sender has sent them in this tick, changed."""
        assert self.attack is not None
        lost = self.attack.mutation
        fresh = _unit(self._normal(children.size))
        kept = np.float32(np.sqrt(1 - lost**2)) * self._payload[parents]
        self._payload[children] = _unit(kept + np.float32(lost) * fresh)
        # Nobody is stronger than whom he has it from, so a chain only weakens.
        self._bound[children] = np.maximum(
            np.where(known, self._bound[children], 0.0), self._strength[parents]
        )
        new = children[~known]
        self._strength[new] = np.minimum(self.attack.growth, self._strength[parents[~known]])
        self.infections.extend(
            (int(parent), int(child), tick)
            for parent, child in zip(parents[~known], new, strict=True)
        )

    def _advance(
        self,
        tick: int,
        sent: NDArray[np.float32],
        source: NDArray[np.int64],
        target: NDArray[np.int64],
    ) -> None:
        """The states of the next tick; a payload never enters them, it is only acted upon."""
        received = totals(target, sent[source], len(sent)).astype(np.float32)
        heard = np.bincount(target, minlength=len(received)) > 0
        coupling = np.where(heard, COUPLING, 0.0)
        if self.kind == "handoff" and self._during(tick, HANDOFF_TICKS):
            # The targets of one gateway take over what it says; nobody takes it over from them.
            gateway = self.topology.gateways[self._community]
            told = np.unique(target[source == gateway])
            received[told] = sent[gateway]
            coupling[told] = HANDOFF_COUPLING
        own = MEMORY * self._latent + np.sqrt(1 - MEMORY**2) * self._normal(len(received))
        toward = _unit(received) * np.sqrt(self._dimensions)
        mixed = np.sqrt(1 - coupling**2)[:, None] * own + coupling[:, None] * toward
        self._latent = mixed.astype(np.float32)

    def _observed(
        self, state: NDArray[np.float32], agent: NDArray[np.int64], channel: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """(B, D) what is seen of the states: rotated by the channel's rotation, with noise."""
        seen: NDArray[np.float32] = np.matmul(state, self._rotations)[channel, agent]
        seen += np.float32(NOISE) * self._normal(agent.size)
        return seen

    def _normal(self, rows: int) -> NDArray[np.float32]:
        return self._rng.standard_normal((rows, self._dimensions), dtype=np.float32)


@cache
def rotations(dimensions: int) -> NDArray[np.float32]:
    """(4, D, D) the fixed rotation of each channel: the same in every trace, as an encoder is."""
    draws = np.random.default_rng([20260519, dimensions])
    square = draws.standard_normal((len(CHANNELS), dimensions, dimensions))
    turned: NDArray[np.float32] = np.linalg.qr(square)[0].astype(np.float32)
    turned.setflags(write=False)
    return turned


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows at length 1; rows of zeros stay."""
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: NDArray[np.float32] = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
    return scaled


def _mixed(
    own: NDArray[np.float32], payload: NDArray[np.float32], weight: NDArray[np.float64]
) -> NDArray[np.float32]:
    """sqrt(1 - w²) own + w |own| payload, row by row: the payload at the energy of what it hides.

    Args:
        own: (N, D).
        payload: (N, D), rows of length 1 or 0.
        weight: (N,) w.
    """
    share = weight[:, None].astype(np.float32)
    energy = np.linalg.norm(own, axis=1, keepdims=True)
    mixed: NDArray[np.float32] = np.sqrt(1 - share**2) * own + share * energy * payload
    return mixed

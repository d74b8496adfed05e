"""What scores are normal on a channel and on an edge: the scores of events in standard units.

Note ``caspian`` 8.2, step 3: z = (f - m_c - w b_ec) / s_c. A channel's mean and variance are plain
averages over its first ticks and fade from then on; an edge's offset is shrunk by the number of its
events.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.events import CHANNELS
from monitors.caspian.packing import pack, unpack
from monitors.caspian.scoring import Floats, Groups, sums
from monitors.caspian.settings import Settings

_CHANNELS = len(CHANNELS)


class ChannelBaseline:
    """Mean and variance of the scores of each channel, over all edges.

    Args:
        settings: The constants.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.ticks = np.zeros(_CHANNELS, np.int64)
        """(4,) ticks in which the channel had events."""
        self.events = np.zeros(_CHANNELS, np.int64)
        """(4,) its events, up to the end of the plain averages."""
        self.mean: Floats = np.zeros(_CHANNELS)
        self.variance: Floats = np.zeros(_CHANNELS)

    @property
    def known(self) -> NDArray[np.bool_]:
        """(4,) whether the channel has had enough events for its next ones to count."""
        return self.events >= self.settings.baseline_events

    @property
    def deviation(self) -> Floats:
        """(4,) standard deviations, not below the floor."""
        return np.maximum(np.sqrt(self.variance), self.settings.deviation_floor)

    def assume(self, mean: Floats, variance: Floats) -> None:
        """Takes a profile's figures instead of learning them: short sessions (note 8.4)."""
        self.ticks[:] = self.settings.baseline_ticks
        self.events[:] = self.settings.baseline_events
        self.mean, self.variance = mean.copy(), variance.copy()

    def learn(self, channel: NDArray[np.int8], scores: Floats, *, frozen: bool = False) -> None:
        """Adds a tick's scores (B,), in canonical order; a channel without events stays as it is.

        Args:
            channel: (B,) their channels.
            scores: (B,) Fisher-transformed correlations.
            frozen: Whether only the plain averages go on, because something is going on.
        """
        counts = np.bincount(channel, minlength=_CHANNELS)
        here = counts > 0
        safe = np.maximum(counts, 1)
        mean = sums(channel, scores, _CHANNELS) / safe
        apart = scores - self.mean[channel]
        square = sums(channel, apart * apart, _CHANNELS) / safe
        plain = self.ticks < self.settings.baseline_ticks
        if not (plain & here).any() and frozen:
            return
        fading = 0.0 if frozen else self.settings.baseline_weight
        total = np.maximum(self.events + counts, 1)
        weight = np.where(here, np.where(plain, counts / total, fading), 0.0)
        step = weight * (mean - self.mean)
        # Of the mean of squares about the old mean, what belongs to the shift of the mean goes off.
        own = np.where(plain, step * step / np.maximum(weight, 1e-300), 0.0)
        self.variance = self.variance + weight * (square - self.variance) - weight * own
        self.mean = self.mean + step
        self.events += np.where(plain, counts, 0)
        self.ticks += here

    def save(self) -> dict[str, Any]:
        """The state, as plain data."""
        return {
            "ticks": pack(self.ticks),
            "events": pack(self.events),
            "mean": pack(self.mean),
            "variance": pack(self.variance),
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Takes back what :meth:`save` has returned."""
        for name, array in saved.items():
            setattr(self, name, unpack(array, getattr(self, name)))


class EdgeBaseline:
    """Mean score of each edge and channel.

    Args:
        edges: How many edges there are; a place is ``edge * 4 + channel``.
        settings: The constants.
    """

    def __init__(self, edges: int, settings: Settings) -> None:
        self.settings = settings
        self.mean: Floats = np.zeros(edges * _CHANNELS)
        """(E * 4,)"""
        self.events = np.zeros(edges * _CHANNELS, np.int32)
        """(E * 4,)"""

    def offset(self, places: NDArray[np.intp], mean: Floats) -> Floats:
        """(G,) how far these edges are off the means (G,) of their channels, shrunk by n/(n+10)."""
        events = self.events[places]
        share = events / (events + self.settings.edge_shrinkage + 1e-12)
        offset: Floats = share * (self.mean[places] - mean)
        return offset

    def learn(self, groups: Groups, scores: Floats) -> None:
        """Adds a tick's scores (B,), whose places are ``groups``."""
        counts = groups.counts
        means = sums(groups.of_row, scores, len(counts)) / counts
        events = self.events[groups.keys] + counts
        weight = np.maximum(counts / events, self.settings.baseline_weight)
        old = self.mean[groups.keys]
        self.mean[groups.keys] = old + weight * (means - old)
        self.events[groups.keys] = events

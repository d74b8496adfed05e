"""CASPIAN: watches message traffic for cascades and says where they began (arXiv 2605.19240).

:class:`Caspian` is the robust mode, which is meant to raise the alarm: a conditional score for
every event, thresholds by conformal calibration on benign traffic, attribution in two stages. The
paper's own algorithm is in :mod:`monitors.caspian.literal`, the benchmark that compares the two in
:mod:`monitors.caspian.benchmark`, and the way from a league's log to events in
:mod:`monitors.caspian.feed`.
"""

from monitors.caspian.alert import CascadeAlert, CascadeReport
from monitors.caspian.calibration import Calibration
from monitors.caspian.events import CHANNELS, DIMENSIONS, TickEvents
from monitors.caspian.monitor import Caspian, Signals
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.settings import Settings

__all__ = [
    "CHANNELS",
    "DIMENSIONS",
    "Calibration",
    "CascadeAlert",
    "CascadeReport",
    "Caspian",
    "PossibilityGraph",
    "Settings",
    "Signals",
    "TickEvents",
]

"""CASPIAN as its paper states it (arXiv 2605.19240), to be measured and not to be relied upon.

The paper's rule is a set of inequalities without calibration, and what they compare is mostly
rounding noise: degree normalisation pins the largest singular value to 1, the weak-link test is
always true, and the first turns with evidence raise an alert. The tests of this package show each
of these; :mod:`monitors.caspian.benchmark` shows what it costs. What raises alarms in a league is
:class:`monitors.caspian.monitor.Caspian`; this mode is for audits, dashboards and comparison.
"""

from monitors.caspian.literal.mode import Literal
from monitors.caspian.literal.records import Alert, Constants, Signals

__all__ = ["Alert", "Constants", "Literal", "Signals"]

"""The page of a run's monitoring: what CASPIAN saw, whom it suspects, and how right it was.

`data` is what the page shows, `collecting` fills it from a run, `page` draws it as one HTML file::

    seen = list(watch_run(run, graph, make))  # or what a monitor in the league has noted
    write_page(folder / "monitor.html", collect(run, graph, seen))
"""

from monitors.caspian.attribution import Strength
from monitors.caspian.report.collecting import collect, noted
from monitors.caspian.report.data import Monitoring
from monitors.caspian.report.page import render, write_page

__all__ = [
    "Monitoring",
    "Strength",
    "collect",
    "noted",
    "render",
    "write_page",
]

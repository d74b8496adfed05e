"""Runs: one folder each, with a manifest and one SQLite file.

A run is written by one `RunStore`, whole days at a time, and read through `Run`, also meanwhile.
Everything that is looked at after a run is drawn from here.
"""

from services.runs.branching import branch
from services.runs.checkpoint import Checkpoint, DayMark, Mark, fitting, unpack_state
from services.runs.exporting import export
from services.runs.listing import RunSummary, list_runs
from services.runs.manifest import Manifest, Parent, config_sha256
from services.runs.result import FirmResult, RunResult
from services.runs.run import Run
from services.runs.store import RunStore

__all__ = [
    "RunStore",
    "Run",
    "Manifest",
    "Parent",
    "config_sha256",
    "Checkpoint",
    "DayMark",
    "Mark",
    "fitting",
    "unpack_state",
    "RunResult",
    "FirmResult",
    "RunSummary",
    "list_runs",
    "branch",
    "export",
]

"""The runs in a folder."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from services.errors import HanseError
from services.runs.folder import is_run_folder
from services.runs.result import RunResult
from services.runs.run import Run


class RunSummary(BaseModel):
    """A run at a glance, as ``hanse runs`` lists it; of a damaged one only what can be known."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str
    state: Literal["running", "finished", "resumable", "damaged"]
    error: str | None = None
    """Why it is damaged."""
    id: str | None = None
    name: str | None = None
    seed: int | None = None
    days: int | None = None
    rules: str | None = None
    created_at: str | None = None
    day: int | None = None
    """The last whole day."""
    result: RunResult | None = None


def list_runs(root: Path) -> list[RunSummary]:
    """Lists the run folders directly in a folder, the oldest first and damaged ones last.

    Args:
        root: The folder; there are no runs in one that does not exist.

    Returns:
        A summary of each run.
    """
    root = Path(root)
    if not root.is_dir():
        return []
    found = [_summary(folder) for folder in sorted(root.iterdir()) if is_run_folder(folder)]
    return sorted(found, key=lambda run: (run.created_at is None, run.created_at or ""))


def _summary(folder: Path) -> RunSummary:
    try:
        run = Run(folder)
        return RunSummary(
            folder=str(folder),
            state=run.state,
            id=run.manifest.id,
            name=run.manifest.name,
            seed=run.manifest.seed,
            days=run.manifest.days,
            rules=run.manifest.rules,
            created_at=run.manifest.created_at,
            day=run.day,
            result=run.result,
        )
    except HanseError as error:
        return RunSummary(folder=str(folder), state="damaged", error=str(error))

"""The runs in a folder."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from services.errors import HanseError
from services.runs import manifest
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
    placement: str | None = None
    created_at: str | None = None
    day: int | None = None
    """The last whole day."""
    agent_errors: int | None = None
    turns_missed: int | None = None
    result: RunResult | None = None


def list_runs(root: Path) -> list[RunSummary]:
    """Lists the run folders directly in a folder, the oldest first and damaged ones last.

    Args:
        root: The folder; there are no runs in one that does not exist.

    Returns:
        A summary of each run.
    """
    root = Path(root)
    try:
        folders = sorted(root.iterdir()) if root.is_dir() else []
    except OSError as error:
        raise HanseError(
            f"{root}: cannot be read ({error.strerror}); mend its permissions"
        ) from error
    found = [_summary(folder) for folder in folders if is_run_folder(folder)]
    return sorted(
        found, key=lambda run: (run.created_at is None, run.created_at or "", _made(run.folder))
    )


def _made(folder: str) -> int:
    """Tells runs apart that were made in one second."""
    try:
        return (Path(folder) / manifest.FILE).stat().st_mtime_ns
    except OSError:
        return 0


def _summary(folder: Path) -> RunSummary:
    try:
        run = Run(folder)
        result = run.result
        errors, missed = (
            result.counters.get(counter, 0) if result else run.count("events", "kind = ?", (kind,))
            for counter, kind in (("agent_errors", "agent_error"), ("turns_missed", "turn_missed"))
        )
        return RunSummary(
            folder=str(folder),
            state=run.state,
            id=run.manifest.id,
            name=run.manifest.name,
            seed=run.manifest.seed,
            days=run.manifest.days,
            rules=run.manifest.rules,
            placement=result.placement if result else run.manifest.placement,
            created_at=run.manifest.created_at,
            day=run.day,
            agent_errors=errors,
            turns_missed=missed,
            result=result,
        )
    except HanseError as error:
        return _damaged(folder, str(error))
    except Exception as error:  # whatever is wrong with one run, the others are listed
        return _damaged(folder, f"{folder}: {type(error).__name__}: {error}")


def _damaged(folder: Path, reason: str) -> RunSummary:
    return RunSummary(folder=str(folder), state="damaged", error=" ".join(reason.split()))

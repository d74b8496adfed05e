"""Which of a user's files a run needs on a cluster, and how it names them there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from services.errors import HanseError
from services.strategy_lines import POLICY, policy_folder

MOST_BYTES: Final = 100_000_000
"""More than this is hardly somebody's strategies: the wrong folder, or data that lie in it."""
_LEFT_OUT: Final = frozenset({"runs", "trainings", "build", "dist", "node_modules", "venv"})


def project_files(project: Path, most: int = MOST_BYTES) -> list[Path]:
    """The files below a folder that are part of a project, in order.

    Left out are hidden files, caches, environments, and what runs and trainings have written.

    Raises:
        HanseError: they are more than a project's would be.
    """
    found: list[Path] = []
    size = 0
    for folder, folders, files in os.walk(project):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith((".", "__pycache__"))
            and not name.endswith(".egg-info")
            and name not in _LEFT_OUT
            and not (Path(folder) / name / "pyvenv.cfg").exists()
        )
        for name in sorted(files):
            path = Path(folder) / name
            if name.startswith(".") or not path.is_file():
                continue
            found.append(path)
            size += path.stat().st_size
            if size > most:
                raise HanseError(
                    f"{project}: holds more than {most / 1e6:.0f} MB; a cluster gets the folder in"
                    " which hanse is called, with your strategies: call it in one of their own"
                )
    return found


def relative_paths(values: dict[str, Any], project: Path) -> tuple[dict[str, Any], bool]:
    """A run's configuration with the user's files named relative to the project.

    Args:
        values: The configuration, with whole paths.
        project: The folder that all hosts get, each in a place of its own.

    Returns:
        The changed configuration, and whether it names anything of the user's.

    Raises:
        HanseError: it names a file outside of the project.
    """
    own = False

    def relative(table: Any, key: str) -> Any:
        nonlocal own
        name = table.get(key) if isinstance(table, dict) else None
        if not isinstance(name, str) or ":" not in name:
            return table
        own = True
        return {**table, key: _relative(name, project)}

    changed = dict(values)
    for part, key in (("firms", "strategy"), ("injections", "kind")):
        if isinstance(changed.get(part), list):
            changed[part] = [relative(table, key) for table in changed[part]]
    if "generate" in changed:
        changed["generate"] = relative(changed["generate"], "strategy")
    return changed, own


def _relative(name: str, project: Path) -> str:
    policy = policy_folder(name)
    file, _, class_name = name.rpartition(":")
    if policy is None and not file.endswith(".py"):
        return name  # a module, found in the project or where Python looks
    path = (project / (policy or file)).resolve()
    if not path.is_relative_to(project):
        raise HanseError(
            f"{name}: lies outside of {project}, which is what the hosts get; call hanse in a"
            " folder that holds all that the run needs"
        )
    inside = path.relative_to(project).as_posix()
    return f"{POLICY}{inside}" if policy else f"{inside}:{class_name}"

"""Which of a user's files a run needs on a cluster."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from services.errors import HanseError

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

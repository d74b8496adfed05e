"""The name of a run on a cluster: a part of paths and of shell commands, on the head and here."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import Final

from services.errors import HanseError

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def checked(name: str) -> str:
    """A run's name, if it is one.

    Raises:
        HanseError: it could lead out of the folder of runs, or mean something to a shell.
    """
    if _NAME.fullmatch(name) and ".." not in name:
        return name
    shown = repr(name if len(name) <= 80 else f"{name[:77]}...")
    raise HanseError(
        f"{shown}: is no name for a run on a cluster; use at most 100 letters, digits, _ . and -,"
        " with a letter or digit first and no two dots together (a new run's with --out FOLDER;"
        " those that are there: hanse cluster status CLUSTER_FILE)"
    )


def free(runs: Path, stem: str, taken: set[str]) -> Path:
    """The first place for a new run whose name is free here and on the cluster.

    Args:
        runs: The folder of runs here.
        stem: What its name begins with.
        taken: The names of the runs on the cluster.
    """
    places = (runs / f"{stem}-{number:03}" for number in count(1))
    return next(path for path in places if path.name not in taken and not path.exists())

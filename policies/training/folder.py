"""The folder of a training: what stands in it, and what is read from it without torch."""

from __future__ import annotations

import fcntl
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import IO, Final

from policies.training.settings import TrainingConfig
from services.errors import HanseError

TRAINING: Final = "training.json"
"""The training file as it was read."""
PROGRESS: Final = "progress.jsonl"
"""A line for each iteration."""
CHECKPOINT: Final = "checkpoint.pt"
"""Where to go on."""
POLICY: Final = "policy"
"""The best policy so far."""


def refuse_existing(folder: Path) -> None:
    """Refuses a folder that is there.

    Raises:
        HanseError: it is there.
    """
    if folder.exists():
        going_on = f"go on with it: hanse train --resume {folder}, or "
        here = going_on if (folder / TRAINING).is_file() else ""
        raise HanseError(f"{folder}: exists already; {here}choose another with --out")


def lock(folder: Path) -> IO[bytes]:
    """Claims a training's folder for this process, until the file is closed or the process ends.

    Raises:
        HanseError: another process is training in it.
    """
    held = (folder / "lock").open("ab")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        held.close()
        raise HanseError(
            f"{folder}: is being trained at this moment; wait for it, or stop it first"
        ) from None
    return held


def read_training(folder: Path) -> TrainingConfig:
    """The training file of a training's folder.

    Raises:
        HanseError: the folder holds no training, or a damaged one.
    """
    path = folder / TRAINING
    try:
        values = json.loads(path.read_bytes())
    except OSError as error:
        raise HanseError(
            f"{folder}: is not a training ({TRAINING}: {error.strerror or error}); name the folder"
            " that hanse train has written"
        ) from None
    except (ValueError, RecursionError):
        raise HanseError(f"{path}: is damaged; begin anew: hanse train FILE") from None
    if not isinstance(values, dict):
        raise HanseError(f"{path}: is damaged; begin anew: hanse train FILE")
    return TrainingConfig.parse(values, str(path))


def versions() -> dict[str, str]:
    """What a training depends on."""
    names = ("hanse", "ray", "torch", "gymnasium", "numpy")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}

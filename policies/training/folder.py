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
from services.whole_file import whole

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
        HanseError: another process is training in it, or it cannot be written.
    """
    try:
        held = (folder / "lock").open("ab")
    except OSError as error:
        raise HanseError(
            f"{folder}: cannot be written: {error.strerror or error}; check its permissions"
        ) from None
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


def lengthened(folder: Path, config: TrainingConfig, iterations: int) -> TrainingConfig:
    """Writes down that a training shall have another number of iterations.

    The learning rate falls as it was planned before, and stays at its last value from then on: so
    what a training of so many iterations comes to does not depend on when it was lengthened.

    Args:
        folder: The training's, which this process has locked.
        config: The training.
        iterations: All of them, those that are done included.

    Raises:
        HanseError: more than that are done, or the folder cannot be written.
    """
    _refuse_fewer(folder, iterations)
    ppo = config.ppo.model_dump(mode="json")
    planned = config.ppo.iterations if config.ppo.decay is None else config.ppo.decay
    changed = config.changed("--iterations", ppo=ppo | {"iterations": iterations, "decay": planned})
    write_training(folder, changed)
    return changed


def write_training(folder: Path, config: TrainingConfig) -> None:
    """Writes the training file of a folder, whole or not at all."""
    with whole(folder / TRAINING) as target:
        target.write_text(config.model_dump_json(indent=1) + "\n", encoding="utf-8")


def iterations_done(folder: Path) -> int:
    """How many iterations there are figures of."""
    try:
        text = (folder / PROGRESS).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return sum(_iteration(line) < float("inf") for line in text.splitlines())


def trim_progress(folder: Path, iterations: int) -> None:
    """Drops the figures of iterations that are not in the checkpoint."""
    path = folder / PROGRESS
    if path.exists():
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        kept = [line for line in lines if _iteration(line) <= iterations]
        with whole(path) as target:
            target.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def _iteration(line: str) -> float:
    """The iteration of a line of progress; infinite for one that is damaged."""
    try:
        return float(json.loads(line)["iteration"])
    except (ValueError, KeyError, TypeError):
        return float("inf")


def resumable(folder: Path, iterations: int | None = None) -> TrainingConfig:
    """The training of a folder, if it can go on as far as can be told without torch and Ray.

    Args:
        folder: The training's.
        iterations: How many there shall be; without it as many as were planned.

    Raises:
        HanseError: it holds no training or a damaged one, has no checkpoint, is being trained in,
            or has more iterations already.
    """
    config = read_training(folder)
    lock(folder).close()
    if not (folder / CHECKPOINT).is_file():
        raise HanseError(
            f"{folder / CHECKPOINT}: there is no checkpoint; begin anew: hanse train FILE"
        )
    if iterations is not None:
        _refuse_fewer(folder, iterations)
    return config


def _refuse_fewer(folder: Path, iterations: int) -> None:
    done = iterations_done(folder)
    if iterations < done:
        raise HanseError(
            f"--iterations: {folder}: {done} iterations are done already; allowed: {done} or more"
        )


def versions() -> dict[str, str]:
    """What a training depends on."""
    names = ("hanse", "ray", "torch", "gymnasium", "numpy")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}

"""Where a training goes on: tensors and plain data in one file, no pickled objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from policies.training.folder import CHECKPOINT, versions
from services.errors import HanseError


def read_checkpoint(folder: Path) -> dict[str, Any]:
    """The last checkpoint of a training.

    Raises:
        HanseError: it is not there, damaged, or written by another version of Ray or torch.
    """
    path = folder / CHECKPOINT
    try:
        # Tensors and plain data only: nothing in the file can run.
        saved = torch.load(path, weights_only=True)
        written, best = dict(saved["versions"]), saved["best"]
        if not (isinstance(best, float | None) and int(saved["iteration"]) >= 0):
            raise ValueError("iteration or best does not fit")
        if not {"rl_module", "optimizer"} <= set(saved["learner"]):
            raise ValueError("the networks are missing")
    except FileNotFoundError:
        raise HanseError(f"{path}: there is no checkpoint; begin anew: hanse train FILE") from None
    except Exception as error:
        line = " ".join(str(error).split())[:120]
        raise HanseError(f"{path}: is damaged ({line}); begin anew: hanse train FILE") from None
    for name, here in versions().items():
        if name in ("ray", "torch") and written.get(name) != here:
            raise HanseError(
                f"{path}: was written with {name} {written.get(name)}, here is {here}; install"
                f" {name}=={written.get(name)} to go on, or begin anew: hanse train FILE"
            )
    return dict(saved)


def to_tensors(state: Any) -> Any:
    """A learner's state with tensors in place of numpy's arrays and numbers."""
    if isinstance(state, dict):
        return {key: to_tensors(value) for key, value in state.items()}
    if isinstance(state, list | tuple):
        return [to_tensors(value) for value in state]
    if isinstance(state, np.ndarray):
        return {"__array__": torch.from_numpy(np.array(state))}
    if isinstance(state, np.generic):
        return state.item()
    return state


def from_tensors(state: Any) -> Any:
    """Undoes :func:`to_tensors`; tuples come back as lists."""
    if isinstance(state, dict):
        if set(state) == {"__array__"}:
            return state["__array__"].numpy()
        return {key: from_tensors(value) for key, value in state.items()}
    if isinstance(state, list):
        return [from_tensors(value) for value in state]
    return state

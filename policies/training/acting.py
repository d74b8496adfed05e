"""A trained policy that acts: in numpy, so that a host needs neither torch nor RLlib for it.

A decision is three products of a matrix with a vector in float64, some tens of microseconds, beside
the milliseconds that a firm's day costs. Each firm's decision is computed by itself: in a batch the
order of the sums, and with it the last digits, would depend on who else is there, and a run must be
the same on any layout.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.training.artefact import WEIGHTS, Manifest, read
from services.errors import HanseError

_FORBIDDEN = -1e9
Layers = tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]


class LeversPolicy:
    """Sets a firm's levers by the networks that were trained.

    Args:
        manifest: What is known of it.
        weights: Its arrays.
        source: What an error names.

    Raises:
        HanseError: the arrays do not fit the manifest, or are not finite.
    """

    def __init__(
        self, manifest: Manifest, weights: dict[str, NDArray[Any]], source: str = "policy"
    ) -> None:
        self.manifest = manifest
        self.counts = [len(lever.levels) for lever in manifest.levers]
        size = len(manifest.observation)
        self._policy = _layers(weights, "policy", size, manifest.hidden, sum(self.counts), source)
        self._value = _layers(weights, "value", size, manifest.hidden, 1, source)
        self._ends = np.cumsum(self.counts)

    @classmethod
    def load(cls, folder: Path | str) -> LeversPolicy:
        """Reads a policy's folder.

        Raises:
            HanseError: it is not there, damaged, or of a newer kind.
        """
        folder = Path(folder)
        manifest, weights = read(folder)
        return cls(manifest, weights, str(folder / WEIGHTS))

    def logits(self, observation: NDArray[Any], mask: NDArray[Any]) -> NDArray[np.float64]:
        """What speaks for each level of each lever, (sum(counts),); illegal ones have -1e9."""
        return np.where(mask, _forward(self._policy, observation), _FORBIDDEN)

    def act(
        self,
        observation: NDArray[Any],
        mask: NDArray[Any],
        random: Random | None = None,
    ) -> NDArray[np.int64]:
        """A level for each lever.

        Args:
            observation: ``(size,)``.
            mask: ``(sum(counts),)``, true where a level is legal.
            random: Draws the levels by their probabilities; without it, the likeliest are taken.
        """
        heads = np.split(self.logits(observation, mask), self._ends[:-1])
        if random is None:
            return np.array([int(np.argmax(head)) for head in heads], dtype=np.int64)
        return np.array([_draw(head, random) for head in heads], dtype=np.int64)

    def value(self, observation: NDArray[Any]) -> float:
        """What it expects to earn from here, discounted, in units of the training's reward."""
        return float(_forward(self._value, observation)[0])


def _draw(logits: NDArray[np.float64], random: Random) -> int:
    weights = np.exp(logits - logits.max())
    return random.choices(range(len(weights)), weights.tolist())[0]


@lru_cache(maxsize=64)
def _loaded(folder: str, stamp: tuple[int, int]) -> LeversPolicy:
    return LeversPolicy.load(folder)


def shared(folder: Path | str) -> LeversPolicy:
    """The policy of a folder, read once for all firms of a process that act by it.

    Raises:
        HanseError: it is not there, damaged, or of a newer kind.
    """
    path = Path(folder)
    try:
        about = (path / WEIGHTS).stat()
    except (OSError, ValueError):
        return LeversPolicy.load(path)  # which says what is wrong
    return _loaded(str(path.absolute()), (about.st_mtime_ns, about.st_size))


def _layers(
    weights: dict[str, NDArray[Any]],
    network: str,
    size: int,
    hidden: list[int],
    out: int,
    source: str,
) -> Layers:
    found = []
    fan_in = size
    for place, fan_out in enumerate([*hidden, out]):
        arrays = []
        for part, shape in (("weight", (fan_out, fan_in)), ("bias", (fan_out,))):
            name = f"{network}.{2 * place}.{part}"
            array = weights.get(name)
            if array is None or array.shape != shape:
                has = "is missing" if array is None else f"has shape {list(array.shape)}"
                raise HanseError(
                    f"{source}: {name} {has}; by its manifest it has shape {list(shape)};"
                    " restore the folder, or train anew: hanse train FILE"
                )
            if not np.isfinite(array).all():
                raise HanseError(
                    f"{source}: {name} holds numbers that are not finite;"
                    " the training has failed; train with a smaller ppo.learning_rate"
                )
            arrays.append(array.astype(np.float64))
        found.append((arrays[0], arrays[1]))
        fan_in = fan_out
    return tuple(found)


def _forward(layers: Layers, observation: NDArray[Any]) -> NDArray[np.float64]:
    seen: NDArray[np.float64] = np.asarray(observation, np.float64)
    *hidden, last = layers
    for weight, bias in hidden:
        seen = np.tanh(weight @ seen + bias)
    return np.asarray(last[0] @ seen + last[1])

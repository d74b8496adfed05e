"""The arrays of a purchasing policy: each is there, of the shape that is asked for, and finite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from services.errors import HanseError

Array = NDArray[np.float64]
LARGEST: Final = 1e9
"""No weight that was trained comes near it; sums of products of two that are below stay finite."""
REMEDY: Final = "train it anew: python -m policies.becon.procurement --out FOLDER"


@dataclass(frozen=True, slots=True)
class Arrays:
    """Arrays by name, taken by whoever knows what shape they must have.

    Args:
        weights: The arrays.
        source: What an error names: the file.
        prefix: What their names begin with.
    """

    weights: Mapping[str, NDArray[Any]]
    source: str = "policy"
    prefix: str = ""

    def take(self, name: str, *shape: int | None) -> Array:
        """One array, in float64.

        Args:
            name: Without the prefix.
            shape: Its length along each axis; ``None``: any of at least 1.

        Raises:
            HanseError: it is missing, has another shape, or holds what is no finite number.
        """
        array = self.weights.get(self.prefix + name)
        told = ["any" if size is None else size for size in shape]
        asked = f"[{', '.join(map(str, told))}]"
        if array is None:
            raise self.fault(name, f"is missing; it must have shape {asked}")
        fits = len(array.shape) == len(shape) and all(
            found > 0 if size is None else found == size
            for found, size in zip(array.shape, shape, strict=True)
        )
        if not fits:
            raise self.fault(name, f"has shape {list(array.shape)}, but must have shape {asked}")
        if array.dtype.kind != "f":
            raise self.fault(name, f"holds {array.dtype}, but must hold float32 or float64")
        if not np.isfinite(array).all():
            raise self.fault(name, "holds numbers that are not finite")
        found = np.asarray(array, np.float64)
        if np.abs(found).max(initial=0.0) > LARGEST:
            raise self.fault(name, f"holds numbers beyond {LARGEST:.0e}, which no training makes")
        return found

    def fault(self, name: str, what: str) -> HanseError:
        """The line that says what is wrong with an array."""
        return HanseError(
            f"{self.source}: {self.prefix}{name} {what}; restore the folder, or {REMEDY}"
        )

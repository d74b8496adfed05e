"""Arrays as plain data, exact to the bit: for checkpoints (MessagePack, no pickle)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.errors import HanseError

Packed = dict[str, Any]
"""``{"dtype": str, "shape": list[int], "data": bytes}``."""


def pack(array: NDArray[Any]) -> Packed:
    """The array as plain data, little-endian."""
    ordered = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return {"dtype": ordered.dtype.str, "shape": list(array.shape), "data": ordered.tobytes()}


def unpack(packed: Any, like: NDArray[Any] | None = None) -> NDArray[Any]:
    """The array that :func:`pack` has had; a writable copy.

    Args:
        packed: What it has returned.
        like: An array whose type and shape it must have.

    Raises:
        HanseError: it is damaged, or does not fit.
    """
    try:
        dtype = np.dtype(packed["dtype"])
        shape = tuple(packed["shape"])
        array = np.frombuffer(packed["data"], dtype).reshape(shape)
    except (KeyError, TypeError, ValueError) as error:
        raise HanseError(f"a monitor's saved array is damaged: {error}") from error
    array = array.astype(dtype.newbyteorder("="), copy=True)
    if like is not None and (array.dtype != like.dtype or array.shape != like.shape):
        raise HanseError(
            f"a monitor's saved array does not fit: {array.dtype}{array.shape}"
            f" instead of {like.dtype}{like.shape}"
        )
    return array

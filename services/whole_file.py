"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A file beside ``path`` to write to, which takes its place only if all goes well.

    What is no ordinary file (a device, a pipe) is written to as it is; a link stays one.

    Raises:
        OSError: it cannot take its place.
    """
    path = path.resolve()
    if path.exists() and not (path.is_file() or path.is_dir()):
        yield path
        return
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)

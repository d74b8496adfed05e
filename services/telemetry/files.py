"""Writing a file that is there whole or not at all."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from services.errors import HanseError


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[str]]:
    """A text file to write to, which takes its place only if all goes well.

    It is compressed if its name ends with ``.gz``.

    Raises:
        HanseError: it cannot be written.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        with contextlib.ExitStack() as stack:
            raw: IO[bytes] = stack.enter_context(open(partial, "wb"))
            if path.suffix == ".gz":
                packed = gzip.GzipFile(path.stem, "wb", 6, raw, mtime=0)
                raw = cast("IO[bytes]", stack.enter_context(packed))
            text = stack.enter_context(io.TextIOWrapper(raw, "utf-8", newline="\n"))
            yield text
        os.replace(partial, path)
    except OSError as error:
        raise HanseError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)

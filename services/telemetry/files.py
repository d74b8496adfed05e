"""Writing a file that is there whole or not at all."""

from __future__ import annotations

import contextlib
import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from services.errors import HanseError
from services.whole_file import whole


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[str]]:
    """A text file to write to, which takes its place only if all goes well.

    It is compressed if its name ends with ``.gz``.

    Raises:
        HanseError: it cannot be written.
    """
    try:
        with whole(path) as partial, contextlib.ExitStack() as stack:
            raw: IO[bytes] = stack.enter_context(open(partial, "wb"))
            if path.suffix == ".gz":
                packed = gzip.GzipFile(path.stem, "wb", 6, raw, mtime=0)
                raw = cast("IO[bytes]", stack.enter_context(packed))
            yield stack.enter_context(io.TextIOWrapper(raw, "utf-8", newline="\n"))
    except OSError as error:
        raise HanseError(f"{path} cannot be written: {error.strerror or error}") from error

"""Finished parts of a study in a folder, so that a study that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

Part = TypeVar("Part")


def kept(path: Path | None, kind: type[Part], made_with: object, run: Callable[[], Part]) -> Part:
    """What is in the file if it was made with the same settings; else runs and writes it.

    Args:
        path: Of the file, whose folder is made; None: nothing is kept.
        kind: What a part is; pydantic must be able to write it down.
        made_with: Settings whose `repr` says all that the part depends on.
        run: Makes the part.
    """
    if path is None:
        return run()
    adapter = TypeAdapter(kind)
    if path.is_file():
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["made_with"] == repr(made_with):
                return adapter.validate_python(found["part"])
        except (ValueError, KeyError, TypeError, ValidationError):
            pass  # half written, or by another version: made anew
    part = run()
    path.parent.mkdir(parents=True, exist_ok=True)
    # Python's own encoder: figures may be NaN, which must come back as such.
    text = json.dumps({"made_with": repr(made_with), "part": adapter.dump_python(part)})
    path.write_text(text, encoding="utf-8")
    return part

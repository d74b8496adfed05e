"""The JSON texts in ``run.db``: read where one that is damaged must be named, or may be skipped."""

import json
from pathlib import Path
from typing import Any

from services.errors import HanseError
from services.runs.database import damaged

_DECODER = json.JSONDecoder()


def body_of(text: str | bytes) -> dict[str, Any] | None:
    """The body of a row; None if it is no JSON object."""
    try:
        # Most rows are read here; this way costs half of what `json.loads` does.
        found, end = _DECODER.raw_decode(text) if isinstance(text, str) else (None, -1)
        if end != len(text):
            found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def sound_body(text: str | bytes, database: Path, table: str) -> dict[str, Any]:
    """The body of a row.

    Args:
        text: What stands in the row.
        database: The run's database, to name in an error.
        table: The row's table, likewise.

    Raises:
        HanseError: It is no JSON object.
    """
    found = body_of(text)
    if found is None:
        raise HanseError(damaged(database, f"{table}: a body is not a JSON object"))
    return found

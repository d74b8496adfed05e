"""Orders: what an operator wants of a league that is running, such as that a measure ends.

An order is a small file in the run's folder (``place``). The league looks for it at the turn of a
tick, and writes it into the journal before anything comes of it: when the day has to be played
again, after a crash, the order is given again at the same minute. So a run with orders is the same
to the byte on any layout, given the journal.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from actors.guard import JournalRow
from services.errors import HanseError
from services.whole_file import whole

FOLDER: Final = "orders"
"""In the run's folder."""
KIND: Final = "order"
"""Of rows of the journal."""
OPERATOR: Final = "operator"
"""The agent that carries orders out."""
ALL: Final = "all"
"""In place of a measure's id."""
_LARGEST: Final = 4096
"""Bytes of an order's file; what is larger is none."""


def place(run: Path, measure: str) -> Path:
    """Orders that a measure end.

    Args:
        run: The run's folder.
        measure: Its id, or :data:`ALL`.

    Returns:
        The order's file; it is gone when the league has taken it.

    Raises:
        HanseError: it cannot be written.
    """
    name = f"{time.time_ns():020}-{os.getpid()}"
    path = run / FOLDER / f"{name}.json"
    try:
        path.parent.mkdir(exist_ok=True)
        with whole(path) as partial:
            partial.write_text(json.dumps({"lift": measure}) + "\n", encoding="utf-8")
    except OSError as error:
        raise HanseError(
            f"{path}: cannot be written: {error.strerror or error}; mend the folder's permissions"
        ) from None
    return path


class Orders:
    """Takes orders from a run's folder, or from its journal once more.

    Args:
        run: The run's folder.
        journal: Writes rows that cannot be computed again; they are safe when it returns.
    """

    def __init__(self, run: Path, journal: Callable[[list[JournalRow]], None]) -> None:
        self._folder = run / FOLDER
        self._journal = journal
        self._again: list[tuple[int, str]] = []
        self._taken: set[str] = set()

    def again(self, journal: Iterable[JournalRow]) -> list[JournalRow]:
        """The league goes back: the journal's orders will be given again when their minute comes.

        Returns:
            The other rows.
        """
        self._again, others = [], []
        for row in journal:
            minute, _, _, kind, text = row
            if kind != KIND:
                others.append(row)
                continue
            body = json.loads(text)
            self._again.append((minute, body["lift"]))
            self._taken.add(body["order"])
        return others

    def take(self, minute: int) -> list[str]:
        """The measures that are to end now, by the orders of the journal or new ones.

        Raises:
            HanseError: the journal cannot be written.
        """
        measures = [measure for due, measure in self._again if due <= minute]
        if measures:
            self._again = [(due, measure) for due, measure in self._again if due > minute]
            return measures
        if self._again:
            return []  # the past is being played again: what is new has to wait until it is over
        rows: list[JournalRow] = []
        for path in self._files():
            measure = _read(path)
            if measure is not None and path.stem not in self._taken:
                body = json.dumps({"order": path.stem, "lift": measure})
                rows.append((minute, 0, OPERATOR, KIND, body))
                measures.append(measure)
                self._taken.add(path.stem)
        if rows:
            self._journal(rows)
        for path in self._files():
            if path.stem in self._taken:
                with suppress(OSError):
                    path.unlink()
        return measures

    def _files(self) -> list[Path]:
        try:
            names = sorted(os.listdir(self._folder))
        except OSError:
            return []  # nobody has ordered anything
        return [
            self._folder / name
            for name in names
            if name.endswith(".json") and not name.startswith(".")
        ]


def _read(path: Path) -> str | None:
    """The measure that a file orders to end; ``None`` if it is no order."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        measure = json.loads(path.read_bytes())["lift"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return measure if isinstance(measure, str) and measure else None

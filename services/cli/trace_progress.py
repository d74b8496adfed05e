"""A count of days on stderr for what takes long in a large run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_PATIENCE = 1.0
"""Seconds after which a terminal is told how far it is."""


@contextmanager
def counting_days() -> Iterator[Callable[[int, int], None]]:
    """Gives a function to be called after each day with its number and that of all days."""
    began, told = time.monotonic(), False

    def on_day(day: int, days: int) -> None:
        nonlocal told
        if sys.stderr.isatty() and time.monotonic() - began > _PATIENCE:
            told = True
            sys.stderr.write(f"\rday {day + 1} of {days}")
            sys.stderr.flush()

    try:
        yield on_day
    finally:
        if told:
            sys.stderr.write("\r\033[K")

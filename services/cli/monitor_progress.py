"""Progress of work that has several parts, each of many steps: a bar each, or lines."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

from services.cli.console import note

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Steps:
    """On a terminal a bar for each part, elsewhere a line at each tenth of it, or nothing.

        with Steps() as steps:
            calibrate_league(config, progress=steps.part("segments"))

    Args:
        show: Whether to show anything.
    """

    def __init__(self, *, show: bool = True) -> None:
        self._show = show
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Steps:
        if self._show and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
            )

            self._bars = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, what: str, done: int, of: int) -> None:
        """So many steps of a part are done."""
        if self._bars is not None:
            if what not in self._tasks:
                self._tasks[what] = self._bars.add_task(what, total=of)
            self._bars.update(self._tasks[what], completed=done, total=of)
        elif self._show and done and (done * 10 // of > (done - 1) * 10 // of):
            note(f"{what}: {done:,} of {of:,}")

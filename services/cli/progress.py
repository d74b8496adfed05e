"""What a user sees while a run is under way: the day, each firm's cash, messages a second."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from services.cli.console import compact, note

if TYPE_CHECKING:
    from rich.live import Live
    from rich.progress import Progress as Bar

    from actors.league import Progress

_SHOWN_FIRMS = 8
"""More firms than this are shown as their sum."""
_WINDOW = 8
"""Days over which the messages a second are taken."""
_SILENCE = 10.0
"""Seconds without a line."""


class Rate:
    """Messages a second over the last days; of this session, also in a run that was resumed."""

    def __init__(self) -> None:
        self._marks: deque[tuple[int, float]] = deque(maxlen=_WINDOW + 1)

    def after(self, messages: int, seconds: float) -> float | None:
        """Add a day's end; None until there are two."""
        self._marks.append((messages, seconds))
        sent = messages - self._marks[0][0]
        took = seconds - self._marks[0][1]
        return sent / took if took > 0 else None


def cash_line(cash: dict[str, float]) -> str:
    """`cash: farmer_A 15.2k  farmer_B 14.9k ...`, or the sum of a large league."""
    if len(cash) <= _SHOWN_FIRMS:
        return "cash: " + "  ".join(f"{firm} {compact(amount)}" for firm, amount in cash.items())
    return f"cash of {len(cash)} firms {compact(sum(cash.values()))}"


class RunDisplay:
    """A bar on a terminal, lines elsewhere, nothing when told to be quiet.

    There is a line for each tenth of the run, and after ten seconds without one.

    Days are counted from 0, as everywhere: the last day of 90 is day 89.

        with RunDisplay(days=90) as display:
            league.run(on_day=display)

    Args:
        days: Of the whole run.
        first_day: With which it begins to be played.
        show: Whether to show anything.
        news: What is to be told of a day besides; it stays when the bar is gone.
    """

    def __init__(
        self,
        days: int,
        first_day: int = 0,
        *,
        show: bool = True,
        news: Callable[[int], list[str]] | None = None,
    ) -> None:
        self._news = news if show else None
        self._days = days
        self._first_day = first_day
        self._rate = Rate()
        self._told = 0.0
        self._live: Live | None = None
        self._bar: Bar | None = None
        self._show_bar = show and sys.stderr.isatty()
        self._show_lines = show and not self._show_bar

    def __enter__(self) -> RunDisplay:
        if self._show_bar:
            self._start_bar()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, done: Progress) -> None:
        """Show the day that is done."""
        rate = self._rate.after(done.messages, done.seconds)
        speed = "" if rate is None else f"{rate:,.0f} messages/s"
        if self._live is not None and self._bar is not None:
            self._bar.update(
                self._bar.task_ids[0],
                completed=done.day + 1,
                description=f"day {done.day}",
                speed=speed,
            )
            self._live.update(self._picture(cash_line(done.cash)))
        elif self._show_lines and (self._is_tenth(done.day) or self._is_time(done.seconds)):
            self._told = done.seconds
            count = f"({done.day + 1} of {done.days})"
            parts = (f"day {done.day} {count}", cash_line(done.cash), speed)
            note("  ".join(part for part in parts if part))
        if self._news is not None:
            self._tell(self._news(done.day))

    def _tell(self, lines: list[str]) -> None:
        if self._live is None:
            for line in lines:
                note(line)
            return
        from rich.text import Text

        for line in lines:
            self._live.console.print(Text(line))

    def _is_time(self, seconds: float) -> bool:
        return seconds - self._told >= _SILENCE

    def _is_tenth(self, day: int) -> bool:
        return (day + 1) * 10 // self._days > day * 10 // self._days or day + 1 == self._days

    def _start_bar(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
        )
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeElapsedColumn(),
            expand=True,
        )
        self._bar.add_task("starting", total=self._days, completed=self._first_day, speed="")
        self._live = Live(
            self._picture(""),
            console=Console(stderr=True),
            refresh_per_second=8,
            transient=True,
            redirect_stdout=False,
        )
        self._live.start()

    def _picture(self, line: str) -> Any:
        from rich.console import Group
        from rich.text import Text

        assert self._bar is not None
        return Group(self._bar, Text(line, style="dim"))

"""The hours at which firms talk: every full one from 9:00 to 18:00."""

from __future__ import annotations

from typing import Final

from services.messages import MINUTES_PER_DAY

FIRST_HOUR: Final = 9
LAST_HOUR: Final = 18


def next_hour(now: int) -> int:
    """The minute of the first working hour after a minute."""
    day, minute = divmod(now, MINUTES_PER_DAY)
    hour = minute // 60 + 1
    if hour > LAST_HOUR:
        day, hour = day + 1, FIRST_HOUR
    return day * MINUTES_PER_DAY + max(hour, FIRST_HOUR) * 60


def hours_later(minute: int, hours: int) -> int:
    """The minute at which so many working hours have begun after ``minute``."""
    for _ in range(hours):
        minute = next_hour(minute)
    return minute

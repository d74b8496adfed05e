"""What is said of a run while it is under way, where there is no terminal."""

from __future__ import annotations

import pytest

from actors.league import Progress
from services.cli.progress import RunDisplay


def days_told(seconds_a_day: float, capfd: pytest.CaptureFixture[str]) -> list[int]:
    with RunDisplay(days=100) as display:
        for day in range(30):
            display(Progress(day, 100, {"farmer_A": 1.0}, 10 * day, seconds_a_day * (day + 1)))
    return [int(line.split()[1]) for line in capfd.readouterr().err.splitlines()]


def test_a_fast_run_tells_of_each_tenth(capfd: pytest.CaptureFixture[str]) -> None:
    assert days_told(0.01, capfd) == [9, 19, 29]


def test_a_slow_run_tells_of_a_day_after_ten_seconds_without_a_word(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert days_told(3.0, capfd) == [3, 7, 9, 13, 17, 19, 23, 27, 29]

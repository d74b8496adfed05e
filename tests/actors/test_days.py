"""Days that have to be played again because hosts were lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actors.days import LOSSES_A_DAY
from actors.league import League
from actors.lost import HostLost
from services.errors import HanseError
from tests.actors.test_determinism import league_of_six


def losing(league: League, lose: Callable[[int, int], bool]) -> None:
    """Has the host of a league be lost, and be there again at once.

    Args:
        league: On one host in this process.
        lose: Is told the minute, and which call it is: a host by itself works a whole day in one.
    """
    hosts: Any = league.hosts
    work, calls = hosts.work, 0

    def work_or_lose(minute: int, *arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if lose(minute, calls):
            raise HostLost(["host-0"])
        return work(minute, *arguments)

    hosts.work, hosts.revive = work_or_lose, lambda names: None


def test_a_day_in_which_a_host_is_lost_is_played_again_and_comes_to_the_same(
    tmp_path: Path,
) -> None:
    with League.create(league_of_six(days=3), tmp_path / "whole") as league:
        whole = league.run()
    with League.create(league_of_six(days=3), tmp_path / "lost") as league:
        losing(league, lambda minute, call: call in (1, 3))
        result = league.run()
    assert result.counters["host_restarts"] == 2
    assert (result.log_sha256, result.messages) == (whole.log_sha256, whole.messages)


def test_a_host_that_is_lost_on_the_same_day_again_and_again_ends_the_run_in_a_line(
    tmp_path: Path,
) -> None:
    with League.create(league_of_six(days=3), tmp_path / "run") as league:
        losing(league, lambda minute, call: minute >= 24 * 60)
        told = rf"host-0 died {LOSSES_A_DAY} times on day 1; .* then: hanse resume "
        with pytest.raises(HanseError, match=told):
            league.run()
        assert league.store.day == 0

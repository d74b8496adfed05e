"""Days that have to be played again because hosts were lost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actors import spool
from actors.days import LOSSES_A_DAY
from actors.inline_hosts import InlineHosts
from actors.league import League
from actors.lost import HostLost
from actors.spool import Epoch, Spooled
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


def test_whatever_lies_in_the_folder_of_the_spools_a_run_is_resumed_to_the_same_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with League.create(league_of_six(days=3), tmp_path / "whole") as league:
        whole = league.run()
    run = tmp_path / "run"
    with League.create(league_of_six(days=3), run) as league:
        league.run(until_day=0)
    folder = run / spool.FOLDER
    (folder / "0-1-folder.jsonl").mkdir(parents=True)
    (folder / "notes.jsonl").write_text("notes")
    malformed = json.dumps(["answer", 2000, 0, "farmer_A", "answer", "{}"])
    (folder / "0-1-host-0.jsonl").write_text(f'5\n{malformed}\n["log", {{"a": 1}}]\n')
    with League.resume(run) as league:
        assert league.run().log_sha256 == whole.log_sha256
        assert league.store.journal_since(0) == []
    assert "3 entries of spools were skipped" in caplog.text
    assert sorted(file.name for file in folder.iterdir()) == ["0-1-folder.jsonl", "notes.jsonl"]


def test_a_copy_of_a_run_leaves_the_spools_of_other_machines_to_the_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for: list[str] = []

    def note(hosts: InlineHosts, epoch: Epoch) -> list[Spooled]:
        asked_for.append(epoch.token)
        return []

    monkeypatch.setattr(InlineHosts, "spooled", note)
    original, copy = tmp_path / "original", tmp_path / "copy"
    with League.create(league_of_six(days=3), original) as league:
        league.run(until_day=0)
    shutil.copytree(original, copy)
    of_copy = resumed(copy)
    assert asked_for == [], "they may still be written to"
    of_original = resumed(original)
    assert asked_for == [""], "its own first epoch has no token"
    assert of_copy != of_original
    resumed(copy)
    resumed(original)
    assert asked_for == ["", of_copy, of_original]


def resumed(folder: Path) -> str:
    """The token of the epoch that begins as a run is resumed."""
    with League.resume(folder) as league:
        return league.store.epoch.token

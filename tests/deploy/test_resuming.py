"""A run on the head that loses its processes stops, and goes on from its last whole day."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from actors.league import League
from services.cluster import on_head
from services.cluster.on_head import Head
from services.config import RunConfig, standard
from services.errors import HanseError
from services.runs import Run

pytestmark = pytest.mark.skipif(shutil.which("rsync") is None, reason="needs rsync")


@pytest.fixture
def league(home: Path) -> Iterator[RunConfig]:
    """What is run, in one process of the head: it needs no Ray."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    (home / ".bash_profile").write_text(f"export PATH={path}\n")
    yield standard().with_overrides(source="test", placement="inline", days=400)
    for pid in processes(home):
        os.kill(pid, signal.SIGKILL)


def test_a_run_whose_head_was_started_anew_goes_on_to_the_same_result(
    head: Head, home: Path, league: RunConfig, tmp_path: Path
) -> None:
    config = league.with_overrides(source="test", days=60)
    head.start("r", tmp_path, [], config.dump())
    run = home / head.run_folder("r") / "project" / "runs" / "r"
    until(lambda: whole_day(run) > 2)
    lose_all(home)
    assert head.exit_code("r") == -1
    reached = whole_day(run)
    known = head.resume("r")
    until(lambda: head.exit_code("r") == 0)
    said = head.log("r").encode()[known:].decode()
    days = [int(line.split()[1]) for line in said.splitlines() if line.startswith("day ")]
    assert days and min(days) > reached
    with League.create(config, tmp_path / "inline") as inline:
        assert Run(run).result.log_sha256 == inline.run().log_sha256  # type: ignore[union-attr]
    with pytest.raises(HanseError, match="r: has finished already; bring it here: hanse cluster"):
        head.resume("r")


def test_a_run_that_goes_on_is_not_started_again(
    head: Head, home: Path, league: RunConfig, tmp_path: Path
) -> None:
    head.start("r", tmp_path, [], league.dump())
    with pytest.raises(HanseError, match="r: goes on already; come back to it with: hanse cluster"):
        head.resume("r")


def test_a_league_does_not_outlive_the_process_that_keeps_it(
    head: Head, home: Path, league: RunConfig, tmp_path: Path
) -> None:
    head.start("r", tmp_path, [], league.dump())
    run = home / head.run_folder("r") / "project" / "runs" / "r"
    until(lambda: whole_day(run) >= 0)
    keeper = int((home / head.run_folder("r") / "pid").read_text().split()[0])
    assert len(processes(home)) == 2
    os.kill(keeper, signal.SIGKILL)
    until(lambda: not processes(home))
    assert head.exit_code("r") == -1


def test_old_code_that_no_process_uses_is_removed_when_new_code_comes(
    head: Head, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = home / head.folder / "code"
    for name in ("unused", "in-use", "just-sent"):
        (code / name).mkdir(parents=True)
    for name in ("unused", "in-use"):
        os.utime(code / name, (0, 0))
    monkeypatch.setattr(on_head, "PACKAGES", ())
    monkeypatch.setattr(
        head.ssh, "send", lambda host, here, there, excluded: (home / there).mkdir()
    )
    words = ["sleep", "60"]
    with subprocess.Popen(words, env={"PYTHONPATH": str(code / "in-use")}) as user:
        head.send_code()
        user.kill()
    assert {folder.name for folder in code.iterdir()} == {
        "in-use",
        "just-sent",
        Path(head.code).name,
    }


def whole_day(run: Path) -> int:
    try:
        day = Run(run).day
    except (HanseError, sqlite3.Error):
        return -1
    return -1 if day is None else day


def processes(home: Path) -> list[int]:
    """The processes of Hanse's program on the head."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            program = b"services.cli.cluster_head" in (entry / "cmdline").read_bytes()
            if program and str(home).encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue  # no process, or it has ended meanwhile
    return found


def lose_all(home: Path) -> None:
    for pid in processes(home):
        os.kill(pid, signal.SIGKILL)
    until(lambda: not processes(home))


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)

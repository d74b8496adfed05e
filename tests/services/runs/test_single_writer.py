"""A run has one writer, whoever is the second is told who is the first."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.errors import HanseError
from services.runs import Run, RunStore, process
from services.runs.process import Process
from tests.services.runs.processes import kill, start_writing
from tests.services.runs.samples import manifest, play, rows_of, written


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield child
    child.kill()
    child.wait()


def test_a_second_process_is_refused_with_the_pid_of_the_first(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", days=2)
    writer = start_writing(folder, 0)
    try:
        assert Run(folder).state == "running"
        with pytest.raises(HanseError) as refusal:
            RunStore.open(folder)
    finally:
        kill(writer)
    assert str(refusal.value) == (
        f"{folder}: process {writer.pid} is writing this run; wait for it or stop it, then continue"
        f" with: hanse resume {folder}"
    )
    with RunStore.open(folder) as store:  # the first is dead: nothing was lost, and it goes on
        play(store, range(2, 3))
    assert Run(folder).marks() == Run(written(tmp_path / "whole", days=3)).marks()


def test_a_second_store_in_the_same_process_is_refused_too(tmp_path: Path) -> None:
    with (
        RunStore.create(tmp_path / "run", manifest()),
        pytest.raises(HanseError, match=rf"process {os.getpid()} \(this very process\)"),
    ):
        RunStore.open(tmp_path / "run")


def test_a_store_that_was_dropped_without_closing_does_not_block_the_next(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path / "run", manifest())
    play(store, range(1))
    del store
    with RunStore.open(tmp_path / "run") as store:
        assert store.day == 0


def test_a_killed_writer_that_nobody_has_buried_yet_counts_as_gone(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", days=1)
    writer = start_writing(folder, 0)
    writer.kill()  # and not waited for: a zombie
    os.waitid(os.P_PID, writer.pid, os.WEXITED | os.WNOWAIT)
    assert Run(folder).state == "resumable"
    with RunStore.open(folder):
        pass
    kill(writer)


def test_a_writer_that_was_taken_over_stops_at_its_next_day(tmp_path: Path) -> None:
    """Containers on one folder do not see each other's processes; still, rows never mix."""
    folder = written(tmp_path / "run", days=1)
    with RunStore.open(folder) as first:
        first._claim.drop()  # as if this process could not be seen
        with RunStore.open(folder) as second:
            first.append(**rows_of(1))
            with pytest.raises(HanseError, match=f"process {os.getpid()} has taken this run over"):
                first.end_day(1, b"")
            play(second, range(1, 2))
    assert Run(folder).verify()


def test_a_process_number_that_is_used_again_is_another_process(
    sleeper: "subprocess.Popen[bytes]",
) -> None:
    started = process._started(sleeper.pid)
    assert started
    assert Process(pid=sleeper.pid, started=started).is_alive()
    assert not Process(pid=sleeper.pid, started="before").is_alive()


@pytest.mark.parametrize("proc", ["/proc", "/no/such/folder"])
def test_a_process_is_alive_until_it_dies_with_or_without_proc(
    proc: str, sleeper: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_PROC", Path(proc))
    known = Process(pid=sleeper.pid, started=process._started(sleeper.pid) or "")
    assert known.is_alive()
    assert Process.current().is_alive()
    sleeper.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert not known.is_alive()  # dead, though its number is still taken
    sleeper.wait()
    time.sleep(0.01)
    assert not known.is_alive()


def test_where_nothing_tells_the_age_of_a_process_its_number_decides(
    sleeper: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_PROC", Path("/no/such/folder"))
    monkeypatch.setenv("PATH", "/no/such/folder")  # no ps either
    assert process._started(sleeper.pid) == ""
    assert Process(pid=sleeper.pid, started="at some time").is_alive()
    sleeper.kill()
    sleeper.wait()
    assert not Process(pid=sleeper.pid, started="at some time").is_alive()

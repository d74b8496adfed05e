"""What the user's machine asks of the head, and what it makes of the answers."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.cluster.following import follow
from services.cluster.held_runs import held_runs
from services.cluster.on_head import Head
from services.errors import HanseError
from services.runs.process import Process

needs_rsync = pytest.mark.skipif(shutil.which("rsync") is None, reason="needs rsync")


@pytest.fixture
def sleeper() -> Iterator[Process]:
    """A process that lives, and leads a group of its own."""
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        stat = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        yield Process(pid=process.pid, started=f"{boot}:{stat[19]}")
        process.kill()


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a..b", "a/b", "my run", "x;reboot", "$(x)", "-rf", "a" * 101]
)
def test_a_name_that_could_lead_elsewhere_is_refused_in_a_line(head: Head, name: str) -> None:
    with pytest.raises(HanseError, match="is no name for a run on a cluster; use") as refused:
        head.run_folder(name)
    assert "\n" not in str(refused.value)


def test_the_heads_address_is_one_word_of_its_shell(head: Head) -> None:
    object.__setattr__(head.cluster, "head", "h1; touch x")
    assert "RAY_ADDRESS='h1; touch x:6379'" in head.command("status")


@pytest.mark.parametrize(("code", "meant"), [("0\n", 0), ("2\n", 2)])
def test_a_run_that_has_ended_has_its_code(head: Head, there: Path, code: str, meant: int) -> None:
    (there / "pid").write_text("1 x:1\n")
    (there / "code").write_text(code)
    assert head.exit_code("r") == meant


def test_a_run_whose_process_lives_goes_on(head: Head, there: Path, sleeper: Process) -> None:
    (there / "pid").write_text(f"{sleeper.pid} {sleeper.started}\n")
    assert head.exit_code("r") is None


def test_a_dead_process_that_nobody_has_buried_yet_is_no_run(
    head: Head, there: Path, sleeper: Process
) -> None:
    (there / "pid").write_text(f"{sleeper.pid} {sleeper.started}\n")
    os.kill(sleeper.pid, signal.SIGKILL)
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert head.exit_code("r") == -1


def test_a_stranger_with_the_number_of_a_run_is_no_run(
    head: Head, there: Path, sleeper: Process
) -> None:
    (there / "pid").write_text(f"{sleeper.pid} {sleeper.started}0\n")
    assert head.exit_code("r") == -1


def test_stopping_a_run_lets_a_stranger_with_its_number_live(
    head: Head, there: Path, sleeper: Process
) -> None:
    (there / "pid").write_text(f"{sleeper.pid} {sleeper.started}0\n")
    head.end("r")
    assert sleeper.is_alive()


def test_stopping_a_run_ends_its_process(head: Head, there: Path, sleeper: Process) -> None:
    (there / "pid").write_text(f"{sleeper.pid} {sleeper.started}\n")
    buried = threading.Thread(target=os.waitpid, args=(sleeper.pid, 0))
    buried.start()
    head.end("r")
    buried.join(5)
    assert not sleeper.is_alive()


def test_what_a_profile_prints_is_no_part_of_an_answer(head: Head, home: Path, there: Path) -> None:
    (home / ".bash_profile").write_text("echo Welcome to h1\n")
    (there / "pid").write_text("1 x:1\n")
    (there / "code").write_text("0\n")
    (there / "log").write_text("day 0\nday 1\n")
    shown: list[bytes] = []
    assert follow(head, "r", shown.append, lambda line: None) == 0
    assert b"".join(shown) == b"day 0\nday 1\n"
    assert head.log("r") == "day 0\nday 1\n"


def test_an_answer_that_is_none_is_one_line(head: Head, there: Path) -> None:
    (there / "pid").write_text("1 x:1\n")
    (there / "code").write_text("what?\n")
    with pytest.raises(HanseError, match=r"h1: does not say how r stands, but 'what\?'"):
        head.exit_code("r")


def test_a_run_that_is_not_there_is_named(head: Head) -> None:
    with pytest.raises(HanseError, match="there is no run r on the cluster"):
        head.exit_code("r")


@needs_rsync
def test_files_and_folders_alone_come_from_the_head(
    head: Head, there: Path, tmp_path: Path
) -> None:
    run = there / "project" / "runs" / "r"
    run.mkdir(parents=True)
    (run / "manifest.json").write_text("{}")
    (run / "manifest.json").chmod(0o4777)
    (run / "link").symlink_to("/etc/passwd")
    os.mkfifo(run / "pipe")
    head.fetch("r", tmp_path / "here")
    [file] = (tmp_path / "here").iterdir()
    assert file.name == "manifest.json"
    assert file.stat().st_mode & 0o7111 == 0


@needs_rsync
def test_files_of_any_name_reach_the_head_and_links_as_what_they_lead_to(
    head: Head, home: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    names = ["#odd.py", ";x.py", "two\nlines.py", "mine.py"]
    for name in names[:-1]:
        (project / name).write_text(name)
    (tmp_path / "theirs.py").write_text("theirs")
    (project / "mine.py").symlink_to("../theirs.py")
    head.ssh.send_project("h1", project, [project / name for name in names], "there")
    assert {file.name for file in (home / "there").iterdir()} == set(names)
    assert not (home / "there" / "mine.py").is_symlink()
    assert (home / "there" / "mine.py").read_text() == "theirs"


@pytest.mark.parametrize("held", ["", "x\n", "7\n", "9999999999999999 x:1\n"])
def test_a_run_without_a_process_is_stopped_and_hides_no_other(tmp_path: Path, held: str) -> None:
    for name, code in (("a", ""), ("b", "0")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pid").write_text(held)
        if code:
            (tmp_path / name / "code").write_text(code)
    states = {run["name"]: run["state"] for run in held_runs(tmp_path)}
    assert states == {"a": "stopped", "b": "finished"}


def test_the_heads_program_knows_a_run_by_the_same_start(tmp_path: Path, sleeper: Process) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "pid").write_text(f"{sleeper.pid} {sleeper.started}\n")
    [run] = held_runs(tmp_path)
    assert (run["name"], run["state"]) == ("a", "running")
    assert (run["id"], run["days_done"], run["days"]) == (None, None, None)


def test_what_a_host_says_of_a_failure_steers_no_terminal(head: Head, home: Path) -> None:
    (home / ".bash_profile").write_text("printf 'no \\033[2J way\\n' >&2; exit 255\n")
    with pytest.raises(HanseError, match=r"^h1: no \[2J way; try: ssh"):
        head.log("r")

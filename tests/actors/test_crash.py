"""Whatever is killed, whenever: `hanse resume` ends in the same books."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from actors.league import League
from services.config import RunConfig
from services.errors import HanseError
from services.runs import Run, RunResult, branch
from tests.actors.test_determinism import league_of_six

HANSE = [sys.executable, "-m", "services.cli.main"]
RUN_FILE = """
days = {days}
[[firms]]
name = "farmer_A"
role = "farmer"
[[firms]]
name = "roaster_A"
role = "roaster"
strategy = "repaired"
[[firms]]
name = "roaster_B"
role = "roaster"
strategy = "random"
[[firms]]
name = "retailer_A"
role = "retailer"
"""


def started(folder: Path, run_file: Path, placement: str) -> subprocess.Popen[bytes]:
    command = [*HANSE, "run", str(run_file), "--placement", placement, "--out", str(folder)]
    return subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def day_reached(folder: Path) -> int | None:
    try:
        return Run(folder).day
    except HanseError:
        return None


def resumed(folder: Path, by_command: bool = False) -> RunResult:
    """The result of the resumed run, or of the run if it had finished before it was killed."""
    run = Run(folder)
    if run.state == "finished" and run.result is not None:
        return run.result
    if not by_command:
        with League.resume(folder) as league:
            return league.run()
    command = [*HANSE, "resume", str(folder), "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return RunResult.model_validate_json(done.stdout)


def test_a_run_killed_at_ten_random_instants_ends_in_the_same_books(tmp_path: Path) -> None:
    run_file = tmp_path / "run.toml"
    run_file.write_text(RUN_FILE.format(days=150))
    undisturbed = tmp_path / "undisturbed"
    assert started(undisturbed, run_file, "inline").wait() == 0
    expected = Run(undisturbed).result
    assert expected is not None
    rng = random.Random(20261130)
    killed_in_the_middle = 0
    for trial in range(10):
        folder = tmp_path / f"trial-{trial}"
        process = started(folder, run_file, "inline")
        deadline = time.monotonic() + 60
        while day_reached(folder) is None and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(rng.uniform(0.0, 0.8 * expected.seconds))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        killed_in_the_middle += Run(folder).state == "resumable"
        result = resumed(folder, by_command=trial == 0)
        assert result.ledger_sha256 == expected.ledger_sha256
        assert result.log_sha256 == expected.log_sha256
        assert Run(folder).verify()
    assert killed_in_the_middle >= 3


@pytest.mark.ray
def test_a_ray_run_of_which_everything_is_killed_ends_in_the_same_books(tmp_path: Path) -> None:
    run_file = tmp_path / "run.toml"
    run_file.write_text(RUN_FILE.format(days=20))
    undisturbed = tmp_path / "undisturbed"
    assert started(undisturbed, run_file, "inline").wait() == 0
    expected = Run(undisturbed).result
    assert expected is not None
    folder = tmp_path / "killed"
    process = started(folder, run_file, "packed")
    deadline = time.monotonic() + 120
    while (day_reached(folder) or 0) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    # The session holds the driver and all that Ray started for it.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert resumed(folder, by_command=True).log_sha256 == expected.log_sha256


def test_ctrl_c_leaves_a_resumable_run(tmp_path: Path) -> None:
    run_file = tmp_path / "run.toml"
    run_file.write_text(RUN_FILE.format(days=3000))
    folder = tmp_path / "run"
    command = [*HANSE, "run", str(run_file), "--placement", "inline", "--out", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while (day_reached(folder) or 0) < 5:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    assert f"continue with: hanse resume {folder}" in said.replace("\n", " ")
    assert "Traceback" not in said
    assert Run(folder).state == "resumable"


def test_a_run_may_be_resumed_on_another_layout(tmp_path: Path) -> None:
    with League.create(league_of_six(), tmp_path / "whole") as league:
        whole = league.run()
    with League.create(league_of_six(), tmp_path / "halved") as league:
        league.run(until_day=4)
    with League.resume(tmp_path / "halved", hosts=3) as league:
        halved = league.run()
    assert halved.log_sha256 == whole.log_sha256


def test_a_branch_shares_nothing_with_its_parent_and_ends_in_the_same_books(
    tmp_path: Path,
) -> None:
    with League.create(league_of_six(), tmp_path / "parent") as league:
        parent = league.run()
    before = (tmp_path / "parent" / "run.db").read_bytes()
    branch(tmp_path / "parent", 6, tmp_path / "child")
    with League.resume(tmp_path / "child") as league:
        child = league.run()
    assert child.log_sha256 == parent.log_sha256
    assert (tmp_path / "parent" / "run.db").read_bytes() == before


def test_a_finished_run_is_not_resumed(tmp_path: Path) -> None:
    with League.create(league_of_six(days=2), tmp_path / "run") as league:
        league.run()
    with pytest.raises(HanseError, match="the run is finished"):
        League.resume(tmp_path / "run")


def test_a_league_that_is_closed_lets_its_folder_go(tmp_path: Path) -> None:
    config: RunConfig = league_of_six(days=3)
    with League.create(config, tmp_path / "run") as league:
        league.run(until_day=0)
    with League.resume(tmp_path / "run") as league:
        league.run()
    assert Run(tmp_path / "run").state == "finished"


def test_a_league_that_was_broken_off_goes_on_from_its_last_whole_day(tmp_path: Path) -> None:
    with League.create(league_of_six(), tmp_path / "whole") as league:
        whole = league.run()
    with League.create(league_of_six(), tmp_path / "broken") as league:
        host = league.hosts.hosts["host-0"]  # type: ignore[attr-defined]
        deliver, calls = host._calls.deliver, 0

        def deliver_and_break(mail: Any) -> None:
            nonlocal calls
            calls += 1
            if calls == 120:
                raise KeyboardInterrupt
            deliver(mail)

        host._calls.deliver = deliver_and_break
        with pytest.raises(KeyboardInterrupt):
            league.run()
        assert league.run().log_sha256 == whole.log_sha256

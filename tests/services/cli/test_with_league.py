"""The commands with the real league: on Ray and without, stopped and resumed, swept."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from actors.league import League
from services.config import standard
from services.runs import Run

STOPPED = r"stopped after day (\d+); continue with: hanse resume runs/coffee-seed0-001"


def test_the_standard_run_from_command_to_table(hanse_process):
    outcome = hanse_process("run", "--days", 3, "--placement", "inline")
    assert outcome.code == 0, outcome.err
    for firm in standard().firms:
        row = next(line for line in outcome.out.splitlines() if line.startswith(firm.name))
        assert row.split()[1:3] == [firm.role, firm.strategy]
    run = Run("runs/coffee-seed0-001")
    assert run.state == "finished"
    assert f"log_sha256 {run.log_sha256[:12]}" in outcome.out


def test_the_run_that_the_options_describe_is_the_run_that_the_file_describes(hanse):
    hanse("new", "coffee.toml")
    from_file = hanse("run", "coffee.toml", "--days", 3, "--placement", "inline", "--json").document
    from_code = standard().with_overrides(days=3, placement="inline")
    with League.create(from_code, Path("other")) as league:
        assert league.run().log_sha256 == from_file["log_sha256"]
    other_seed = hanse("run", "--days", 3, "--placement", "inline", "--seed", 1, "--json").document
    assert other_seed["log_sha256"] != from_file["log_sha256"]


@pytest.mark.ray
@pytest.mark.slow
def test_a_run_on_ray_is_the_same_run_as_one_without(hanse_process):
    on_ray = hanse_process("run", "--days", 3, "--json")
    assert on_ray.code == 0, on_ray.err
    assert on_ray.document["placement"] == "one"
    inline = hanse_process("run", "--days", 3, "--placement", "inline", "--json").document
    assert on_ray.document["log_sha256"] == inline["log_sha256"]


@dataclass(frozen=True)
class Interrupted:
    """What a command left behind that was stopped."""

    code: int
    out: str
    err: str
    children: list[psutil.Process]
    """The processes that it had started."""


def interrupt(*arguments: object, after: str) -> Interrupted:
    """Run a command and type Ctrl-C once a line on stderr begins with `after`."""
    command = [sys.executable, "-m", "services.cli.main", *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith(after):
                break
        children = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the whole group gets it
        out, err = process.communicate(timeout=120)
        return Interrupted(process.returncode, out, "".join(said) + err, children)


def test_ctrl_c_stops_after_a_whole_day_and_resume_ends_as_if_nothing_had_happened(hanse):
    stopped = interrupt("run", "--days", 60, "--placement", "inline", after="day 11 ")
    assert stopped.code == 130
    assert stopped.out == ""
    assert "Traceback" not in stopped.err
    match = re.fullmatch(STOPPED, stopped.err.splitlines()[-1])
    assert match is not None, stopped.err
    assert Run("runs/coffee-seed0-001").state == "resumable"
    assert Run("runs/coffee-seed0-001").day == int(match[1]) >= 11

    resumed = hanse("resume", "coffee-seed0-001", "--json").document
    whole = hanse("run", "--days", 60, "--placement", "inline", "--json").document
    assert resumed["log_sha256"] == whole["log_sha256"]
    assert resumed["firms"] == whole["firms"]


@pytest.mark.ray
@pytest.mark.slow
def test_ctrl_c_on_ray_leaves_a_run_that_can_be_resumed_and_no_process(hanse):
    stopped = interrupt("run", "--days", 90, after="day 8 ")
    assert stopped.code == 130, stopped.err
    assert re.fullmatch(STOPPED, stopped.err.splitlines()[-1]), stopped.err
    assert Run("runs/coffee-seed0-001").state == "resumable"
    assert len(stopped.children) > 7
    _, alive = psutil.wait_procs(stopped.children, timeout=30)
    assert alive == []


SLEEPER = """
import time
from actors.strategies import Strategy
from services.economy.commands import WaitForNextDay

class Sleeper(Strategy):
    def decide(self, turn, context):
        if context.day == 1:
            time.sleep(60)
        return WaitForNextDay()
"""


def test_doctor_names_the_agent_and_the_message_that_a_running_league_waits_for(hanse):
    Path("sleeper.py").write_text(SLEEPER)
    Path("run.toml").write_text(
        'days = 3\nplacement = "inline"\nturn_timeout = 50\n'
        '[[firms]]\nname = "Ada"\nrole = "farmer"\nstrategy = "sleeper.py:Sleeper"\n'
        '[[firms]]\nname = "Bo"\nrole = "roaster"\n[[firms]]\nname = "Cy"\nrole = "retailer"\n'
    )
    command = [sys.executable, "-m", "services.cli.main", "run", "run.toml", "--quiet"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            waiting = wait_until_somebody_is_waited_for(hanse)
            text = hanse("doctor").out
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr is not None
        assert re.search("stopped after day 0; continue with", process.stderr.read())
    assert [entry["agent"] for entry in waiting] == ["Ada"]
    assert f"runs/coffee-seed0-001 is running (process {process.pid}): day 1, 09:00" in text
    assert re.search(
        r"everyone waits for Ada on host-0 to handle exchange#\d+ .*for \d+\.\d s", text
    )


def wait_until_somebody_is_waited_for(hanse) -> list[dict[str, object]]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        run = hanse("doctor", "--quick", "--json").document["run"]
        if run and run.get("waiting_for"):
            return list(run["waiting_for"])
        time.sleep(0.2)
    raise AssertionError("nobody was waited for")


def test_a_branch_of_the_real_league_ends_as_its_original(hanse):
    whole = hanse("run", "--days", 6, "--placement", "inline", "--json").document
    branch = hanse("branch", "coffee-seed0-001", "--day", 2, "--json").document
    assert branch["log_sha256"] == whole["log_sha256"]


@pytest.mark.ray
@pytest.mark.slow
def test_a_sweep_runs_each_seed_once_and_resumes_what_was_stopped(hanse_process):
    arguments = ["--set", "days=4", "--workers", 2, "--json"]
    first = hanse_process("sweep", "--seeds", "0-2", *arguments)
    assert first.code == 0, first.err
    sweep = Path(first.document["sweep"])
    assert re.fullmatch(r"runs/coffee-sweep-[0-9a-f]{8}", str(sweep))
    assert first.document["seeds"] == [0, 1, 2] and first.document["skipped"] == []

    inline = standard().with_overrides(days=4, placement="inline")
    with League.create(inline.with_overrides(seed=2), Path("single")) as league:
        assert league.run().log_sha256 == first.document["log_sha256"]["2"]

    # Seed 3 was stopped after its second day; the same command takes it up.
    with League.create(inline.with_overrides(seed=3), sweep / "seed-3") as league:
        league.run(until_day=1)
    second = hanse_process("sweep", "--seeds", "0-3", *arguments)
    assert second.code == 0, second.err
    assert second.document["skipped"] == [0, 1, 2]
    with League.create(inline.with_overrides(seed=3), Path("single-3")) as league:
        assert league.run().log_sha256 == second.document["log_sha256"]["3"]


@pytest.mark.ray
@pytest.mark.slow
def test_a_replica_that_fails_is_named_and_the_others_are_shown(hanse_process):
    sweep = Path("s")
    (sweep / "seed-1").mkdir(parents=True)
    (sweep / "seed-1" / "thesis.txt").write_text("years of work")
    outcome = hanse_process("sweep", "--seeds", "0-1", "--set", "days=2", "--out", "s", "--json")
    assert outcome.code == 2
    assert outcome.document["seeds"] == [0]
    assert list(outcome.document["failures"]) == ["1"]
    assert outcome.err.splitlines()[-1].startswith("hanse: 1 replicas failed; seed 1: s/seed-1: ")
    assert (sweep / "seed-1" / "thesis.txt").read_text() == "years of work"


def test_a_table_of_the_ledger_is_exported_and_a_report_is_written(hanse):
    hanse("run", "--days", 3, "--placement", "inline")
    files = hanse("export", "coffee-seed0-001", "--to", "csv", "--json").document["files"]
    ledger = next(Path(file) for file in files if file.endswith("ledger.csv"))
    assert len(ledger.read_text().splitlines()) > 50
    page = Path(hanse("report", "coffee-seed0-001").out.strip())
    assert "retailer_B" in page.read_text()
    assert json.loads(hanse("runs", "--json").out)[0]["state"] == "finished"

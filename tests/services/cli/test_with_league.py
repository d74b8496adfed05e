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


BROKEN = """
from actors.strategies import DailyPlan
from services.economy.commands import Roast, ViewTrialBalance

class Broken(DailyPlan):
    def day(self):
        assert self.turn.observation is not None
        books = yield ViewTrialBalance()
        for _ in range(9):
            yield Roast(green_item_id="green_coffee_kg", qty_kg=5000)
        if self.today == 4:
            books.data.gold
"""


@pytest.fixture
def six_days(hanse) -> str:
    document = hanse("run", "--days", 6, "--placement", "inline", "--json").document
    return str(document["log_sha256"])


def test_a_branch_goes_on_under_another_seed_and_other_numbers(hanse, six_days):
    changed = ("--set", "seed=5", "--set", "economy.loss_probability=0.9", "--set", "days=9")
    branch = hanse("branch", "coffee-seed0-001", "--day", 2, *changed, "--json").document
    assert branch["run"] == "runs/coffee-seed0-001-day2-001"
    assert (branch["seed"], branch["days"]) == (5, 9)
    parent, child = Run("runs/coffee-seed0-001"), Run(branch["run"])
    assert child.marks()[:3] == parent.marks()[:3]
    assert child.log_sha256 != parent.log_sha256 == six_days
    assert child.verify()
    assert child.manifest.config["economy"]["loss_probability"] == 0.9
    assert (child.manifest.seed, child.manifest.days) == (5, 9)
    assert child.manifest.parent is not None
    assert child.manifest.parent.model_dump() == {"run": parent.manifest.id, "day": 2}
    again = hanse("branch", "coffee-seed0-001", "--day", 2, *changed, "--json").document
    assert again["run"] == "runs/coffee-seed0-001-day2-002"
    assert again["log_sha256"] == branch["log_sha256"]


def test_a_setting_that_changes_nothing_makes_the_same_run(hanse, six_days):
    branch = hanse("branch", "coffee-seed0-001", "--day", 2, "--set", "seed=0", "--json").document
    assert branch["log_sha256"] == six_days


def test_a_branch_gives_a_firm_another_strategy_which_starts_without_memory(hanse, six_days):
    Path("broken.py").write_text(BROKEN)
    setting = "firms.roaster_A.strategy=broken.py:Broken"
    outcome = hanse("branch", "coffee-seed0-001", "--day", 2, "--set", setting)
    assert outcome.code == 0, outcome.err
    lines = outcome.out.splitlines()
    error = "AttributeError: 'TrialBalance' object has no attribute 'gold'"
    assert f"roaster_A: broken.py:12 in day: {error}" in lines
    assert any(
        re.fullmatch(
            r"roaster_A: \d+ of \d+ commands were refused, most often exceeds_stock: .*", line
        )
        for line in lines
    )
    assert "troubles: agent errors 1, turns missed 1" in lines
    assert any("section Events lists every error and missed turn of roaster_A" in x for x in lines)


def test_a_strategy_that_has_changed_since_is_named_on_resume_and_branch(hanse):
    Path("broken.py").write_text(BROKEN)
    with League.create(
        standard().with_overrides(
            days=4,
            placement="inline",
            firms=[
                {**firm.model_dump(), "strategy": "broken.py:Broken"}
                if firm.name == "roaster_A"
                else firm.model_dump()
                for firm in standard().firms
            ],
        ),
        Path("runs/mine"),
    ) as league:
        league.run(until_day=1)
    digest = Run("runs/mine").manifest.strategies["broken.py:Broken"]
    assert re.fullmatch(r"[0-9a-f]{64}", digest)
    assert "changed since" not in hanse("branch", "mine", "--day", 1).err
    Path("broken.py").write_text(BROKEN + "# better\n")
    warning = (
        "broken.py: changed since the run began; the days from here on are played with it as it"
        " is now"
    )
    assert warning in hanse("branch", "mine", "--day", 1).err.splitlines()
    assert warning in hanse("resume", "mine").err.splitlines()


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("rules=coffeebench", "--set: rules: a branch keeps 'hanse', whose books it has"),
        ("days=3", "--set: days: 3 is too few, days 0 to 2 are played already; allowed: 4 or more"),
        ("firms.farmer_A.cash=3", "--set: firms.farmer_A.cash: has taken effect when the league"),
        ("firms.farmer_A.stock_cap=9", "--set: firms.farmer_A.stock_cap: has taken effect when"),
        ('controllers=[{name="c"}]', "a branch has the agents of its parent, no others"),
        ("firms.farmer_A.strategy=nope", "'nope' is not a known strategy"),
        ("firms.farmer_Z.cash=3", "'farmer_Z' is not a known name"),
    ],
)
def test_what_a_branch_cannot_change_is_refused(hanse, six_days, setting, complaint):
    outcome = hanse("branch", "coffee-seed0-001", "--day", 2, "--set", setting)
    assert complaint in outcome.refusal
    assert [folder.name for folder in Path("runs").iterdir()] == ["coffee-seed0-001"]


def test_a_league_that_has_closed_is_not_prolonged_by_a_branch(hanse, six_days):
    outcome = hanse("branch", "coffee-seed0-001", "--day", 5, "--set", "days=9")
    assert "the league has closed on day 5; branch from an earlier day" in outcome.refusal


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

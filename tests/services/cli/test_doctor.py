"""`hanse doctor`: the machine, and whom a running league waits for."""

import json
import time
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from services.cli import health
from services.cli.waiting import Status


def test_it_checks_python_packages_memory_disk_and_ports(hanse):
    outcome = hanse("doctor", "--quick", "--json")
    checks = {check["name"]: check for check in outcome.document["checks"]}
    assert list(checks) == [
        "Python",
        "packages",
        "memory",
        "shared memory",
        "disk",
        "ports",
        "host name",
    ]
    assert checks["Python"]["state"] == "ok"
    assert "ray 2.60" in checks["packages"]["found"]
    assert outcome.document["run"] is None
    failed = [check for check in checks.values() if check["state"] == "failed"]
    assert outcome.code == (1 if failed else 0)


def test_it_prints_a_table_and_a_remedy_for_what_is_wrong(hanse, monkeypatch):
    monkeypatch.setattr(health, "available_memory", lambda: 0.5e9)
    outcome = hanse("doctor", "--quick")
    assert outcome.code == 1
    row = next(line for line in outcome.out.splitlines() if "500.0 MB available" in line)
    assert row.split()[:2] == ["memory", "failed"]
    assert "memory: free some, or use --placement inline (no Ray)" in outcome.out


@pytest.mark.parametrize(
    ("found", "state"),
    [((3, 10), "failed"), ((3, 11), "ok"), ((3, 13), "ok"), ((3, 14), "failed")],
)
def test_python_must_be_3_11_to_3_13(found, state):
    assert health.check_python(found).state == state


@pytest.mark.parametrize(
    ("missing", "state", "remedy"),
    [
        ("scipy", "failed", "pip install scipy"),
        ("pandas", "warning", "for data frames and hanse export: pip install 'hanse[data]'"),
        ("none", "ok", ""),
    ],
)
def test_a_missing_package_is_named_with_its_remedy(missing, state, remedy):
    def version_of(package: str) -> str:
        if package == missing:
            raise PackageNotFoundError(package)
        return "1.0"

    check = health.check_packages(version_of)
    assert (check.state, check.remedy) == (state, remedy)


@pytest.mark.parametrize(
    ("gigabytes", "state"), [(0.5, "failed"), (1.5, "warning"), (16, "ok"), (None, "warning")]
)
def test_memory_must_be_enough_for_ray(monkeypatch, gigabytes, state):
    amount = None if gigabytes is None else gigabytes * 1e9
    monkeypatch.setattr(health, "available_memory", lambda: amount)
    assert health.check_memory().state == state


def test_the_available_memory_is_some_gigabytes_or_megabytes():
    available = health.available_memory()
    assert available is not None and 1e6 < available < 1e14


def test_a_folder_for_runs_that_does_not_exist_yet_is_no_fault(tmp_path):
    assert health.check_disk(tmp_path / "a" / "runs").state in ("ok", "warning")


def test_ray_that_does_not_start_in_time_is_a_fault():
    check = health.check_ray(timeout=0.01)
    assert (check.state, check.found) == ("failed", "did not start within 0 s")


@pytest.mark.ray
@pytest.mark.slow
def test_ray_is_started_and_runs_a_task():
    check = health.check_ray()
    assert check.state == "ok", check
    assert check.found.startswith("starts in ")


# ---- a running league --------------------------------------------------------------------------

WAITING = {
    "pid": 4711,
    "minute": 3 * 1440 + 570,
    "day": 3,
    "round": 2,
    "waiting_for": [
        {"agent": "roaster_B", "host": "host-1", "message": "exchange#812 observation", "since": 0}
    ],
    "messages": 12345,
    "updated": 0,
}


@pytest.fixture
def running(hanse, league):
    """The folder of a run that is under way."""
    league.interrupt_in_day = 1
    hanse("run", "--days", 3)
    folder = Path("runs/coffee-seed0-001")
    with league.resume(folder):
        yield folder


def write_status(
    folder: Path, *, age: float = 0.5, waited: float = 12.0, **changes: object
) -> None:
    now = time.time()
    waiting = [{**entry, "since": now - waited} for entry in WAITING["waiting_for"]]  # type: ignore
    status = {**WAITING, "waiting_for": waiting, "updated": now - age, **changes}
    (folder / "status.json").write_text(json.dumps(status))


def test_it_names_the_agent_and_the_message_that_the_only_running_league_waits_for(hanse, running):
    write_status(running)
    outcome = hanse("doctor")
    assert (
        "runs/coffee-seed0-001 is running (process 4711): day 3, 09:30, round 2, 12,345 messages"
        in outcome.out
    )
    line = next(line for line in outcome.out.splitlines() if line.startswith("everyone waits"))
    assert line.startswith(
        "everyone waits for roaster_B on host-1 to handle exchange#812 observation for 12."
    )


def test_json_holds_the_whole_status(hanse, running):
    write_status(running)
    document = hanse("doctor", running, "--json").document["run"]
    assert document["state"] == "running"
    assert document["waiting_for"][0]["agent"] == "roaster_B"
    assert 0.5 <= document["age_seconds"] < 5


def test_a_league_that_waits_for_nobody_is_said_to(hanse, running):
    write_status(running, waiting_for=[])
    assert "it waits for nobody" in hanse("doctor").out


def test_a_status_that_has_not_changed_for_long_means_that_the_league_itself_hangs(hanse, running):
    write_status(running, age=60)
    out = hanse("doctor").out
    assert "its status is 60 s old: the league itself hangs; stop process 4711" in out


def test_a_league_without_a_status_yet_is_running(hanse, running):
    assert "is running, but has not said yet what it is doing" in hanse("doctor").out


def test_a_status_that_is_half_written_is_one_line(hanse, running):
    (running / "status.json").write_text('{"pid": 4')
    refusal = hanse("doctor", running).refusal
    assert refusal.startswith("hanse: runs/coffee-seed0-001/status.json: cannot be read")


def test_a_run_that_was_stopped_is_not_waited_for(hanse, league):
    league.interrupt_in_day = 1
    hanse("run", "--days", 3)
    folder = Path("runs/coffee-seed0-001")
    write_status(folder)
    assert (
        "runs/coffee-seed0-001 is not running; continue with: hanse resume runs/coffee-seed0-001"
        in hanse("doctor", "coffee-seed0-001").out
    )


def test_of_several_running_leagues_one_has_to_be_named(hanse, running, league):
    hanse("run", "--days", 3)
    with league.resume(Path("runs/coffee-seed0-002")):
        outcome = hanse("doctor", "--quick")
    assert outcome.err == (
        "2 runs are under way (coffee-seed0-001, coffee-seed0-002); "
        "name one: hanse doctor runs/coffee-seed0-001\n"
    )


def test_times_may_be_written_as_text_too():
    status = Status(Path("x"), "running", {"updated": "2026-01-01T00:00:00+00:00"}, 1767225610.0)
    assert status.age == 10.0
    assert Status(Path("x"), "running", {"updated": "yesterday"}, 0.0).age is None

"""What `status` and `attach` show of the runs on a cluster."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from actors.league import League
from services.cli import cluster, cluster_head
from services.cli.cluster_following import tell_standing
from services.cli.cluster_tables import show_runs, standing
from services.cluster.held_runs import held_runs
from services.cluster.on_head import Head
from services.config import standard
from services.errors import HanseError
from services.runs import Run
from services.runs.epochs import SPOOLS

needs_rsync = pytest.mark.skipif(shutil.which("rsync") is None, reason="needs rsync")

NODE = {"host": "h1", "address": "h1", "processors": 2.0, "memory": 0.0, "carries": []}
OTHER = {**NODE, "host": "h2", "address": "h2"}


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")


@pytest.fixture
def stopped(there: Path) -> Path:
    """The run ``r`` on the head, which was ended after three of its five days; its folder."""
    (there / "pid").write_text("1 x:1\n")
    (there / "code").write_text("2\n")
    os.utime(there / "code", (0, 0))
    run = there / "project" / "runs" / "r"
    config = standard().with_overrides(source="test", placement="inline", days=5)
    with League.create(config, run) as league:
        league.run(until_day=2)
    return run


@pytest.fixture
def shown(head: Head, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A cluster that is whole; what its head says, to be added to."""
    answer: dict[str, Any] = {"nodes": [NODE, OTHER], "runs": []}
    monkeypatch.setattr(cluster, "_open", lambda file: (head.cluster, head.ssh))
    monkeypatch.setattr(Head, "ask", lambda *_: answer)
    return answer


@pytest.fixture
def finished(
    there: Path, shown: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Path:
    """The folder that the head has of the run ``r``, which has finished; none is here."""
    (there / "pid").write_text("1 x:1\n")
    (there / "code").write_text("0\n")
    (there / "log").touch()
    config = standard().with_overrides(source="test", placement="inline", days=1)
    with League.create(config, there / "project" / "runs" / "r") as league:
        league.run()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return there


def test_a_run_has_its_id_its_days_and_since_when_it_is_so(stopped: Path) -> None:
    assert held_runs(stopped.parents[2].parent) == [
        {
            "name": "r",
            "state": "stopped",
            "since": "1970-01-01T00:00:00+00:00",
            "id": Run(stopped).manifest.id,
            "days_done": 3,
            "days": 5,
        }
    ]


def test_a_run_that_is_damaged_is_shown_without_days(stopped: Path) -> None:
    (stopped / "run.db").write_bytes(b"no database")
    [run] = held_runs(stopped.parents[2].parent)
    assert (run["state"], run["days"], run["days_done"]) == ("stopped", None, None)


def test_a_run_that_was_ended_from_outside_has_stood_since_it_wrote_last(stopped: Path) -> None:
    (stopped.parents[2] / "code").unlink()
    os.utime(stopped / "run.db", (60, 60))
    [run] = held_runs(stopped.parents[2].parent)
    assert (run["state"], run["since"]) == ("stopped", "1970-01-01T00:01:00+00:00")


@pytest.mark.parametrize("odd", ["pid", "code"])
@pytest.mark.parametrize("held", [b"\xff", None])
def test_an_odd_file_of_one_run_hides_no_other(stopped: Path, odd: str, held: bytes | None) -> None:
    runs = stopped.parents[2].parent
    (runs / "a").mkdir()
    (runs / "a" / "pid").write_text("1 x:1\n")
    (runs / "a" / odd).unlink(missing_ok=True)
    if held is None:
        (runs / "a" / odd).mkdir()
    else:
        (runs / "a" / odd).write_bytes(held)
    assert [(run["name"], run["state"]) for run in held_runs(runs)] == [
        ("a", "stopped"),
        ("r", "stopped"),
    ]


def test_the_heads_program_names_the_runs_without_ray(
    stopped: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster_head, "runs_folder", lambda: stopped.parents[2].parent)
    assert cluster_head.main(["runs"]) == 0
    assert '"name": "r", "state": "stopped"' in capsys.readouterr().out


def test_a_run_is_one_row_of_a_table(stopped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_runs(held_runs(stopped.parents[2].parent))
    [row] = [row for row in capsys.readouterr().out.splitlines() if row.startswith("r ")]
    assert row.split() == ["r", "3", "of", "5", "stopped", "1970-01-01", "00:00:00"]


def test_a_run_stands_in_a_line(stopped: Path) -> None:
    [run] = held_runs(stopped.parents[2].parent)
    assert standing(run) == "r: 3 of 5 days, stopped since 1970-01-01 00:00:00"
    assert standing({**run, "days": None}) == "r: stopped since 1970-01-01 00:00:00"


def test_attach_says_first_how_the_run_stands(
    stopped: Path, head: Head, shown: dict[str, Any], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(Head, "ask", lambda *_: held_runs(stopped.parents[2].parent))
    tell_standing(head, "r")
    assert capsys.readouterr().err == "r: 3 of 5 days, stopped since 1970-01-01 00:00:00\n"


@needs_rsync
def test_attach_brings_a_run_home_though_the_head_has_no_room_to_say_how_it_stands(
    finished: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise HanseError("h1: files cannot be copied: No space left on device")

    monkeypatch.setattr(Head, "ask", full)
    cluster.attach(Path("hosts.yaml"), "r")
    assert capsys.readouterr().err.splitlines()[0] == (
        "r: how many of its days are whole cannot be said: h1: files cannot be copied: No space"
        " left on device"
    )
    assert Run("runs/r").day == 0
    assert not finished.exists()


@needs_rsync
def test_attach_keeps_no_spool_that_another_run_of_that_name_has_left(finished: Path) -> None:
    left = Path("runs/r") / SPOOLS
    left.mkdir(parents=True)
    (left / "0-3-host-1.jsonl").write_text("{}\n")
    cluster.attach(Path("hosts.yaml"), "r", quiet=True)
    assert Run("runs/r").result is not None
    assert not left.exists()


def test_a_cluster_without_runs_says_how_to_run_one(
    shown: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.status(Path("hosts.yaml"))
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "no run is on this cluster; run a league: hanse cluster run hosts.yaml"


@pytest.mark.parametrize(
    ("state", "then"),
    [
        ("running", "watch it: hanse cluster attach hosts.yaml r"),
        ("finished", "bring it here: hanse cluster attach hosts.yaml r"),
        ("stopped", "go on with it there: hanse cluster resume hosts.yaml r; or bring its days"
         " here: hanse cluster stop hosts.yaml r"),
    ],
)  # fmt: skip
def test_each_run_says_what_can_be_done_with_it(
    shown: dict[str, Any], capsys: pytest.CaptureFixture[str], state: str, then: str
) -> None:
    run = {"name": "r", "state": state, "since": None, "days": None, "days_done": None}
    shown["runs"] = [run]
    cluster.status(Path("hosts.yaml"))
    assert capsys.readouterr().out.splitlines()[-1] == f"r: {then}"


def test_what_the_head_says_names_the_cluster_file_as_it_was_given(
    head: Head, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head, "send_code", lambda: None)
    monkeypatch.setattr(
        head, "command", lambda *_: "echo 'hanse: hanse cluster up CLUSTER_FILE' >&2; exit 2"
    )
    with pytest.raises(HanseError, match=r"^h1: hanse cluster up hosts\.yaml$"):
        head.ask("status")


def test_a_cluster_files_name_with_a_blank_is_one_word_of_what_the_head_says(head: Head) -> None:
    object.__setattr__(head.cluster, "path", Path("my hosts.yaml"))
    said = head.with_file("start it with: hanse cluster up CLUSTER_FILE")
    assert said == "start it with: hanse cluster up 'my hosts.yaml'"
    with pytest.raises(HanseError, match=r"hanse cluster status 'my hosts\.yaml'$"):
        head.exit_code("r")

"""A run that is taken from a cluster brings what its workers have kept of the unfinished day."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from actors import spool
from actors.league import League
from actors.spool import Epoch, Spool
from services.cli import cluster
from services.cluster import Unreachable, spools
from services.cluster.on_head import Head
from services.config import RunConfig, standard
from services.errors import HanseError
from services.runs import Run
from services.runs.epochs import SPOOLS_AWAY

pytestmark = pytest.mark.skipif(shutil.which("rsync") is None, reason="needs rsync")

ROW = (3 * 1440 + 480, 0, "roaster_A", "timeout", '{"message": "exchange-9"}')


@pytest.fixture
def config() -> RunConfig:
    return standard().with_overrides(source="test", placement="inline", days=5)


@pytest.fixture
def stopped(
    head: Head, there: Path, home: Path, config: RunConfig, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> str:  # fmt: skip
    """A run on the head with three whole days, and a worker with an answer of the next; its id."""
    monkeypatch.setattr(cluster, "_open", lambda file: (head.cluster, head.ssh))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    (there / "pid").write_text("1 x:1\n")
    run = there / "project" / "runs" / "r"
    with League.create(config, run) as league:
        league.run(until_day=2)
    run_id = Run(run).manifest.id
    kept = Spool(home / SPOOLS_AWAY / run_id, "host-1")
    kept.begin(Epoch(0, 3))
    kept.answer(ROW)
    return run_id


def test_an_answer_on_a_worker_comes_home_with_the_days(
    stopped: str, home: Path, there: Path
) -> None:
    cluster.stop(Path("hosts.yaml"), "r")
    assert spool.collect(Path("runs/r") / spool.FOLDER, Epoch(0, 3)).answers == [ROW]
    assert Run("runs/r").day == 2
    assert not (home / SPOOLS_AWAY / stopped).exists()
    assert not there.exists()


def test_a_resume_here_counts_it_as_answered(stopped: str) -> None:
    cluster.stop(Path("hosts.yaml"), "r")
    with League.resume(Path("runs/r")) as league:
        store = league.store
        assert ROW in store.journal_since(3 * 1440)
    assert not (Path("runs/r") / spool.FOLDER).exists()


def test_a_worker_that_is_away_is_named_and_the_rest_comes_home(
    stopped: str, head: Head, home: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    object.__setattr__(head.cluster, "workers", ("h2", "h3"))
    run = head.ssh.run

    def away(host: str, command: str, **more: object) -> object:
        if host == "h3":
            raise Unreachable("h3: does not answer")
        return run(host, command, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(head.ssh, "run", away)
    cluster.stop(Path("hosts.yaml"), "r")
    said = capsys.readouterr().err.splitlines()
    assert said[0] == (
        "h3: does not answer; what was answered there in the day that is not whole is asked again"
    )
    assert said[1].startswith("r: was ended from outside; its days until then are here: hanse")
    assert spool.collect(Path("runs/r") / spool.FOLDER, Epoch(0, 3)).answers == [ROW]


def test_a_resume_on_the_cluster_says_first_which_machine_is_away_and_goes_on(
    stopped: str, head: Head, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = {"nodes": [{"host": "h1", "address": "10.0.0.1"}], "runs": []}
    told: list[str] = []

    def resume(head: Head, name: str) -> int:
        told.append(capsys.readouterr().err)
        return 0

    monkeypatch.setattr(Head, "ask", lambda *_: nodes)
    monkeypatch.setattr(Head, "resume", resume)
    cluster.resume(Path("hosts.yaml"), "r", detach=True)
    assert told == [
        "h2: is not part of the cluster; what was answered there in the day that is not whole is"
        " asked again, if it carried a part of the run; to keep it, have the machine back first:"
        " hanse cluster up hosts.yaml\n"
    ]


def test_a_worker_that_has_kept_nothing_leaves_no_folder(
    head: Head, home: Path, tmp_path: Path
) -> None:
    assert spools.bring(head.cluster, head.ssh, "none", tmp_path / "r") == ([], [])
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("held", ["", "{", "[]", "{}", '{"id": 3}', '{"id": "../../x"}'])
def test_an_id_that_could_lead_elsewhere_is_refused(head: Head, there: Path, held: str) -> None:
    manifest = there / "project" / "runs" / "r" / "manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(held)
    with pytest.raises(HanseError, match="h1: r has no id that can be read; look there: ~/"):
        head.run_id("r")


def test_the_id_of_a_run_is_that_of_its_manifest(head: Head, there: Path) -> None:
    manifest = there / "project" / "runs" / "r" / "manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"id": "my-run-7-20260101T000000-abcdef"}))
    assert head.run_id("r") == "my-run-7-20260101T000000-abcdef"

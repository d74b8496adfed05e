"""A run that is taken from a cluster brings what its workers have kept of the unfinished day."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from actors import spool
from actors.league import League
from actors.spool import Epoch, Spool
from services.cli import cluster
from services.cluster import Ssh, Unreachable, spools
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


@pytest.mark.parametrize(
    "held",
    ["", "{", "[]", "{}", '{"id": 3}', *(f'{{"id": "{i}"}}' for i in ("", ".", "..", "../../x"))],
)
def test_an_id_that_could_lead_elsewhere_is_none(head: Head, there: Path, held: str) -> None:
    manifest = there / "project" / "runs" / "r" / "manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(held)
    assert head.run_id("r") is None


@pytest.mark.parametrize("name", ["my-run", "a..b"])
def test_the_id_of_a_run_is_that_of_its_manifest(head: Head, there: Path, name: str) -> None:
    manifest = there / "project" / "runs" / "r" / "manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"id": f"{name}-7-20260101T000000-abcdef"}))
    assert head.run_id("r") == f"{name}-7-20260101T000000-abcdef"


@pytest.mark.parametrize("held", ["", '{"id": "a-7-2026'])
def test_a_run_whose_manifest_is_torn_comes_home_without_spools(
    stopped: str, home: Path, there: Path, capsys: pytest.CaptureFixture[str], held: str
) -> None:
    (there / "project" / "runs" / "r" / "manifest.json").write_text(held)
    cluster.stop(Path("hosts.yaml"), "r")
    assert capsys.readouterr().err.splitlines()[0] == (
        "r: its manifest.json has no id, by which the workers know it; what was answered there in"
        " the day that is not whole is asked again"
    )
    assert Path("runs/r/run.db").exists()
    assert (home / SPOOLS_AWAY / stopped).exists()
    assert not there.exists()


def test_what_a_stop_that_broke_off_has_left_is_no_part_of_a_later_run_of_that_name(
    stopped: str,
) -> None:
    other = (*ROW[:4], '{"message": "exchange-8"}')
    left = Spool(Path("runs/r") / spool.FOLDER, "host-2")
    left.begin(Epoch(0, 3))
    left.answer(other)
    cluster.stop(Path("hosts.yaml"), "r")
    assert spool.collect(Path("runs/r") / spool.FOLDER, Epoch(0, 3)).answers == [ROW]


def test_the_write_ahead_log_that_a_stop_has_left_is_not_played_into_a_later_run(
    stopped: str, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE other (x)")
        Path("runs/r").mkdir(parents=True)
        shutil.copy(tmp_path / "other.db-wal", "runs/r/run.db-wal")
    cluster.stop(Path("hosts.yaml"), "r")
    assert Run("runs/r").day == 2


def failing(error: Exception, host: str, then: Callable[[], None] = lambda: None) -> object:
    """A copying that fails for one host."""
    fetch = Ssh.fetch

    def fails(ssh: Ssh, asked: str, there: str, here: Path) -> None:
        if asked == host:
            then()
            raise error
        fetch(ssh, asked, there, here)

    return fails


@pytest.mark.parametrize(
    "error",
    [
        HanseError("h2: files cannot be copied: No space left on device"),
        Unreachable("h2: has not answered for 600 s"),
        OSError(28, "No space left on device"),
    ],
)
def test_a_spool_that_cannot_be_copied_leaves_all_on_the_cluster_until_the_stop_is_tried_again(
    stopped: str, home: Path, there: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Ssh, "fetch", failing(error, "h2"))
        with pytest.raises(HanseError) as said:
            cluster.stop(Path("hosts.yaml"), "r")
    assert str(said.value) == (
        f"{error}; the run stays on the cluster: mend it and try again, or do without what h2 has"
        f" kept, and remove ~/{SPOOLS_AWAY}/{stopped} there"
    )
    assert there.exists() and (home / SPOOLS_AWAY / stopped).exists()
    cluster.stop(Path("hosts.yaml"), "r")
    assert spool.collect(Path("runs/r") / spool.FOLDER, Epoch(0, 3)).answers == [ROW]


def test_a_worker_that_goes_away_while_it_is_copied_from_does_not_hold_the_days_up(
    stopped: str, head: Head, there: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    run, gone = head.ssh.run, []

    def away(host: str, command: str, **more: object) -> object:
        if host in gone:
            raise Unreachable(f"{host}: does not answer")
        return run(host, command, **more)  # type: ignore[arg-type]

    broken = failing(HanseError("h2: unexpected end"), "h2", lambda: gone.append("h2"))
    monkeypatch.setattr(head.ssh, "run", away)
    monkeypatch.setattr(Ssh, "fetch", broken)
    cluster.stop(Path("hosts.yaml"), "r")
    assert capsys.readouterr().err.startswith("h2: does not answer; what was answered there")
    assert Run("runs/r").day == 2
    assert not there.exists()


def test_a_worker_that_cannot_say_whether_it_has_spools_leaves_all_on_the_cluster(
    stopped: str, head: Head, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = head.ssh.run

    def odd(host: str, command: str, **more: object) -> object:
        return run(host, "exit 127" if host == "h2" else command, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(head.ssh, "run", odd)
    with pytest.raises(HanseError, match="h2: does not say whether it has spools, but ends: 127"):
        cluster.stop(Path("hosts.yaml"), "r")
    assert there.exists()


@pytest.mark.parametrize("of", ["head", "worker"])
def test_spools_are_their_owners_alone_at_home_too(
    stopped: str, home: Path, there: Path, of: str
) -> None:
    if of == "head":
        (home / SPOOLS_AWAY / stopped).rename(there / "project" / "runs" / "r" / spool.FOLDER)
    cluster.stop(Path("hosts.yaml"), "r")
    folder = Path("runs/r") / spool.FOLDER
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())]
    assert modes == [0o700, 0o600]

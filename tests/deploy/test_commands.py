"""What the commands refuse before they touch a run on a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.cli import cluster, cluster_following
from services.cluster.on_head import Head
from services.cluster.run_name import free
from services.errors import HanseError


@pytest.fixture(autouse=True)
def _opened(head: Head, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_open", lambda file: (head.cluster, head.ssh))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.mark.parametrize("command", [cluster.stop, cluster.attach, cluster.resume])
def test_a_run_that_is_here_is_not_overwritten_by_one_of_the_same_name(
    there: Path, command: object
) -> None:
    here = Path("runs/r/manifest.json")
    here.parent.mkdir(parents=True)
    here.write_text("mine")
    (there / "project/runs/r").mkdir(parents=True)
    (there / "project/runs/r/manifest.json").write_text("theirs")
    (there / "pid").write_text("1 x:1\n")
    with pytest.raises(HanseError, match=r"runs/r: a run of this name is here already"):
        command(Path("hosts.yaml"), "r")  # type: ignore[operator]
    assert here.read_text() == "mine"
    assert there.exists()


@pytest.mark.parametrize("command", [cluster.stop, cluster.attach, cluster.resume, cluster.logs])
def test_a_name_that_leads_elsewhere_is_refused(command: object) -> None:
    with pytest.raises(HanseError, match="is no name for a run"):
        command(Path("hosts.yaml"), "../../x")  # type: ignore[operator]
    assert not Path("runs").exists()


def test_a_run_that_is_let_go_may_not_take_the_name_of_one_that_is_here() -> None:
    Path("runs/r").mkdir(parents=True)
    Path("runs/r/manifest.json").write_text("mine")
    with pytest.raises(HanseError, match=r"runs/r: a run of this name is here already"):
        cluster.run(Path("hosts.yaml"), out=Path("elsewhere/r"), detach=True)


@pytest.mark.parametrize(
    ("file", "shown"), [(None, "standard league"), (Path("coffee.toml"), "coffee.toml")]
)
def test_a_machine_for_nobody_names_the_run_file_if_there_is_one(
    monkeypatch: pytest.MonkeyPatch, file: Path | None, shown: str
) -> None:
    monkeypatch.setattr(Head, "ask", lambda *_: {"nodes": []})
    Path("coffee.toml").write_text("days = 1\n")
    with pytest.raises(HanseError, match=f"^{shown}: machines.nobody: "):
        cluster.run(Path("hosts.yaml"), file, settings=["machines.nobody=h1"])


def test_a_new_run_has_a_name_that_is_free_here_and_on_the_cluster(head: Head, there: Path) -> None:
    (there.parent / "x-001").mkdir()
    Path("runs/x-002").mkdir(parents=True)
    assert free(Path("runs"), "x", head.names()) == Path("runs/x-003")


def test_a_run_that_has_finished_is_not_stopped(there: Path) -> None:
    (there / "pid").write_text("1 x:1\n")
    (there / "code").write_text("0\n")
    with pytest.raises(HanseError, match="r: has finished already; bring it here"):
        cluster.stop(Path("hosts.yaml"), "r")
    assert there.exists()


def test_what_a_run_said_last_steers_no_terminal(
    there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (there / "pid").write_text("1 x:1\n")
    (there / "code").write_text("2\n")
    (there / "log").write_bytes(b"day 0\nhanse: \x1b]0;mine\x07 broken \xff\n")
    cluster.stop(Path("hosts.yaml"), "r")
    said = capsys.readouterr().err
    assert said == "r: stopped on the cluster: �]0;mine� broken �\n"


def test_what_a_run_says_is_shown_whole_and_steers_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show = cluster_following.shower(quiet=False)
    for byte in "day 0 ö\x1b[2J\x9b1\n".encode():
        show(bytes([byte]))
    assert capsys.readouterr().err == "day 0 ö�[2J�1\n"

"""A policy that a run file names goes to the hosts; one that is not there is refused first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.cli import cluster
from services.cluster.on_head import Head
from services.errors import HanseError

pytest.importorskip("gymnasium")
pytest.importorskip("safetensors")

from tests.services.cli.test_evaluate import training, untrained

FIRMS = """days = 2
[[firms]]
name = "farmer_A"
role = "farmer"
[[firms]]
name = "roaster_A"
role = "roaster"
strategy = "policy:trainings/mine/policy"
[[firms]]
name = "retailer_A"
role = "retailer"
"""


@pytest.fixture
def started(head: Head, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the head is asked to start, from a folder with a run file."""
    calls: list[Any] = []
    monkeypatch.setattr(cluster, "_open", lambda file: (head.cluster, head.ssh))
    monkeypatch.setattr(Head, "ask", lambda *_: {"nodes": []})
    monkeypatch.setattr(Head, "start", lambda head, *about: calls.append(about))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    Path("mine.toml").write_text(FIRMS)
    return calls


def test_the_folder_of_a_policy_is_sent_and_named_as_it_lies_there(started: list[Any]) -> None:
    untrained(Path("trainings/mine/policy"), training(firms=["roaster_A"]), "roaster_A")
    cluster.run(Path("hosts.yaml"), Path("mine.toml"), detach=True)
    [(_, project, files, config)] = started
    sent = {str(file.relative_to(project)) for file in files}
    policy = Path("trainings/mine/policy")
    assert {str(file) for file in policy.rglob("*") if file.is_file()} <= sent
    assert [firm["strategy"] for firm in config["firms"] if firm["name"] == "roaster_A"] == [
        "policy:trainings/mine/policy"
    ]


@pytest.mark.parametrize(
    "more",
    [
        "",
        '[[controllers]]\nname = "buyer"\npolicy = "policy:absent"\n',
        '[[routers]]\nname = "router"\npolicy = "policy:absent"\n',
    ],
)
def test_a_policy_that_is_not_there_is_refused_before_anything_starts(
    started: list[Any], more: str
) -> None:
    if more:
        untrained(Path("trainings/mine/policy"), training(firms=["roaster_A"]), "roaster_A")
    Path("mine.toml").write_text(FIRMS + more)
    named = "absent" if more else "trainings/mine/policy"
    with pytest.raises(HanseError, match=named):
        cluster.run(Path("hosts.yaml"), Path("mine.toml"), detach=True)
    assert started == []
    assert not Path("runs").exists()

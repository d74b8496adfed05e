"""`hanse train`, `hanse evaluate`, `hanse bench policies`, `hanse new --training`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.services.cli.conftest import Command

pytest.importorskip("torch")
pytest.importorskip("tree")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A training of seconds."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.toml").write_text("days = 4\n")
    file = tmp_path / "small.toml"
    file.write_text(
        'name = "small"\n[environment]\nrun = "short.toml"\n[network]\nhidden = [4]\n'
        "[ppo]\niterations = 2\nepisodes = 2\nminibatch = 4\nepochs = 1\n"
        "[validation]\nseeds = [500, 500]\n"
    )
    return file


def test_from_a_file_to_a_policy_in_a_league(hanse_process: Command, small: Path) -> None:
    trained = hanse_process("train", str(small), "--json")
    assert trained.code == 0, trained.err
    told = json.loads(trained.out)
    assert told["iterations"] == 2 and told["policy"] == "trainings/small-seed1/policy"
    policy = told["policy"]
    evaluated = hanse_process(
        "evaluate", policy, "--seeds", "100-101", "--against", "passive", "--json", "--quiet"
    )
    assert evaluated.code == 0, evaluated.err
    found = json.loads(evaluated.out)
    assert list(found["net_income"]) == ["policy", "usual", "passive"]
    difference = found["policy_minus"]["passive"]["mean"]
    means = [found["net_income"][name]["mean"] for name in ("policy", "passive")]
    assert difference == pytest.approx(means[0] - means[1])
    assert list(found["policy_minus"]) == ["usual", "passive"], "it is no rival of itself"
    assert found["business"]["passive"].get("deals", 0) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "nothing.toml"], "nothing.toml: there is no such file; write one with: hanse"),
        (["train", "--resume", "nowhere"], "nowhere: is not a training"),
        (["train", "x.toml", "--resume", "y"], "--resume goes on with a training as it was begun"),
        (["train", "--seed", "99999999999"], "--seed: seed: 99999999999 does not fit"),
        (["evaluate", "nowhere"], "nowhere: is not a trained policy"),
        (["bench", "policies", "chian"], "no suite 'chian'; allowed: chain, balanced"),
        (["run", "--set", "firms.roaster_A.strategy=policy:"], "names no policy"),
        (["run", "--set", "firms.roaster_A.strategy=policy:nowhere"], "is not a trained policy"),
    ],
)
def test_what_does_not_fit_is_a_line(
    hanse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = hanse(*arguments)
    assert done.code == 2
    assert said in done.err
    assert done.err.strip().count("\n") == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('[environment]\nfirm = "roaster_C"', "roaster_C"),
        ("[environment]\nobjectives = { glory = 1.0 }", "glory"),
        ('[environment]\ncost = "pride"', "bad.toml: environment.cost: 'pride' is not a known cost; allowed: stock_out"),
        ('[environment]\nstrategies = { roaster_B = "genius" }', "genius"),
        ('[environment]\nrun = "nothing.toml"', "nothing.toml: there is no such file"),
    ],
)
def test_a_training_that_cannot_be_is_refused_before_a_folder_is_made(
    hanse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.toml").write_text(line + "\n")
    done = hanse("train", "bad.toml")
    assert done.code == 2
    assert said in done.err.splitlines()[-1]
    assert [path.name for path in tmp_path.iterdir()] == ["bad.toml"]


def test_the_training_file_that_new_writes_is_accepted(
    hanse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = hanse("new", "roaster.toml", "--training")
    assert done.code == 0 and "hanse train roaster.toml" in done.err
    from policies.training.settings import TrainingConfig

    assert TrainingConfig.load(tmp_path / "roaster.toml") == TrainingConfig()

"""`hanse train`, `hanse evaluate`, `hanse bench policies`, `hanse new --training`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

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
        '[environment]\nrun = "short.toml"\nobjectives = { profit = 0.7, service = 0.3 }\n'
        "budget = 0.3\n[lagrangian]\nenabled = true\n[network]\nhidden = [4]\n"
        "[ppo]\niterations = 2\nepisodes = 2\nminibatch = 4\nepochs = 1\n"
        "[validation]\nseeds = [500, 500]\n"
    )
    return file


def test_from_a_file_to_a_policy_in_a_league(hanse_process: Command, small: Path) -> None:
    trained = hanse_process("train", str(small), "--json")
    assert trained.code == 0, trained.err
    told = json.loads(trained.out)
    assert told["iterations"] == 2 and told["policy"] == "trainings/small-seed1/policy"
    assert "validation_score" in told and "validation_net_income" in told
    evaluated = hanse_process(
        "evaluate",
        "trainings/small-seed1",
        "--seeds",
        "100-101",
        "--against",
        "passive",
        "--json",
        "--quiet",
    )
    assert evaluated.code == 0, evaluated.err
    found = json.loads(evaluated.out)
    assert list(found["net_income"]) == ["policy", "usual", "passive"]
    difference = found["policy_minus"]["passive"]["mean"]
    means = [found["net_income"][name]["mean"] for name in ("policy", "passive")]
    assert difference == pytest.approx(means[0] - means[1])
    assert list(found["policy_minus"]) == ["usual", "passive"], "it is no rival of itself"
    assert found["league"]["from"] == f"that of the training ({small.parent / 'short.toml'})"
    assert found["league"]["others"]["retailer_A"] == "scripted"
    profit = found["objectives"]["profit"]["passive"]["mean"]
    assert profit * 4 * 100 == pytest.approx(found["net_income"]["passive"]["mean"])
    assert found["cost"]["budget"] == 0.3
    assert 0 <= found["cost"]["mean"]["policy"]["mean"] <= 1
    assert found["cost"]["share_above_budget"]["passive"] in (0.0, 0.5, 1.0)
    assert found["business"]["passive"].get("deals", 0) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "nothing.toml"], "nothing.toml: there is no such file; write one with: hanse"),
        (["train", "--resume", "nowhere"], "nowhere: is not a training"),
        (["train", "x.toml", "--resume", "y"], "--resume goes on with a training as it was begun"),
        (["train", "--seed", "99999999999"], "--seed: seed: 99999999999 does not fit"),
        (["train", "--resume", "nowhere", "--iterations", "5"], "nowhere: is not a training"),
        (["train", "--resume", "x", "--set", "seed=2"], "leave out the file, --out, --seed and"),
        (["train", "--set", "ppo.clip=2"], "--set: ppo.clip: 2"),
        (["train", "--set", "environment.firm=roaster_C"], "standard training with --set: env"),
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
        (
            '[environment]\nfirm = "roaster_C"',
            "bad.toml: environment.firm: there is no firm 'roaster_C'",
        ),
        ('[environment]\nfirms = ["roaster_A", "X"]', "environment.firms: there is no firm 'X'"),
        (
            "[environment]\nobjectives = { glory = 1.0 }",
            "bad.toml: environment.objectives: 'glory' is not a known objective; allowed: profit",
        ),
        ('[environment]\ncost = "pride"', "bad.toml: environment.cost: 'pride' is not a known"),
        (
            '[environment]\nstrategies = { roaster_B = "genius" }',
            "bad.toml: environment.strategies",
        ),
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


def test_what_is_wrong_with_a_training_is_said_before_torch_and_ray_are_there(
    tmp_path: Path,
) -> None:
    from policies.training.folder import PROGRESS, write_training
    from policies.training.settings import TrainingConfig

    folder = tmp_path / "old"
    folder.mkdir()
    write_training(folder, TrainingConfig())
    assert f"{folder}/checkpoint.pt: there is no checkpoint" in _refused(folder)
    (folder / "checkpoint.pt").write_bytes(b"")
    (folder / PROGRESS).write_text('{"iteration": 1.0}\n{"iteration": 2.0}\n')
    few = _refused(folder, "--iterations", "1")
    assert f"--iterations: {folder}: 2 iterations are done already; allowed: 2 or more" in few
    gone = TrainingConfig().changed("x", environment={"firm": "roaster_C"})
    write_training(folder, gone)
    said = _refused(folder)
    assert f"{folder}/training.json: environment.firm: there is no firm 'roaster_C'" in said


def _refused(folder: Path, *more: str) -> str:
    """What a process says that would say something else if torch or Ray were loaded."""
    script = (
        "import sys; sys.modules['torch'] = sys.modules['ray'] = None;"
        " from services.cli import train; train.need_rl = lambda command: None;"
        " from services.cli.main import run_command; sys.exit(run_command(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "train", "--resume", str(folder), *more],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("begun", "said"),
    [
        (False, "stopped before the training began; there is no trainings/roaster-seed1"),
        (True, "stopped before the first iteration was done; go on with: hanse train --resume"),
    ],
)
def test_ctrl_c_says_what_is_there_and_how_to_go_on(
    hanse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun: bool, said: str
) -> None:
    from policies.training.folder import write_training
    from services.cli import train

    monkeypatch.chdir(tmp_path)

    def stopped(config: Any, folder: Path, *_: Any) -> None:
        if begun:
            folder.mkdir(parents=True)
            write_training(folder, config)
        raise KeyboardInterrupt

    monkeypatch.setattr(train, "_trained", stopped)
    done = hanse("train")
    assert done.code == 130
    assert said in done.err


def test_a_file_with_a_table_procurement_trains_a_purchasing_policy(
    hanse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from policies.becon.procurement import training

    monkeypatch.chdir(tmp_path)
    asked: list[Any] = []
    monkeypatch.setattr(training, "train_into", lambda *what: asked.append(what))
    (tmp_path / "buyer.toml").write_text("[procurement]\ndays = 30\n")
    done = hanse("train", "buyer.toml", "--seed", "4", "--set", "procurement.kappa=0.5")
    assert done.code == 0 and "policy trainings/buyer-seed4/policy" in done.out
    [(folder, settings, _)] = asked
    assert folder == Path("trainings/buyer-seed4/policy")
    assert (settings.days, settings.seed, settings.kappa) == (30, 4, 0.5)


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        ("seed = 3\n[procurement]", [], "buyer.toml: seed: has no meaning beside [procurement]"),
        ("procurement = 3", [], "buyer.toml: procurement: is a table with keys of its own"),
        ("[procurement]\ndayz = 3", [], "buyer.toml: procurement: there is no 'dayz'"),
        ("[procurement]", ["--iterations", "3"], "--iterations: buyer.toml trains a purchasing"),
        ("[procurement]", ["--set", "ppo.clip=0.1"], "--set: ppo: is no table of a purchasing"),
        ("[procurement]", ["--set", "procurement=5"], "--set: procurement: has keys; set a key of"),
        ("[procurement]", ["--set", "procurement.kappa=x"], "buyer.toml with --set: procurement: "),
        ("[procurement]", ["--set", "procurement.dayz=3"], "procurement: there is no 'dayz'"),
    ],
)
def test_what_does_not_fit_a_purchasing_policy_is_a_line(
    hanse: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    more: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "buyer.toml").write_text(text + "\n")
    assert said in hanse("train", "buyer.toml", *more).refusal


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--firm", "roaster_B"], "--firm: "),
        (["--against", "luck"], "--against: there is no 'luck'; allowed: oracle, base_stock"),
        (["--must-win", "--against", "filter"], "--must-win: asks for exposed and history"),
        (["--seeds", "x"], "--seeds x: 'x' is not a seed"),
        ([], "manifest.json"),
    ],
)
def test_what_does_not_fit_the_judging_of_a_purchasing_policy_is_a_line(
    hanse: Command, tmp_path: Path, more: list[str], said: str
) -> None:
    (tmp_path / "manifest.json").write_text('{"kind": "becon_purchasing"}')
    assert said in hanse("evaluate", tmp_path, *more).refusal


def test_a_purchasing_policy_is_judged_in_whole_leagues(
    hanse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.policies.becon.procurement.untrained import written

    monkeypatch.chdir(tmp_path)
    written(tmp_path / "buyer" / "policy")
    options = ("--seeds", "7", "--against", "base_stock", "--json", "--quiet")
    done = hanse("evaluate", "buyer", *options)
    table = done.document
    assert {row["arm"] for row in table["rows"]} == {"base_stock", "becon"}
    assert table["seeds"] == [7] and len(list(Path(table["folder"]).glob("seed7-*.json"))) == 2


def test_progress_shows_every_objective_and_the_price_of_cost() -> None:
    from services.cli.train import _line

    figures = {
        "net_income": 1234.0,
        "objective_profit": 0.5,
        "objective_service": 0.75,
        "cost": 0.125,
        "price": 1.5,
        "steps": 100.0,
        "seconds": 2.0,
        "entropy": 3.0,
        "validation": 0.6,
        "validation_net_income": 2000.0,
        "validation_profit": 0.4,
        "validation_service": 0.9,
        "validation_cost": 0.25,
    }
    assert _line(figures, {"profit": 0.6, "service": 0.4}) == (
        "exploring $1,234, profit 0.50, service 0.75, cost 0.125 at a price of 1.5, 50 steps/s,"
        " entropy 3.00, acting 0.600 a day ($2,000, profit 0.40, service 0.90, cost 0.250) on the"
        " validation seeds"
    )
    plain = {name: figures[name] for name in ("net_income", "steps", "seconds", "entropy")}
    assert _line(plain | {"validation": 900.0}, {"profit": 1.0}) == (
        "exploring $1,234, 50 steps/s, entropy 3.00, acting $900 on the validation seeds"
    )

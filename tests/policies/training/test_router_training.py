"""A router's policy: trained, stopped and resumed, put into a league, and evaluated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("gymnasium")
pytest.importorskip("tree")

import torch

from actors.league import League
from policies.training.artefact import read_manifest
from policies.training.checkpoint import read_checkpoint
from policies.training.episodes import check
from policies.training.settings import TrainingConfig
from policies.training.trainer import Trainer
from services.cli.main import run_command
from services.config import RunConfig
from services.errors import HanseError
from services.runs import Run
from tests.actors.ray_session import ray_session
from tests.policies.environments.two_ports import two_ports

__all__ = ["ray_session"]


def config(**environment: Any) -> TrainingConfig:
    return TrainingConfig.parse(
        {
            "name": "router",
            "environment": {"league": two_ports().dump(), "router": "router", **environment},
            "network": {"hidden": [8]},
            "ppo": {"iterations": 2, "episodes": 2, "epochs": 1, "minibatch": 6},
            "validation": {"every": 1, "seeds": [500, 500]},
        },
        "small.toml",
    )


@pytest.fixture(scope="module")
def straight(ray_session: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trainings") / "straight"
    trainer = Trainer.create(config(), folder)
    trainer.run()
    trainer.close()
    return folder


def tensors(saved: Any, name: str = "") -> dict[str, torch.Tensor]:
    """Every tensor of a checkpoint's learner, by its place."""
    if isinstance(saved, torch.Tensor):
        return {name: saved}
    if isinstance(saved, dict):
        parts = list(saved.items())
    else:
        parts = list(enumerate(saved)) if isinstance(saved, list | tuple) else []
    found: dict[str, torch.Tensor] = {}
    for key, part in parts:
        found |= tensors(part, f"{name}/{key}")
    return found


def test_its_manifest_says_what_it_decides_and_what_it_is_worth(straight: Path) -> None:
    manifest = read_manifest(straight / "policy")
    assert (manifest.role, manifest.cadence) == ("router", "order")
    assert [(lever.name, len(lever.levels)) for lever in manifest.levers] == [("town", 2)]
    assert manifest.metrics["validation_score"] > 0


def test_stopped_and_resumed_it_learns_the_same(
    ray_session: None, straight: Path, tmp_path: Path
) -> None:
    def stop(figures: dict[str, float]) -> None:
        raise KeyboardInterrupt

    trainer = Trainer.create(config(), tmp_path / "stopped")
    with pytest.raises(KeyboardInterrupt):
        trainer.run(stop)
    trainer.close()
    resumed = Trainer.resume(tmp_path / "stopped")
    resumed.run()
    resumed.close()
    through, again = (
        tensors(read_checkpoint(folder)["learner"]) for folder in (straight, tmp_path / "stopped")
    )
    assert through.keys() == again.keys() and len(through) > 8
    assert all(torch.equal(through[name], again[name]) for name in through)


def test_it_acts_in_a_league(straight: Path, tmp_path: Path) -> None:
    values = two_ports().dump()
    values["routers"] = [{"name": "router", "policy": f"policy:{straight / 'policy'}"}]
    with League.create(RunConfig.parse(values, "test"), tmp_path / "run") as league:
        league.run()
    kinds = [row[-3] for row in Run(tmp_path / "run").rows("events", "agent = ?", ("router",))]
    assert kinds.count("routing_decision") > 5


def test_evaluate_compares_it_with_the_rules_seed_by_seed(
    straight: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    assert not run_command(["evaluate", str(straight), "--seeds", "100-102", "--json", "--quiet"])
    document = json.loads(capfd.readouterr().out)
    assert list(document["measured"]) == ["policy", "direct", "cheapest", "least_loaded"]
    surplus = {by: figures["surplus"]["by_seed"] for by, figures in document["measured"].items()}
    assert set(surplus["policy"]) == {"100", "101", "102"}
    mean = sum(surplus["policy"][s] - surplus["cheapest"][s] for s in surplus["policy"]) / 3
    assert document["policy_minus"]["cheapest"]["mean"] == pytest.approx(mean)


def test_a_minibatch_that_is_more_than_an_iterations_orders_is_refused() -> None:
    wrong = config().changed("x", ppo={"iterations": 1, "episodes": 2, "minibatch": 100_000})
    with pytest.raises(HanseError, match=r"ppo\.minibatch: 100000 steps are .* orders; allowed"):
        check(wrong, "small.toml")


@pytest.mark.parametrize("option", [("--out", "x"), ("--workers", "2"), ("--firm", "roaster_A")])
def test_evaluate_refuses_what_has_no_meaning_for_a_router(
    straight: Path, option: tuple[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["evaluate", str(straight), *option]) == 2
    assert option[0] in capfd.readouterr().err


def test_evaluate_refuses_a_rule_that_there_is_not(
    straight: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["evaluate", str(straight), "--against", "dearest"]) == 2
    told = capfd.readouterr().err
    assert "there is no rule 'dearest' for routers; allowed: direct, cheapest" in told


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"objectives": {"profit": 1.0}}, r"environment\.objectives: .*profit.*surplus"),
        ({"cost": "debt"}, r"environment\.cost: .*debt.*empty_handed"),
        ({"cadence": "turn"}, r"environment\.cadence: a router decides with every order"),
        ({"firms": ["roaster_Riga_A"]}, r"environment\.firms: are not learned beside a router"),
        ({"league": None}, r"environment\.router: a router learns in a league with several towns"),
    ],
)
def test_what_does_not_fit_a_router_is_named(environment: dict[str, Any], message: str) -> None:
    with pytest.raises(HanseError, match=message):
        config(**environment)

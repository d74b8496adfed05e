"""Several firms that learn together, by several objectives and within a budget."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("gymnasium")
pytest.importorskip("tree")

import numpy as np

from policies.environments.leagues import with_strategies
from policies.training.acting import LeversPolicy
from policies.training.artefact import read_manifest
from policies.training.checkpoint import read_checkpoint
from policies.training.episodes import make_world, play
from policies.training.folder import PROGRESS
from policies.training.measuring import measured
from policies.training.settings import TrainingConfig
from policies.training.trainer import Trainer
from services.config import standard
from tests.actors.ray_session import ray_session
from tests.policies.training.test_trainer import same

__all__ = ["ray_session"]

FIRMS = ["roaster_A", "retailer_A", "retailer_B"]
DAYS = 5


def config(iterations: int = 2) -> TrainingConfig:
    return TrainingConfig.parse(
        {
            "environment": {
                "league": standard().dump() | {"days": DAYS},
                "firms": FIRMS,
                "share": "role",
                "objectives": {"profit": 0.5, "service": 0.3, "liquidity": 0.2},
                "budget": 0.1,
            },
            "network": {"hidden": [8]},
            "ppo": {"iterations": iterations, "episodes": 2, "epochs": 1, "minibatch": 10},
            "lagrangian": {"enabled": True, "start": 0.5, "rate": 0.5},
            "validation": {"every": 2, "seeds": [500, 501]},
        },
        "together.toml",
    )


@pytest.fixture(scope="module")
def together(ray_session: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A training that went through."""
    folder = tmp_path_factory.mktemp("trainings") / "together"
    trainer = Trainer.create(config(), folder)
    trainer.run()
    trainer.close()
    yield folder


def lines(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / PROGRESS).read_text().splitlines()]


def acting(folder: Path) -> dict[str, LeversPolicy]:
    roles = {"roaster_A": "roaster", "retailer_A": "retailer", "retailer_B": "retailer"}
    return {firm: LeversPolicy.load(folder / "policy" / role) for firm, role in roles.items()}


def test_firms_of_a_role_share_a_policy_and_each_policy_has_a_folder(together: Path) -> None:
    policies = sorted(path.name for path in (together / "policy").iterdir())
    assert policies == ["retailer", "roaster"]
    for role in policies:
        manifest = read_manifest(together / "policy" / role)
        assert (manifest.role, manifest.name) == (role, f"roaster-{role}")


def test_there_are_figures_of_every_firm_every_objective_and_the_price_of_cost(
    together: Path,
) -> None:
    first, second = lines(together)
    for firm in FIRMS:
        assert f"net_income.{firm}" in first and f"objective_service.{firm}" in first
        assert 0 <= first[f"cost.{firm}"] <= 1
    incomes = [first[f"net_income.{firm}"] for firm in FIRMS]
    assert first["net_income"] == pytest.approx(sum(incomes))
    assert {"value_loss_profit", "value_loss_service", "value_loss_cost"} <= set(first)
    assert first["price.roaster"] == first["price.retailer"] == 0.5
    moved = second["price.retailer"] - 0.5
    cost = (first["cost.retailer_A"] + first["cost.retailer_B"]) / 2
    assert moved == pytest.approx(0.5 * (cost - 0.1)), "by the mean cost of both shops"
    assert second["validation"] == pytest.approx(
        sum(second[f"validation_score.{firm}"] for firm in FIRMS)
    )


def test_what_was_learned_together_is_measured_in_a_league_as_in_validation(
    together: Path,
) -> None:
    about = config().environment
    played = play(make_world(about), acting(together), 500)
    places = {firm: f"policy:{together / 'policy' / firm.split('_')[0]}" for firm in FIRMS}
    league = with_strategies(standard().with_overrides(days=DAYS, seed=500), places)
    assert measured(league, FIRMS, tuple(about.objectives), about.cost) == played


def test_a_policy_of_several_values_tells_that_of_the_weighted_reward(together: Path) -> None:
    trainer = Trainer.resume(together)
    module = trainer._learner.module["roaster"]
    told = trainer.policy("roaster")
    trainer.close()
    observation = np.linspace(-1.0, 1.0, module.size)
    hidden = np.tanh(
        module.value[0].weight.detach().numpy() @ observation
        + module.value[0].bias.detach().numpy()
    )
    each = module.value[2].weight.detach().numpy() @ hidden + module.value[2].bias.detach().numpy()
    assert told.value(observation) == pytest.approx(each @ [0.5, 0.3, 0.2, 0.0], abs=1e-5)


def test_lengthened_at_any_time_it_comes_to_the_same_prices_and_networks_to_the_bit(
    together: Path, tmp_path: Path
) -> None:
    def stopped(_: Any) -> None:
        raise KeyboardInterrupt

    trainer = Trainer.create(config(), tmp_path / "stopped")
    with pytest.raises(KeyboardInterrupt):
        trainer.run(stopped)
    trainer.close()
    found = []
    for folder in (tmp_path / "stopped", together):
        trainer = Trainer.resume(folder, iterations=3)
        trainer.run()
        trainer.close()
        found.append(read_checkpoint(folder))
        assert [line["iteration"] for line in lines(folder)] == [1, 2, 3]
        rates = [line["learning_rate"] for line in lines(folder)]
        assert rates == pytest.approx([1e-3, 1e-4, 1e-4]), "as planned before, then as it ended"
    assert same(found[0]["learner"], found[1]["learner"])
    assert found[0]["prices"] == found[1]["prices"]
    _, validated, last = lines(together)
    acting, exploring = (
        sum(line[f"{name}.retailer_{shop}"] for shop in "AB") / 2
        for line, name in ((validated, "validation_cost"), (last, "cost"))
    )
    answered = last["price.retailer"] + 0.5 * (max(acting, exploring) - 0.1)
    assert found[1]["prices"]["retailer"] == pytest.approx(answered), "to the dearer of the two"

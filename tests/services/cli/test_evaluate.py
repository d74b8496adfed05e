"""`hanse evaluate` of policies that learned together, found in the folder of their training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.services.cli.conftest import Command

pytest.importorskip("gymnasium")
pytest.importorskip("safetensors")

from policies.training.artefact import describe, write
from policies.training.episodes import make_world, seats_of
from policies.training.folder import write_training
from policies.training.settings import TrainingConfig
from services.cli.consumer_sales import sales_lines
from services.cli.judged_policies import judged
from services.config import standard
from services.errors import HanseError

FIRMS = ["roaster_A", "retailer_A", "retailer_B"]


def training(**environment: Any) -> TrainingConfig:
    league = standard().dump() | {"days": 8}
    return TrainingConfig.parse({"environment": {"league": league, **environment}}, "test")


def untrained(folder: Path, config: TrainingConfig, firm: str) -> None:
    """Writes a policy that has learned nothing: all levels are alike to it."""
    seat = seats_of(make_world(config.environment))[firm]
    shapes = {"policy": int(seat.actions.nvec.sum()), "value": 1}
    weights: dict[str, NDArray[Any]] = {}
    for network, out in shapes.items():
        weights[f"{network}.0.weight"] = np.zeros((out, seat.layout.size), np.float32)
        weights[f"{network}.0.bias"] = np.zeros(out, np.float32)
    manifest = {
        **describe(seat.layout, seat.actions, seat.layout.setup.rules),
        "name": "untrained",
        "cadence": "day",
        "hidden": [],
        "objectives": {"profit": 1.0},
        "training": config.model_dump(mode="json"),
        "iteration": 0,
        "versions": {},
    }
    write(folder, manifest, weights)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A training of three firms, those of a role by the same policy."""
    config = training(firms=FIRMS, share="role")
    for role, firm in (("roaster", "roaster_A"), ("retailer", "retailer_B")):
        untrained(tmp_path / "market" / "policy" / role, config, firm)
    write_training(tmp_path / "market", config)
    return tmp_path / "market"


def test_a_training_stands_for_its_best_policy(tmp_path: Path) -> None:
    config = training()
    folder = tmp_path / "alone"
    untrained(folder / "policy", config, "roaster_A")
    write_training(folder, config)
    for path in (folder, folder / "policy"):
        assert judged(path, None).folders == {"roaster_A": folder / "policy"}
    assert list(judged(folder, "roaster_B").folders) == ["roaster_B"]


def test_a_training_without_a_validation_has_no_policy_yet(tmp_path: Path) -> None:
    write_training(tmp_path, training())
    with pytest.raises(HanseError, match=r"has no policy yet, .* go on with it: hanse train"):
        judged(tmp_path, None)


def test_policies_that_learned_together_take_the_places_that_they_learned_in(shared: Path) -> None:
    retailers = shared / "policy" / "retailer"
    for path in (shared, shared / "policy"):
        found = judged(path, None).folders
        assert list(found) == FIRMS
        assert found["retailer_A"] == found["retailer_B"] == retailers
    assert judged(retailers, None).folders == dict.fromkeys(FIRMS[1:], retailers)
    with pytest.raises(HanseError, match=r"--firm: .* has 2 policies that learned together"):
        judged(shared, "roaster_B")


def test_policies_that_learned_together_are_played_together_and_judged_firm_by_firm(
    hanse: Command, shared: Path
) -> None:
    done = hanse("evaluate", shared, "--seeds", "100", "--against", "passive", "--json", "-q")
    assert done.code == 0, done.err
    found = done.document
    assert list(found["firms"]) == FIRMS
    for firm in FIRMS:
        assert list(found["firms"][firm]["net_income"]) == ["policy", "usual", "passive"]
    idle = [found["firms"][firm]["net_income"]["passive"]["mean"] for firm in FIRMS[1:]]
    assert idle[0] == idle[1], "both shops were left to passivity at the same time"
    shop = found["firms"]["retailer_A"]["business"]["usual"]
    assert shop["roasted_coffee_kg to consumers kg"] > 0
    assert (
        shop["roasted_coffee_kg to consumers at $"]
        == shop["roasted_coffee_kg on the shelf at $"]
        > 0
    )
    assert not sales_lines(found["firms"]["roaster_A"]["business"]["usual"])
    assert found["league"]["others"] == dict.fromkeys(
        ("farmer_A", "farmer_B", "roaster_B"), "scripted"
    )


def test_what_a_run_file_says_of_machines_is_refused_with_the_files_name(
    shared: Path, hanse: Command
) -> None:
    Path("mine.toml").write_text('[machines]\nnobody = "10.0.0.2"\n')
    said = hanse("evaluate", str(shared), "--run", "mine.toml").refusal
    assert said.startswith("hanse: mine.toml: machines.nobody: ")
    said = hanse("evaluate", str(shared), "--set", "machines.nobody=h1").refusal
    assert said.startswith(f"hanse: {shared}: manifest.json: the league: machines.nobody: ")
    assert not Path("runs").exists()

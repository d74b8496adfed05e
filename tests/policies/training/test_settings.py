"""What a training file may say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policies.training.settings import TrainingConfig
from policies.training.template import training_template
from services.errors import HanseError


def test_the_file_that_new_writes_has_every_key_and_the_defaults(tmp_path: Path) -> None:
    file = tmp_path / "roaster.toml"
    file.write_text(training_template("roaster", "roaster.toml"))
    config = TrainingConfig.load(file)
    assert config == TrainingConfig()
    text = file.read_text()
    for table, values in config.model_dump().items():
        keys = values if isinstance(values, dict) else {table: values}
        for key in keys:
            assert f"{key} = " in text, f"{table}.{key}"


def test_the_run_file_is_meant_relative_to_the_training_file(tmp_path: Path) -> None:
    file = tmp_path / "roaster.toml"
    file.write_text('[environment]\nrun = "leagues/coffee.toml"\n')
    (tmp_path / "leagues").mkdir()
    (tmp_path / "leagues/coffee.toml").write_text("days = 7\n")
    environment = TrainingConfig.load(file).environment
    assert environment.run == str(tmp_path / "leagues/coffee.toml")
    assert environment.league is not None and environment.league["days"] == 7, "and it is kept"


def test_a_policy_as_an_opponent_is_meant_relative_to_the_training_file(tmp_path: Path) -> None:
    file = tmp_path / "roaster.toml"
    file.write_text('[environment]\nstrategies = { roaster_B = "policy:other" }\n')
    strategies = TrainingConfig.load(file).environment.strategies
    assert strategies == {"roaster_B": f"policy:{tmp_path}/other"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"ppo": {"iterations": 0}},
            "ppo.iterations: 0 does not fit; allowed: a whole number",
        ),
        ({"ppo": {"iteratons": 9}}, "did you mean 'iterations'?"),
        ({"environment": {"objectives": {"profit": 0.5}}}, "the weights sum to 0.5; they must sum"),
        ({"environment": {"objectives": {}}}, "names no objective"),
        ({"environment": {"budget": 1.5}}, "environment.budget: 1.5 does not fit"),
        ({"ppo": {"learning_rate": 1e-5}}, "ppo.final_learning_rate: 0.0001 is above"),
        ({"validation": {"seeds": [507, 500]}}, "validation.seeds: [507, 500] runs backwards"),
        ({"validation": {"seeds": [500, 1000]}}, "validation.seeds"),
        ({"environment": {"strategies": {"roaster_A": "passive"}}}, "is the firm that learns"),
        ({"name": "../roaster"}, "name: '../roaster' cannot be a name"),
        ({"ppo": {"discount": float("nan")}}, "ppo.discount"),
    ],
)
def test_a_mistake_is_a_line_with_file_key_and_remedy(values: dict[str, Any], said: str) -> None:
    with pytest.raises(HanseError) as told:
        TrainingConfig.parse(values, "roaster.toml")
    assert str(told.value).startswith("roaster.toml: ")
    assert said in str(told.value)
    assert "\n" not in str(told.value)


def test_a_file_that_is_not_there_is_a_line_that_says_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(HanseError, match=r"hanse new .*roaster\.toml --training"):
        TrainingConfig.load(tmp_path / "roaster.toml")

"""What a training file may say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policies import training
from policies.training.episodes import check
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


def test_a_training_is_named_after_its_file_unless_it_has_a_name(tmp_path: Path) -> None:
    for text, name in (("seed = 2", "patient"), ('name = "other"', "other")):
        (tmp_path / "patient.toml").write_text(text)
        assert TrainingConfig.load(tmp_path / "patient.toml").name == name
    (tmp_path / "2nd try.toml").write_text("")
    assert TrainingConfig.load(tmp_path / "2nd try.toml").name == TrainingConfig().name


def test_several_firms_that_learn_stand_in_the_place_of_one() -> None:
    config = TrainingConfig.parse({"environment": {"firms": ["farmer_B", "retailer_A"]}}, "x.toml")
    assert config.environment.learners == ("farmer_B", "retailer_A")
    assert TrainingConfig.parse(config.model_dump(mode="json"), "again") == config
    assert TrainingConfig().environment.learners == ("roaster_A",)


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
        ({"environment": {"objectives": {"glory": 1.0}}}, "'glory' is not a known objective"),
        ({"environment": {"cost": "overdeu"}}, "(did you mean 'overdue'?); allowed: stock_out"),
        ({"environment": {"firms": ["roaster_A", "roaster_A"]}}, "name each firm once"),
        (
            {"environment": {"firm": "roaster_B", "firms": ["roaster_A"]}},
            "environment.firm: 'roaster_B' is not one of firms",
        ),
        (
            {"environment": {"firms": ["roaster_A", "farmer_A"], "cadence": "turn"}},
            "environment.cadence: several firms decide together, once a day",
        ),
        ({"lagrangian": {"start": 60.0}}, "lagrangian.start: 60 is above most (50)"),
        ({"environment": {"budget": 1.5}}, "environment.budget: 1.5 does not fit"),
        ({"ppo": {"learning_rate": 1e-5}}, "ppo.final_learning_rate: 0.0001 is above"),
        ({"validation": {"seeds": [507, 500]}}, "validation.seeds: [507, 500] runs backwards"),
        ({"validation": {"seeds": [500, 1000]}}, "validation.seeds"),
        (
            {"environment": {"strategies": {"roaster_A": "passive"}}},
            "roaster_A is a firm that learns; name others",
        ),
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


def test_the_training_file_that_comes_along_has_a_roaster_and_its_shops_learn() -> None:
    file = Path(training.__file__).parent / "market.toml"
    config = TrainingConfig.load(file)
    assert config.environment.learners == ("roaster_A", "retailer_A", "retailer_B")
    check(config, str(file))


def test_settings_change_single_keys_of_a_training_and_leave_the_others(tmp_path: Path) -> None:
    file = tmp_path / "roaster.toml"
    file.write_text("[ppo]\nepisodes = 4\n[network]\nhidden = [8]\n")
    config = TrainingConfig.load(file).with_settings(
        ["ppo.learning_rate=3e-4", "chain.enabled=false", "environment.firm=retailer_A"]
    )
    assert config.ppo.learning_rate == 3e-4 and config.ppo.episodes == 4
    assert not config.chain.enabled
    assert config.environment.learners == ("retailer_A",)
    assert config.network.hidden == [8] and config.name == "roaster"


def test_a_setting_may_choose_what_else_follows_from_the_learner(tmp_path: Path) -> None:
    (tmp_path / "towns.toml").write_text("[generate]\nfirms = 12\ntowns = 2\n")
    run = f"environment.run={tmp_path / 'towns.toml'}"
    router = TrainingConfig().with_settings([run, "environment.router=router"]).environment
    assert router.objectives == {"surplus": 1.0} and router.cost == "empty_handed"
    firms = TrainingConfig().with_settings(['environment.firms=["farmer_B", "retailer_A"]'])
    assert firms.environment.learners == ("farmer_B", "retailer_A")
    others = firms.with_settings(['environment.firms=["retailer_B", "retailer_A"]'])
    assert others.environment.learners == ("retailer_B", "retailer_A")


def test_files_in_settings_are_meant_relative_to_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    for folder, days in (("here", 5), ("there", 7)):
        (tmp_path / folder / "coffee.toml").write_text(f"days = {days}\n")
    (tmp_path / "there/roaster.toml").write_text('[environment]\nrun = "coffee.toml"\n')
    monkeypatch.chdir(tmp_path / "here")
    config = TrainingConfig.load(tmp_path / "there/roaster.toml")
    same = config.with_settings(["seed=3"]).environment
    assert same == config.environment, "its own file is still its own"
    other = config.with_settings(
        ["environment.run=coffee.toml", "environment.strategies.roaster_B=policy:mine"]
    ).environment
    assert other.league is not None and other.league["days"] == 5
    assert other.strategies == {"roaster_B": f"policy:{tmp_path}/here/mine"}
    with pytest.raises(HanseError, match=r"the league is that of .*coffee\.toml; change that file"):
        config.with_settings(["environment.league.days=9"])


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("ppo.iterations", "--set ppo.iterations: is not a setting; allowed: key=value, such as"),
        ("ppo.iteration=5", "--set: ppo.iteration: 'iteration' is not a known key (did you mean"),
        ("ppo.clip=2", "--set: ppo.clip: 2"),
        ("seed.one=2", "--set seed.one=2: seed has no keys; set it itself"),
        ("environment.run=nowhere.toml", "nowhere.toml: there is no such file"),
        ("validation.seeds.0=5", "--set: validation.seeds: is a list; set it as a whole, as in"),
    ],
)
def test_a_setting_that_does_not_fit_is_a_line(setting: str, said: str) -> None:
    with pytest.raises(HanseError) as refused:
        TrainingConfig(seed=1).with_settings([setting])
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)

"""A run file becomes a `RunConfig`; what the file leaves out has the standard value."""

import tomllib
from pathlib import Path

import pytest
from pydantic import ValidationError

from actors import strategies
from services.config import (
    ONE_ACTOR_EACH_UP_TO,
    STRATEGIES,
    RunConfig,
    apply_settings,
    commented_template,
    load,
    standard,
)
from services.economy.catalogue import standard_catalogue
from services.economy.rules import HANSE
from services.economy.setup import TownSetup
from services.errors import HanseError

SIX = ["farmer_A", "farmer_B", "roaster_A", "roaster_B", "retailer_A", "retailer_B"]


def write(folder: Path, text: str) -> Path:
    file = folder / "run.toml"
    file.write_text(text, encoding="utf-8")
    return file


def firms(*lines: str) -> str:
    """Three firms, one of each role; `lines` go into the roaster's table."""
    tables = [
        '[[firms]]\nname = "Ada"\nrole = "farmer"',
        "\n".join(['[[firms]]\nname = "Bo"\nrole = "roaster"', *lines]),
        '[[firms]]\nname = "Cy"\nrole = "retailer"',
    ]
    return "\n".join(tables)


# ---- what is read ------------------------------------------------------------------------------


def test_the_standard_run_is_ninety_days_of_the_six_firms_with_a_heuristic_roaster_a():
    config = standard()
    assert (config.days, config.seed, config.rules, config.placement) == (90, 0, "hanse", "auto")
    assert [firm.name for firm in config.firms] == SIX
    assert [firm.strategy for firm in config.firms] == [
        "scripted",
        "scripted",
        "heuristic",
        "scripted",
        "scripted",
        "scripted",
    ]
    assert config.town_names == ["town"]


def test_an_empty_file_is_the_standard_run(tmp_path):
    assert load(write(tmp_path, "")) == standard()


def test_a_file_with_every_table_is_read(tmp_path):
    config = load(
        write(
            tmp_path,
            """
            format = 1
            name = "two-towns"
            seed = 7
            days = 30
            rules = "coffeebench"
            placement = "packed"
            hosts = 3
            turn_timeout = 2
            mailbox_limit = 50
            stop_when_bankrupt = "Bo"
            [economy]
            loss_probability = 0.1
            festival_days = [3, 5]
            [items.green_coffee_kg]
            cost = 3
            [recipes.green_coffee_kg]
            yield = 0.9
            [[towns]]
            name = "Kiel"
            [[towns]]
            name = "Visby"
            [[routers]]
            name = "forwarder"
            rule = "least_loaded"
            [[controllers]]
            name = "buyer"
            options = { green_coffee_kg = { reorder_at = 20, up_to = 60 } }
            """
            + firms('town = "Visby"', 'controller = "buyer"', "host = 2", "cash = 2200")
            + "\nstock = { roasted_coffee_kg = 5 }\noptions = { margin = 0.2 }",
        )
    )
    assert (config.name, config.seed, config.days) == ("two-towns", 7, 30)
    assert config.turn_timeout == 2.0
    assert config.economy.loss_probability == 0.1
    assert config.economy.delay_probability is None
    assert config.economy.festival_days == [3, 5]
    assert config.items["green_coffee_kg"].cost == 3.0
    assert config.recipes["green_coffee_kg"].yield_ == 0.9
    assert config.routers[0].rule == "least_loaded"
    levels = config.controllers[0].options["green_coffee_kg"]
    assert (levels.reorder_at, levels.up_to, levels.most) == (20, 60, None)
    assert config.town_names == ["Kiel", "Visby"]
    bo, cy = config.firm("Bo"), config.firm("Cy")
    assert bo is not None and cy is not None and config.firm("Di") is None
    assert (bo.cash, bo.controller, bo.host) == (2200.0, "buyer", 2)
    assert (cy.stock, cy.options) == ({"roasted_coffee_kg": 5}, {"margin": 0.2})
    assert [config.town_of(firm) for firm in config.firms] == ["Kiel", "Visby", "Kiel"]


def test_a_generated_league_lists_no_firms(tmp_path):
    config = load(write(tmp_path, "[generate]\nfirms = 30\ntowns = 10\nfarmers = 2"))
    assert config.firms == []
    assert config.generate is not None
    assert (config.generate.firms, config.generate.farmers, config.generate.roasters) == (30, 2, 1)


def test_a_file_with_a_byte_order_mark_and_windows_line_ends_is_read(tmp_path):
    file = tmp_path / "run.toml"
    file.write_bytes(b'\xef\xbb\xbfseed = 3\r\nname = "x"\r\n')
    assert load(file).seed == 3


def test_a_strategy_in_a_file_is_meant_relative_to_the_run_file(tmp_path):
    config = load(write(tmp_path, firms('strategy = "mine.py:Mine"')))
    assert config.firms[1].strategy == f"{(tmp_path / 'mine.py').as_posix()}:Mine"
    config = load(write(tmp_path, firms('strategy = "shop.mine:Mine"')))
    assert config.firms[1].strategy == "shop.mine:Mine"


def test_the_strategies_that_a_file_may_name_are_those_that_there_are():
    assert tuple(strategies.STRATEGIES) == STRATEGIES


def test_a_configuration_survives_the_way_through_json(tmp_path):
    config = load(write(tmp_path, "[recipes.green_coffee_kg]\nyield = 0.9\n" + firms("cash = 1")))
    assert RunConfig.parse(config.dump(), "manifest.json") == config
    generated = load(write(tmp_path, "[generate]\nfirms = 3"))
    assert RunConfig.parse(generated.dump(), "manifest.json") == generated


def test_a_configuration_cannot_be_changed():
    with pytest.raises(ValidationError):
        standard().seed = 3  # type: ignore[misc]


# ---- overrides ---------------------------------------------------------------------------------


def test_overrides_replace_what_is_not_none_and_leave_the_original_alone():
    config = standard()
    changed = config.with_overrides(seed=7, days=None)
    assert (changed.seed, changed.days, config.seed) == (7, 90, 0)
    assert config.with_overrides(seed=None) is config


def test_an_override_is_checked_like_the_file():
    with pytest.raises(HanseError, match=r"^command line: days: 0 does not fit; allowed: a whole"):
        standard().with_overrides(source="command line", days=0)


def test_settings_reach_any_key_and_firms_go_by_name():
    config = apply_settings(
        standard(),
        [
            "days=30",
            "rules = coffeebench",
            "economy.festival_days=[1, 2]",
            "firms.roaster_A.strategy=passive",
            'firms."roaster_B".options.margin=0.5',
            "items.green_coffee_kg.cost=3",
        ],
    )
    assert (config.days, config.rules, config.economy.festival_days) == (30, "coffeebench", [1, 2])
    assert [firm.strategy for firm in config.firms[2:4]] == ["passive", "scripted"]
    assert config.firms[3].options == {"margin": 0.5}
    assert config.items["green_coffee_kg"].cost == 3.0


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("days", "--set days: is not a setting; allowed: key=value, such as days=30"),
        ("=3", "--set =3: is not a setting; allowed: key=value, such as days=30"),
        ("days.x=3", "--set days.x=3: days has no keys; set it itself"),
        ("econmy.x=3", "--set: econmy: 'econmy' is not a known key (did you mean 'economy'?)"),
        ("firms.roaster_C.cash=3", "--set firms.roaster_C.cash=3: 'roaster_C' is not a known name"),
        ("firms.roaster_A=3", "--set firms.roaster_A=3: name a key of roaster_A, such as"),
        ("days=many", "--set: days: 'many' does not fit; allowed: a whole number from 1 to 3660"),
    ],
)
def test_a_wrong_setting_is_named(setting, message):
    with pytest.raises(HanseError) as error:
        apply_settings(standard(), [setting])
    assert str(error.value).startswith(message)


# ---- placement ---------------------------------------------------------------------------------


def test_auto_is_one_actor_each_up_to_32_agents_and_packed_above():
    assert ONE_ACTOR_EACH_UP_TO == 32
    assert standard().resolved_placement(7) == "one"
    assert standard().resolved_placement(32) == "one"
    assert standard().resolved_placement(33) == "packed"


def test_a_placement_that_is_named_is_kept_whatever_the_size():
    assert standard().with_overrides(placement="inline").resolved_placement(1000) == "inline"
    assert standard().with_overrides(placement="one").resolved_placement(1000) == "one"


def test_a_firm_that_a_human_plays_makes_auto_inline(tmp_path):
    assert load(write(tmp_path, firms('strategy = "human"'))).resolved_placement(4) == "inline"


# ---- the template ------------------------------------------------------------------------------


def test_the_template_is_the_standard_run():
    values = tomllib.loads(commented_template())
    assert RunConfig.parse(values, "template") == standard()


def test_every_commented_line_of_the_template_is_valid_and_mentions_each_key():
    lines = [line.removeprefix("# ") for line in commented_template().splitlines()]
    text = "\n".join(line for line in lines if " = " in line or line.startswith("["))
    # The generator excludes [[firms]]; the firm's own commented keys follow the first firm.
    start = text.index("[generate]")
    generator, rest = text[start:].split("[[towns]]", 1)
    # Who talks needs firms that do; the generator can make them.
    rest, talk = rest.split("[talk]", 1)
    talk, economy = talk.split("[economy]", 1)
    values = tomllib.loads(text[:start] + "[[towns]]" + rest + "[economy]" + economy)
    config = RunConfig.parse(values, "template")
    assert config.economy.model_dump().keys() == values["economy"].keys()
    assert config.firms[0].model_fields_set == type(config.firms[0]).model_fields.keys()
    assert RunConfig.parse(tomllib.loads(generator), "template").generate is not None
    generator = generator.replace('"scripted"', '"informed"') + "[talk]" + talk
    talking = RunConfig.parse(tomllib.loads(generator), "template")
    for table in (talking.talk, talking.injections[0], talking.monitor, talking.containment):
        assert table.model_fields_set == type(table).model_fields.keys()


def test_the_template_shows_the_values_that_the_economy_has_when_left_alone():
    town, catalogue = TownSetup(), standard_catalogue()
    shown = {}
    for line in commented_template().partition("[economy]")[2].partition("# Items")[0].splitlines():
        if " = " in line:
            shown |= tomllib.loads(line.removeprefix("# "))
    for key, value in shown.items():
        expected = getattr(town, key) if hasattr(town, key) else getattr(HANSE, key)
        assert value == (list(expected) if isinstance(expected, tuple) else expected), key
    assert catalogue.recipes["green_coffee_kg"].yield_ == 0.85

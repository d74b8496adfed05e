"""A wrong run file is answered with one line: the file, the key, what is wrong, what is allowed."""

import os
import re
from pathlib import Path

import pytest

from services.config import RunConfig, load
from services.errors import HanseError

THREE = """
[[firms]]
name = "Ada"
role = "farmer"
[[firms]]
name = "Bo"
role = "roaster"
[[firms]]
name = "Cy"
role = "retailer"
"""


def refusal(folder: Path, text: str) -> str:
    """The message for a file of this text, without the file's name."""
    file = folder / "run.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(HanseError) as error:
        load(file)
    message = str(error.value)
    assert "\n" not in message
    assert message.startswith(f"{file}: ")
    return message.removeprefix(f"{file}: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('seed = "abc"', "seed: 'abc' does not fit; allowed: a whole number from 0 to 9223372036"),
        ("seed = -1", "seed: -1 does not fit; allowed: a whole number from 0 to 9223372036"),
        ("seed = true", "seed: true does not fit; allowed: a whole number from 0"),
        ("days = 3661", "days: 3661 does not fit; allowed: a whole number from 1 to 3660"),
        ("days = 90.5", "days: 90.5 does not fit; allowed: a whole number from 1 to 3660"),
        ("hosts = 65", "hosts: 65 does not fit; allowed: a whole number from 1 to 64"),
        ("turn_timeout = 0", "turn_timeout: 0 does not fit; allowed: a number above 0"),
        ("turn_timeout = inf", "turn_timeout: Infinity does not fit; allowed: a number above 0"),
        ("name = 3", "name: 3 does not fit; allowed: text in quotes"),
        ('name = "a b"', "name: 'a b' cannot be a name; allowed: a letter, then up to 63 letters"),
        ('name = "../x"', "name: '../x' cannot be a name; allowed: a letter"),
        ('rules = "coffebench"', "rules: 'coffebench' is not a known rules"),
        ('placement = "many"', "placement: 'many' is not a known placement; allowed: auto, inline"),
        ("economy = 3", "economy: is a table with keys of its own, not 3"),
        ("firms = 3", "firms: 3 does not fit; allowed: a list"),
        ('[firms]\nname = "Ada"', "firms: is a list of tables; write [[firms]] with double br"),
        (
            "[economy]\nloss_probability = 2",
            "economy.loss_probability: 2 does not fit; allowed: a number from 0 to 1",
        ),
        (
            "[economy]\nloss_probability = 0.6\ndelay_probability = 0.6",
            "economy: loss_probability and delay_probability must not exceed 1 together",
        ),
        (
            "[economy]\nfestival_days = [5, 3]",
            "economy.festival_days: [5, 3] is not a period; allowed: [first day, last day]",
        ),
        (
            "[items.gold_kg]\ncost = 3",
            "items: 'gold_kg' is not a known item; allowed: green_coffee_kg, roasted_coffee_kg, ",
        ),
        (
            "[recipes.roasted_coffee_kg]\nlag = 3",
            "recipes: 'roasted_coffee_kg' is not a known item (did you mean 'green_coffee_kg'?); "
            "allowed: green_coffee_kg, green_specialty_kg",
        ),
        (
            "[recipes.green_coffee_kg]\nyield = 1.5",
            "recipes.green_coffee_kg.yield: 1.5 does not fit; allowed: a number above 0 and at mo",
        ),
        (
            '[[routers]]\nname = "r"\nrule = "fastest"',
            "routers.r.rule: 'fastest' is not a known rule",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_the_values_that_do(tmp_path, text, message):
    assert refusal(tmp_path, text).startswith(message)


def test_an_unknown_strategy_lists_the_known_ones_and_names_the_firm(tmp_path):
    text = THREE.replace('"Bo"', '"Bo"\nstrategy = "heuristics"')
    assert refusal(tmp_path, text) == (
        "firms.Bo.strategy: 'heuristics' is not a known strategy (did you mean 'heuristic'?); "
        "allowed: passive, heuristic, repaired, scripted, managed, importing, informed, random, "
        "human, your own as module:Class or path.py:Class, or a trained policy as policy:FOLDER"
    )


def test_a_missing_role_names_what_to_add(tmp_path):
    text = THREE.partition('[[firms]]\nname = "Cy"')[0]
    assert refusal(tmp_path, text) == (
        'firms: missing role: there is no retailer; add [[firms]] with role = "retailer"'
    )


def test_a_league_without_firms_is_refused(tmp_path):
    assert refusal(tmp_path, "firms = []").startswith("firms: the league has no firms; add ")


def test_an_unknown_role_is_refused(tmp_path):
    text = THREE.replace('"roaster"', '"baker"')
    message = "firms.Bo.role: 'baker' is not a known role; allowed: farmer, roaster, retailer"
    assert refusal(tmp_path, text) == message


@pytest.mark.parametrize("key", ["cash", "opex"])
def test_negative_money_is_refused(tmp_path, key):
    text = THREE.replace('"Ada"', f'"Ada"\n{key} = -0.01')
    message = f"firms.Ada.{key}: -0.01 does not fit; allowed: a number from 0 to 1000000000"
    assert refusal(tmp_path, text) == message


def test_negative_and_unknown_stock_is_refused(tmp_path):
    text = THREE.replace('"Ada"', '"Ada"\nstock = { green_coffee_kg = -1 }')
    message = "firms.Ada.stock.green_coffee_kg: -1 does not fit; allowed: a whole number of at le"
    assert refusal(tmp_path, text).startswith(message)
    text = THREE.replace('"Ada"', '"Ada"\nstock = { green_coffee = 1 }')
    message = "firms.Ada.stock: 'green_coffee' is not a known item (did you mean 'green_coffee_kg"
    assert refusal(tmp_path, text).startswith(message)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("sede = 3", "sede: 'sede' is not a known key (did you mean 'seed'?); allowed: format, "),
        ("[economy]\nspoilage = 0", "economy.spoilage: 'spoilage' is not a known key (did you "),
        (
            '[[firms]]\nnam = "Ada"\nrole = "farmer"',
            "firms[1].nam: 'nam' is not a known key (did you mean 'name'?); allowed: name, role, ",
        ),
        ("[items.green_coffee_kg]\nprice = 3", "items.green_coffee_kg.price: 'price' is not a "),
    ],
)
def test_an_unknown_key_is_refused_with_the_key_that_was_probably_meant(tmp_path, text, start):
    assert refusal(tmp_path, text).startswith(start)


def test_the_other_problems_of_a_file_are_counted(tmp_path):
    message = refusal(tmp_path, "seed = 'x'\ndays = 0\nhosts = 0")
    assert message.startswith("seed: ") and message.endswith(" (and 2 more)")


def test_a_missing_key_is_named(tmp_path):
    assert refusal(
        tmp_path, '[[firms]]\nname = "Ada"'
    ) == "firms.Ada.role: is missing; give it a v" + ("alue")


def test_an_unknown_firm_in_stop_when_bankrupt_is_refused(tmp_path):
    assert refusal(tmp_path, 'stop_when_bankrupt = "roaster_C"') == (
        "stop_when_bankrupt: 'roaster_C' is not a known firm (did you mean 'roaster_B'?); allowed: "
        "farmer_A, farmer_B, roaster_A, roaster_B, retailer_A, retailer_B"
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('town = "Kiel"', "firms.Bo.town: 'Kiel' is not a known town; allowed: town"),
        (
            'controller = "buyer"',
            "firms.Bo.controller: 'buyer' is not a known controller; allowed: none; "
            "add [[controllers]] with that name",
        ),
        ("host = 2", "firms.Bo.host: there is no host 2; allowed: 0 to 1, or raise hosts"),
    ],
)
def test_what_a_firm_refers_to_must_be_there(tmp_path, line, message):
    assert refusal(tmp_path, THREE.replace('"Bo"', f'"Bo"\n{line}')) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (THREE.replace("Bo", "Ada"), "firms.Ada.name: the name 'Ada' is used twice; names must be"),
        (
            THREE + '[[routers]]\nname = "Ada"',
            "routers.Ada.name: the name 'Ada' is used twice (also in firms); names must be unique",
        ),
        (THREE.replace("Bo", "exchange"), "firms.exchange.name: the name 'exchange' is taken by t"),
        (
            '[[towns]]\nname = "Kiel"\n[[towns]]\nname = "Kiel"',
            "towns.Kiel.name: the name 'Kiel' is used twice",
        ),
    ],
)
def test_names_are_unique(tmp_path, text, message):
    assert refusal(tmp_path, text).startswith(message)


@pytest.mark.parametrize("placement", ["one", "packed"])
def test_a_human_cannot_play_where_there_is_no_terminal(tmp_path, placement):
    text = f'placement = "{placement}"\n' + THREE.replace('"Bo"', '"Bo"\nstrategy = "human"')
    assert refusal(tmp_path, text) == (
        f"placement: '{placement}' has no terminal for Bo, which a human plays; "
        "allowed: inline, auto"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[generate]\nfirms = 2", "generate.firms: 2 does not fit; allowed: a whole number from 3"),
        ("[generate]\nfirms = 9\nroasters = 0", "generate.roasters: 0 does not fit; allowed: a nu"),
        ("[generate]\nfirms = 8\ntowns = 3", "generate: 8 firms are too few for 3 towns; each to"),
        ("[generate]\nfirms = 9\n" + THREE, "generate: [[firms]] and [generate] exclude each oth"),
        (
            '[generate]\nfirms = 9\n[[towns]]\nname = "Kiel"',
            "towns: [generate] makes the towns itself: set generate.towns and remove [[towns]]",
        ),
        ('[generate]\nfirms = 9\nstrategy = "human"', 'generate: strategy = "human" is for singl'),
    ],
)
def test_a_generator_that_cannot_work_is_refused(tmp_path, text, message):
    assert refusal(tmp_path, text).startswith(message)


def test_a_file_from_a_newer_version_says_how_to_read_it(tmp_path):
    # Keys that only the newer version knows must not hide the reason.
    assert refusal(tmp_path, 'format = 2\nweather = "rain"') == (
        "format: 2 is newer than this hanse reads; "
        "allowed: 1 (or upgrade: pip install --upgrade hanse)"
    )


@pytest.mark.parametrize("value", ["0", '"1"', "true"])
def test_a_format_that_never_was_is_refused(tmp_path, value):
    assert refusal(tmp_path, f"format = {value}").startswith("format: ")


def test_a_toml_error_names_line_and_column(tmp_path):
    message = refusal(tmp_path, "seed = 1\ndays = = 3\n")
    assert re.fullmatch(r"not valid TOML: .*\(at line 2, column 8\); mend that line", message)


def test_a_key_that_is_given_twice_is_refused(tmp_path):
    assert refusal(tmp_path, "seed = 1\nseed = 2\n").startswith("not valid TOML: cannot overwrite")


def test_a_file_that_is_not_text_is_refused(tmp_path):
    file = tmp_path / "run.toml"
    file.write_bytes(b"seed = 1\n\xff")
    with pytest.raises(HanseError, match="byte 9 is not UTF-8; save the file as UTF-8 text"):
        load(file)


def test_a_missing_file_says_how_to_make_one(tmp_path):
    file = tmp_path / "absent.toml"
    with pytest.raises(HanseError) as error:
        load(file)
    assert str(error.value) == (f"{file}: there is no such file; write one with: hanse new {file}")


def test_a_folder_in_place_of_a_file_is_refused(tmp_path):
    with pytest.raises(HanseError, match="this is a folder; name the run file in it"):
        load(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text("")
    file.chmod(0)
    with pytest.raises(HanseError, match="cannot be read: Permission denied"):
        load(file)


def test_plain_data_from_elsewhere_is_refused_under_its_own_name():
    with pytest.raises(HanseError, match=r"^runs/x/manifest\.json: days: "):
        RunConfig.parse({"days": None}, "runs/x/manifest.json")

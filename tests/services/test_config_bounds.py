"""Numbers out of all proportion and values that JSON cannot hold are refused with their key."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.league import League
from services.config import RunConfig, load
from services.errors import HanseError
from tests.services.test_config_errors import THREE, refusal

TABLES = {
    "economy": [
        *("return_window_days", "roast_cap_kg", "demand_sigma", "market_cap", "festival_factor"),
        *("credit_limit", "listing_days", "max_terms_days", "freight_days", "freight_per_kg"),
    ],
    "items.roasted_coffee_kg": [
        *("cost", "daily_cap", "reservation_price", "demand_base", "floor"),
    ],
    "recipes.green_coffee_kg": ["labour", "lag"],
}
HUGE = "1" + "0" * 31


@pytest.mark.parametrize(
    ("table", "key"), [(table, key) for table, keys in TABLES.items() for key in keys]
)
def test_a_number_out_of_all_proportion_is_refused(tmp_path: Path, table: str, key: str) -> None:
    message = refusal(tmp_path, f"{THREE}\n[{table}]\n{key} = {HUGE}")
    assert message.startswith(f"{table}.{key}: {HUGE} does not fit; allowed: a ")


@pytest.mark.parametrize("key", ["cash", "opex", "stock_cap", "stock.green_coffee_kg"])
def test_so_is_one_in_a_firm(tmp_path: Path, key: str) -> None:
    text = THREE.replace('name = "Bo"', f'name = "Bo"\n{key} = {HUGE}')
    assert refusal(tmp_path, text).startswith(f"firms.Bo.{key}: ")


@pytest.mark.parametrize("line", ["turn_timeout = 86401", "mailbox_limit = 10_000_000_000"])
def test_so_is_one_of_the_run(tmp_path: Path, line: str) -> None:
    assert " does not fit; allowed: a" in refusal(tmp_path, f"{line}\n{THREE}")


@pytest.mark.parametrize("text", ["x = " + "9" * 5000, "x = " + "[" * 5000])
def test_thousands_of_digits_or_brackets_are_refused(tmp_path: Path, text: str) -> None:
    assert "mend that" in refusal(tmp_path, text)


def test_the_largest_numbers_that_are_allowed_can_be_played(tmp_path: Path) -> None:
    firm = "cash = 1e9\nopex = 1e9\nstock_cap = 10_000_000\nstock = { %s = 10_000_000 }"
    text = "days = 3\nplacement = 'inline'\n" + THREE
    for name, item in (("Ada", "green_coffee_kg"), ("Bo", "roasted_coffee_kg")):
        text = text.replace(f'"{name}"', f'"{name}"\n{firm % item}')
    most = {
        "economy": "market_cap = 1e6\ncredit_limit = 1e9\nroast_cap_kg = 10_000_000\n"
        "festival_days = [0, 1]\nfestival_factor = 1000",
        "items.green_coffee_kg": "cost = 10_000\ndaily_cap = 10_000_000",
        "items.roasted_coffee_kg": "reservation_price = 10_000\ndemand_base = 1e6\nfloor = 1e6",
        "recipes.green_coffee_kg": "labour = 10_000\nlag = 3660",
    }
    text += "".join(f"\n[{table}]\n{lines}" for table, lines in most.items())
    (tmp_path / "run.toml").write_text(text)
    with League.create(load(tmp_path / "run.toml"), tmp_path / "run") as league:
        assert league.run().days == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("x = nan", "x: nan does not fit; allowed: a finite number"),
        ("x = [1, -inf]", "x[2]: -inf does not fit; allowed: a finite number"),
        ("x.y = 1979-05-27", "x.y: 1979-05-27 is a date or time; write it as text in quotes"),
        ("x = { y = [07:32:00] }", "x.y[1]: 07:32:00 is a date or time; write it as text in quo"),
        (f"x = {HUGE}", "x: the number is too large; allowed: 64 bits"),
        ("x = " + "[" * 40 + "]" * 40, "x" + "[1]" * 16 + ": is nested too deep; allowed: up to"),
    ],
)
def test_an_option_that_a_manifest_cannot_hold_is_refused(
    tmp_path: Path, options: str, message: str
) -> None:
    # Through a manifest it would come back as something else, or not at all.
    text = THREE + f"options.{options}"
    assert refusal(tmp_path, text).startswith(f"firms.Cy.options.{message}")


@pytest.mark.parametrize("value", [None, (1, 2), {1: 2}, "\ud800", b"x"])
def test_nor_is_one_accepted_from_a_program(value: object) -> None:
    firms = [
        {"name": role, "role": role, "options": {"x": value}}
        for role in ("farmer", "roaster", "retailer")
    ]
    with pytest.raises(HanseError, match=r"^test: firms\.farmer\.options\.x: "):
        RunConfig.parse({"firms": firms}, "test")


def test_plain_options_come_back_from_a_manifest_as_they_were(tmp_path: Path) -> None:
    options = 'options = { a = "ü", b = -9_223_372_036_854_775_808, c = 1.5, d = [true, { e = 1 }]}'
    (tmp_path / "run.toml").write_text(THREE + options)
    config = load(tmp_path / "run.toml")
    assert RunConfig.parse(config.dump(), "manifest").firms[2].options == config.firms[2].options


TOWNS = '\n[[towns]]\nname = "Kiel"\n[[towns]]\nname = "Visby"\n'


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("partners = 5", "partners: is a table with keys of its own, not 5"),
        ("partners.Kiel = 5", "partners.Kiel: 5 does not fit; allowed: text in quotes"),
        ('partners.Kiel = "Vis"', "partners.Kiel: 'Vis' is not a known town (did you mean 'Visby'"),
        ('partners.Lund = "Kiel"', "partners.Lund: 'Lund' is not a known town; allowed: Kiel, "),
        ("partner = {}", "partner: 'partner' is not a known key (did you mean 'partners'?)"),
    ],
)
def test_the_options_of_a_router_are_checked(tmp_path: Path, options: str, message: str) -> None:
    text = f'{THREE}{TOWNS}[[routers]]\nname = "cog"\nrule = "direct"\noptions.{options}'
    assert refusal(tmp_path, text).startswith(f"routers.cog.options.{message}")


def test_a_router_between_generated_towns_may_name_them() -> None:
    values = {"generate": {"firms": 6, "towns": 2}}
    for partner, accepted in (("town_2", True), ("town_3", False)):
        router = {"name": "cog", "options": {"partners": {"town_1": partner}}}
        try:
            RunConfig.parse({**values, "routers": [router]}, "test")
        except HanseError as error:
            assert not accepted and "allowed: town_1, town_2" in str(error)
        else:
            assert accepted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("green_coffee_kg = 5", ".green_coffee_kg: is a table with keys of its own, not 5"),
        ("green_coffee_kg.reorder_at = 5", ".green_coffee_kg.up_to: is missing"),
        (
            "green_coffee_kg = { reorder_at = 'a', up_to = 1 }",
            ".green_coffee_kg.reorder_at: 'a' does not fit; allowed: a whole number from 0 to",
        ),
        (
            "green_coffee_kg = { reorder_at = 5, up_to = 5 }",
            ".green_coffee_kg: up_to = 5 must be above reorder_at = 5",
        ),
        ("tea = { reorder_at = 1, up_to = 2 }", ": 'tea' is not a known item; allowed: green_cof"),
    ],
)
def test_the_options_of_a_controller_are_checked(
    tmp_path: Path, options: str, message: str
) -> None:
    text = f'{THREE}[[controllers]]\nname = "buyer"\noptions.{options}'
    assert refusal(tmp_path, text).startswith(f"controllers.buyer.options{message}")


def test_a_managed_firm_names_a_controller_that_there_is(tmp_path: Path) -> None:
    text = THREE.replace('"Bo"', '"Bo"\nstrategy = "managed"\noptions.controller = "byer"')
    text += '[[controllers]]\nname = "buyer"\n'
    assert refusal(tmp_path, text) == (
        "firms.Bo.options.controller: 'byer' is not a known controller (did you mean 'buyer'?);"
        " allowed: buyer"
    )

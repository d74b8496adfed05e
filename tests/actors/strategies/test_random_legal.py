"""Random commands: the fuzzer that plays."""

from __future__ import annotations

from collections import Counter

from actors.strategies.random import RandomLegal
from services.economy.commands import Command, ViewTrialBalance
from services.economy.results import Result, TrialBalance
from services.economy.setup import TownSetup
from tests.actors.strategies.turns import Turns
from tests.services.economy.driving import Play, play


def game(spice: float, days: int = 12) -> Play:
    return play(TownSetup(seed=4, days=days), "random", seed=4, spice=spice).run()


def outcomes(of: Play) -> Counter[tuple[str, str]]:
    return Counter(
        (body["tool"], body["status"]) for kind, _, body in of.events if kind == "action"
    )


def test_the_same_seed_firm_and_day_give_the_same_commands() -> None:
    def said(seed: int, firm: str = "farmer_A", day: int = 3) -> list[Command]:
        turns = Turns(RandomLegal(firm, "farmer"), seed)
        return [turns.next("morning", day=day), *(turns.next() for _ in range(30))]

    assert said(1) == said(1)
    assert said(1) != said(2)
    assert said(1) != said(1, firm="farmer_B")
    assert said(1) != said(1, day=4)


def test_it_uses_what_it_saw_last_and_forgets_it_overnight() -> None:
    turns = Turns(RandomLegal("farmer_A", "farmer", spice=0.0), seed=1)
    books = TrialBalance(
        cash=1, accounts_receivable=0, accounts_payable=0, inventory_value=0,
        stock={"green_coffee_kg": 9}, unit_costs={}, incoming={}, income={}, net_income=0,
    )  # fmt: skip
    turns.next("morning", Result(command="view_trial_balance", ok=True, data=books))
    today = {turns.next().type for _ in range(80)}  # type: ignore[attr-defined]
    assert "post_listing" in today
    turns.next("morning", day=1)
    tomorrow = {turns.next().type for _ in range(80)}  # type: ignore[attr-defined]
    assert "post_listing" not in tomorrow


def test_over_some_days_it_exercises_every_side_of_a_trade() -> None:
    done = outcomes(game(spice=0.0))
    for tool in (
        "produce_item",
        "roast",
        "post_listing",
        "make_offer",
        "accept_offer",
        "pay_invoice",
        "return_shipment",
        "set_retail_price",
        "withdraw_offer",
        "wait_for_next_day",
    ):
        assert done[tool, "success"] > 0, tool


def test_without_spice_most_of_what_it_does_is_legal_and_with_it_much_is_not() -> None:
    def share_refused(spice: float) -> float:
        done = outcomes(game(spice, days=4))
        refused = sum(n for (_, status), n in done.items() if status == "error")
        return refused / done.total()

    assert share_refused(0.0) < 0.1
    assert share_refused(0.9) > 0.6


def test_what_it_says_is_always_a_command_that_fits_its_model() -> None:
    turns = Turns(RandomLegal("roaster_A", "roaster", spice=1.0), seed=2)
    for _ in range(300):
        command = turns.next()
        assert type(command).model_validate(command.model_dump()) == command
    assert isinstance(ViewTrialBalance(), Command)

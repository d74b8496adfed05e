"""A replay of the event log rebuilds the state exactly."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.economy.commands import Command
from services.economy.replay import EventRow, Replay, replay
from services.economy.rules import COFFEEBENCH, HANSE, Rules
from services.economy.setup import TownSetup, standard_firms
from services.economy.town import Town
from services.errors import HanseError
from tests.services.economy.arbitrary import surprises, worlds
from tests.services.economy.driving import Play, play
from tests.services.economy.merchants import merchants

RULES = [pytest.param(rules, id=rules.name) for rules in (HANSE, COFFEEBENCH)]


def scripted(rules: Rules) -> TownSetup:
    return TownSetup(seed=1, days=20, rules=rules)


def stress(rules: Rules) -> TownSetup:
    return TownSetup(
        seed=1,
        days=60,
        rules=rules,
        firms=standard_firms(1_100.0),
        loss_probability=0.10,
        delay_probability=0.25,
    )


@pytest.mark.parametrize("world", [scripted, stress])
@pytest.mark.parametrize("rules", RULES)
def test_the_log_of_the_reference_firms_gives_their_town_again(
    rules: Rules, world: Callable[[Rules], TownSetup]
) -> None:
    setup = world(rules)
    game = play(setup, "scripted").run()
    again = replay(setup, game.rows)
    assert again.dump() == game.town.dump()
    assert any(firm.bankrupt_day is not None for firm in again.firms.values()) == (world is stress)


@given(worlds(), st.integers(0, 999), surprises())
def test_the_log_of_whatever_firms_do_gives_their_town_again(
    setup: TownSetup, seed: int, surprising: list[Command | None]
) -> None:
    game = merchants(setup, seed, surprising).run()
    assert replay(setup, game.rows).dump() == game.town.dump()


@given(worlds(), st.integers(0, 999), st.floats(0, 1))
def test_the_log_of_random_firms_gives_their_town_again(
    setup: TownSetup, seed: int, spice: float
) -> None:
    game = play(setup, "random", seed=seed, spice=spice).run()
    assert replay(setup, game.rows).dump() == game.town.dump()


def test_commands_alone_suffice_for_the_rest_follows_from_them() -> None:
    game = play(scripted(HANSE), "scripted").run()
    commands = [row for row in game.rows if row[5] == "action"]
    assert replay(scripted(HANSE), commands).dump() == game.town.dump()


def test_the_log_of_the_first_days_gives_the_town_as_it_was_then() -> None:
    game = play(scripted(HANSE), "scripted").run(days=7)
    assert replay(scripted(HANSE), game.rows).dump() == game.town.dump()


def test_a_replay_may_go_on_from_the_end_of_any_day() -> None:
    game = play(scripted(HANSE), "scripted").run(days=7)
    past, morning = len(game.rows), game.town.dump()
    game.run()
    player = Replay(scripted(HANSE), Town.load(scripted(HANSE), morning))
    for row in game.rows[past:]:
        player.feed(row)
    player.end_day()
    assert player.town.dump() == game.town.dump()


def test_rows_of_other_agents_are_passed_over() -> None:
    game = play(scripted(HANSE), "scripted").run(days=2)
    others = [(m, r, "exchange_Visby", *rest) for m, r, _, *rest in game.rows]
    mixed = [row for pair in zip(others, game.rows, strict=True) for row in pair]
    assert replay(scripted(HANSE), mixed).dump() == game.town.dump()  # type: ignore[arg-type]


def test_an_empty_log_is_a_town_before_its_first_morning() -> None:
    assert replay(scripted(HANSE), []).dump() == Town(scripted(HANSE)).dump()


# ---- a log that does not fit ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_days() -> Play:
    return play(scripted(HANSE), "scripted").run(days=2)


def changed(row: EventRow, **body: Any) -> EventRow:
    return (*row[:7], json.dumps(json.loads(row[7]) | body))


def actions(game: Play) -> list[int]:
    """Where in the log the actions stand."""
    return [at for at, row in enumerate(game.rows) if row[5] == "action"]


def refused(rows: list[EventRow], setup: TownSetup | None = None) -> str:
    with pytest.raises(HanseError) as error:
        replay(setup or scripted(HANSE), rows)
    message = str(error.value)
    assert message.startswith("event log: row exchange#") and "\n" not in message
    return message


def test_a_row_of_another_firm_is_named(two_days: Play) -> None:
    at = actions(two_days)[30]
    rows: list[EventRow] = list(two_days.rows)
    rows[at] = (*rows[at][:6], "farmer_C", rows[at][7])
    message = refused(rows)
    assert f"row exchange#{at + 1} (action of farmer_C, day 0, " in message
    assert "turn, not farmer_C's" in message


def test_a_row_that_is_missing_is_noticed_at_the_next_one(two_days: Play) -> None:
    at = actions(two_days)[30]
    assert "turn" in refused(two_days.rows[:at] + two_days.rows[at + 1 :])


def test_a_log_that_ends_too_soon_is_noticed(two_days: Play) -> None:
    last = actions(two_days)[-1]
    assert "turn is missing in the log" in refused(two_days.rows[:last])


def test_an_outcome_that_the_rules_do_not_give_is_named(two_days: Play) -> None:
    at = actions(two_days)[10]
    rows = list(two_days.rows)
    rows[at] = changed(rows[at], status="error", error_code="inventory_cap")
    assert "inventory_cap" in refused(rows)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ({"tool": "steal"}, "there is no command 'steal'"),
        ({"tool": "roast", "args": {}}, "roast: Field required"),
        ({"tool": "roast", "args": {"green_item_id": "x", "qty_kg": "many"}}, "roast: Input"),
        ({"seq": 999}, "the log has (999, "),
    ],
)
def test_a_row_that_holds_no_command_is_named(
    two_days: Play, body: dict[str, Any], complaint: str
) -> None:
    at = actions(two_days)[10]
    rows = list(two_days.rows)
    rows[at] = changed(rows[at], **body)
    assert complaint in refused(rows)


def test_a_turn_that_nobody_had_cannot_have_been_missed(two_days: Play) -> None:
    at = actions(two_days)[0]
    row = (540, 0, "exchange", 999, None, "turn_missed", "farmer_C", "{}")
    assert "farmer_C has no turn to miss" in refused([*two_days.rows[:at], row])


def test_the_log_of_another_seed_does_not_fit(two_days: Play) -> None:
    refused(two_days.rows, TownSetup(seed=2, days=20))


def test_a_log_that_goes_on_after_the_town_has_closed_does_not_fit() -> None:
    short = TownSetup(seed=1, days=1)
    game = play(TownSetup(seed=1, days=2), "scripted").run()
    assert "it is nobody's turn" in refused(game.rows, short)

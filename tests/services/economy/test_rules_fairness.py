"""Rules `coffeebench` and `hanse`: same seed, same run; nobody first by name; luck of one's own.

W1, W2, W3, the order of bankruptcies and the path-dependent luck of `services/economy/RULES.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from services.economy.catalogue import GREEN, ROASTED
from services.economy.commands import SendMessage, ViewPayables, ViewTrialBalance, WaitForNextDay
from services.economy.results import InvoicesView
from services.economy.rules import COFFEEBENCH, HANSE, Rules
from services.economy.setup import FirmSetup, TownSetup, standard_firms
from services.economy.town import Town, Turn
from services.economy.world import Event
from tests.parity.play import Course, drive
from tests.parity.reference import read_reference
from tests.services.economy.by_hand import (
    advance,
    calm_town,
    do,
    evening,
    events,
    firms,
    morning,
    trade,
)
from tests.services.economy.driving import Play, play

BOTH = pytest.mark.parametrize("rules", [HANSE, COFFEEBENCH], ids=lambda r: r.name)
DATA = Path(__file__).parents[2] / "data" / "coffeebench"


@cache
def scripted(rules: Rules, days: int = 90, seed: int = 0) -> Play:
    """The six scripted firms, played to the end."""
    return play(TownSetup(rules=rules, days=days, seed=seed), "scripted").run()


@cache
def reference_course(seed: int) -> Course:
    """The reference world of all scripted firms."""
    return drive(read_reference(DATA / f"seed{seed}" / "all_scripted"))


# ---- W1: the same seed gives the same run --------------------------------------------------------


@BOTH
def test_w1_two_runs_of_a_seed_are_the_same_to_the_last_row(rules: Rules) -> None:
    one = play(TownSetup(rules=rules, days=30), "scripted").run()
    other = play(TownSetup(rules=rules, days=30), "scripted").run()
    assert (one.events, one.ledger, one.town.state) == (
        (other.events, other.ledger, other.town.state)
    )


@BOTH
def test_w1_identifiers_count_up_by_kind(rules: Rules) -> None:
    deals = [body["deal"] for kind, _, body in scripted(rules).events if kind == "deal"]  # type: ignore[index]
    assert deals == [f"D{number}" for number in range(1, len(deals) + 1)]


@BOTH
def test_w1_invoices_of_one_due_day_are_listed_in_the_order_of_their_making(rules: Rules) -> None:
    """The original sorted them by their random identifiers."""
    town = calm_town(rules)
    morning(town, 0)
    for _ in range(11):
        trade(town, "farmer_A", "roaster_A", GREEN, 1, 4.0)
    morning(town, 1)
    view = do(town, "roaster_A", ViewPayables()).data
    assert isinstance(view, InvoicesView)
    assert [row.id for row in view.rows] == [f"I{number}" for number in range(1, 12)]


# ---- W2: the order of dispatch -------------------------------------------------------------------


def incomes(rules: Rules, firms: tuple[FirmSetup, ...]) -> dict[str, float]:
    """Net incomes of the scripted firms in a town without luck."""
    town = calm_town(rules, firms=firms)
    play(town.setup, "scripted", town=town).run()
    return {name: town.statement(name).net_income for name in sorted(town.firms)}


def test_w2_in_the_original_the_order_of_the_firms_decides_who_earns_what() -> None:
    forward = incomes(COFFEEBENCH, standard_firms())
    backward = incomes(COFFEEBENCH, tuple(reversed(standard_firms())))
    assert max(abs(forward[name] - backward[name]) for name in forward) > 1000


def test_w2_under_hanse_the_order_of_the_firms_makes_no_difference_at_all() -> None:
    assert incomes(HANSE, standard_firms()) == incomes(HANSE, tuple(reversed(standard_firms())))


def precedence(rules: Rules, first: str, second: str, days: int = 90) -> float:
    """How often one firm comes before another when both are asked in the same minute."""
    town = calm_town(rules)
    before = together = 0
    while (minute := town.next_minute()) is not None and minute < days * 1440:
        turns = [turn.firm for turn in town.advance(minute)]
        if first in turns and second in turns:
            together += 1
            before += turns.index(first) < turns.index(second)
        for name in turns:
            town.apply(name, ViewTrialBalance())
    assert together == days * 20
    return before / together


def test_w2_in_the_original_roaster_a_always_precedes_roaster_b() -> None:
    assert precedence(COFFEEBENCH, "roaster_A", "roaster_B", days=5) == 1.0


def test_w2_under_hanse_each_comes_first_half_of_the_time() -> None:
    for pair in (("roaster_A", "roaster_B"), ("farmer_A", "retailer_B")):
        assert 0.46 < precedence(HANSE, *pair) < 0.54  # 1,800 draws: three standard deviations


def test_w2_who_of_two_comes_first_hangs_on_nobody_elses_being_there() -> None:
    full, small = calm_town(), calm_town(firms=standard_firms()[1:4])
    names = {firm.name for firm in small.setup.firms}
    for day in range(20):
        everybody = [turn.firm for turn in morning(full, day)]
        assert [name for name in everybody if name in names] == [
            turn.firm for turn in morning(small, day)
        ]


# ---- W3: the limit of calls ----------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "most"), [(0, 23), (1, 26)])
def test_w3_in_the_original_firms_get_more_than_twenty_calls_a_day(seed: int, most: int) -> None:
    calls = Counter((call["agent"], call["day"]) for call in reference_course(seed).actions)
    assert max(calls.values()) == most
    if seed == 0:
        assert sum(number > 20 for number in calls.values()) == 35


def test_w3_under_hanse_twenty_calls_a_day_are_the_most() -> None:
    """Also where every firm calls whenever it is asked and writes to the others all day long."""
    town = calm_town()
    calls: Counter[tuple[str, int]] = Counter()
    names = list(town.firms)
    while (minute := town.next_minute()) is not None and minute < 3 * 1440:
        for number, turn in enumerate(town.advance(minute)):
            other = names[names.index(turn.firm) - 1 - number % 3]
            town.apply(turn.firm, SendMessage(recipient=other, title="up", body="wake up"))
            calls[turn.firm, town.state.day] += 1
    assert set(calls.values()) == {20}


def second_turn(rules: Rules, waits: bool) -> int:
    """The minute of roaster A's next turn after one at 09:00 and a letter in that minute."""
    town = calm_town(rules)
    for turn in morning(town, 0):
        command = WaitForNextDay() if waits or turn.firm != "roaster_A" else ViewTrialBalance()
        town.apply(turn.firm, command)
    do(town, "farmer_A", SendMessage(recipient="roaster_A", title="up", body="wake up"))
    while (minute := town.next_minute()) is not None:
        if Turn("roaster_A", "message") in town.advance(minute):
            return minute
    raise AssertionError("the letter was in vain")


@pytest.mark.parametrize("waits", [False, True])
def test_w3_a_letter_gives_a_firm_a_second_turn_in_the_same_minute_only_in_the_original(
    waits: bool,
) -> None:
    assert second_turn(COFFEEBENCH, waits) == 540
    assert second_turn(HANSE, waits) == 570


def test_w3_after_its_last_call_nothing_calls_a_firm_back_before_the_morning() -> None:
    town = calm_town(replace(HANSE, calls_per_day=2))
    for first_minute in (540, 570):
        for turn in advance(town, first_minute):
            used = turn.firm == "roaster_A"
            town.apply(turn.firm, ViewTrialBalance() if used else WaitForNextDay())
    do(town, "farmer_A", SendMessage(recipient="roaster_A", title="up", body="wake up"))
    while (minute := town.next_minute()) is not None and minute < 1140:
        assert "roaster_A" not in [turn.firm for turn in town.advance(minute)]
    assert Turn("roaster_A", "morning") in morning(town, 1)


# ---- bankruptcies of the same minute -------------------------------------------------------------


def failing_pair(rules: Rules, backward: bool = False) -> Town:
    """A farmer and a roaster fail together on day 2; the roaster owes the farmer 100.00.

    Both have had running costs of 90 by then, and the farmer's 20 kg had cost it 40.
    """
    pair = {name: {"cash": 70.0, "opex": 30.0} for name in ("farmer_A", "roaster_A")}
    people = firms(**pair)
    town = calm_town(rules, firms=people[::-1] if backward else people)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 5.0)
    morning(town, 2)
    assert [name for name, firm in town.firms.items() if not firm.live] == (
        ["roaster_A", "farmer_A"] if backward else ["farmer_A", "roaster_A"]
    )
    return town


def equity_changes(town: Town) -> tuple[float, float]:
    """How farmer A's and roaster A's equity had changed when they went bankrupt."""
    return (
        town.statement("farmer_A").equity_change,
        town.statement("roaster_A").equity_change,
    )


def test_order_in_the_original_who_is_declared_bankrupt_first_keeps_its_claims() -> None:
    assert equity_changes(failing_pair(COFFEEBENCH)) == (-90 + 60, -90)
    assert equity_changes(failing_pair(COFFEEBENCH, backward=True)) == (-90 - 40, -90)


def test_order_one_by_one_even_a_frozen_score_hangs_on_the_order_of_the_firms() -> None:
    one_by_one = replace(HANSE, bankruptcies_together=False)
    scores = [
        failing_pair(one_by_one, backward).statement("farmer_A").net_income
        for backward in (False, True)
    ]
    assert scores == [-90 + 60, -90 - 40]


@pytest.mark.parametrize("backward", [False, True])
def test_order_under_hanse_firms_fail_together_with_what_they_owe_each_other(
    backward: bool,
) -> None:
    town = failing_pair(HANSE, backward)
    assert equity_changes(town) == (-90 - 40, -90)
    for name in ("farmer_A", "roaster_A"):
        told = town.statement(name)
        assert told.net_income == told.equity_change
        assert town.firms[name].balances["estate"] == 0, "the loss came before the freezing"
    assert [e["firm"] for e in events(town, "bankruptcy")] == ["farmer_A", "roaster_A"]


def test_order_under_hanse_overvalued_stock_does_not_outlive_its_owner() -> None:
    """Two firms without a dollar agree on 7,500 for a kilogram; it arrives on the day they fail."""
    for rules, together in ((replace(HANSE, stock_written_down=False), 0), (HANSE, 15_000)):
        pair = {name: {"cash": 40.0, "opex": 30.0} for name in ("farmer_A", "roaster_A")}
        town = calm_town(rules, firms=firms(**pair))
        morning(town, 0)
        trade(town, "farmer_A", "roaster_A", GREEN, 2, 7_500.0)
        morning(town, 1)
        farmer, roaster = (town.statement(name).net_income for name in pair)
        assert farmer == -60 - 2 * 2, "it has lost its claim and its goods"
        assert roaster == pytest.approx(-60 - together, abs=50)  # the goods are worth something


@pytest.mark.parametrize("backward", [False, True])
def test_order_under_hanse_goods_that_turn_back_do_not_cost_a_seller_its_morning(
    backward: bool,
) -> None:
    people = firms(roaster_A={"cash": 30.0}, farmer_A={"cash": 20.0})
    town = calm_town(delay_probability=1.0, firms=people[::-1] if backward else people)
    morning(town, 0)
    trade(town, "farmer_B", "roaster_A", GREEN, 20, 4.0)
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    evening(town, 0)
    turns = []
    while (minute := town.next_minute()) is not None and minute < 2 * 1440:
        asked = town.advance(minute)
        turns += [turn for turn in asked if turn.firm == "farmer_B"]
        for turn in asked:
            town.apply(turn.firm, WaitForNextDay())
    assert turns == [Turn("farmer_B", "morning")], "and no second turn for it"
    assert "D1 comes back: roaster_A is bankrupt" in town.firms["farmer_B"].notices
    assert town.firms["farmer_A"].on_hand >= 50, "a bankrupt seller's goods come back as well"


# ---- luck ----------------------------------------------------------------------------------------


def fate_of_the_last(rules: Rules, others: int) -> float:
    """What was drawn for farmer A's delivery to roaster A after deliveries between others."""
    town = calm_town(rules)
    morning(town, 0)
    for _ in range(others):
        trade(town, "farmer_B", "roaster_B", GREEN, 1, 4.0)
    trade(town, "farmer_A", "roaster_A", GREEN, 1, 4.0)
    town.drain()
    morning(town, 1)
    return float(events(town, "delivery")[-1]["uniform"])


def test_luck_in_the_original_one_firms_deals_change_the_fate_of_anothers() -> None:
    assert len({fate_of_the_last(COFFEEBENCH, others) for others in range(4)}) == 4


def test_luck_under_hanse_a_deals_fate_hangs_on_its_two_firms_and_its_number_between_them() -> None:
    assert len({fate_of_the_last(HANSE, others) for others in range(4)}) == 1
    luck = calm_town().shipping.luck
    drawn = {luck.shipment("farmer_A", "roaster_A", number) for number in range(50)}
    drawn |= {luck.shipment("farmer_A", "roaster_B", number) for number in range(50)}
    drawn |= {luck.shipment("roaster_A", "farmer_A", number) for number in range(50)}
    assert len(drawn) == 150
    assert 0.4 < sum(drawn) / 150 < 0.6


def until(day: int, game: Play) -> Sequence[Event]:
    """The event log up to the end of a day, without the delivery that follows the very last."""
    ends = [number for number, (kind, _, _) in enumerate(game.events) if kind == "day_end"]
    return game.events[: ends[day] + 1]


def test_luck_a_short_run_is_the_beginning_of_a_long_one_only_under_hanse() -> None:
    for rules, same in ((HANSE, True), (COFFEEBENCH, False)):
        short, long = scripted(rules, 30), scripted(rules, 90)
        assert (until(29, short) == until(29, long)) is same


def test_luck_noise_and_loyalty_have_streams_of_their_own_under_hanse() -> None:
    def draws(rules: Rules, **values: object) -> tuple[float, dict[str, float]]:
        luck = Town(TownSetup(rules=rules, **values)).demand.luck  # type: ignore[arg-type]
        return luck.demand_noise(ROASTED, 3), luck.loyalty

    noise, loyalty = draws(HANSE)
    assert draws(HANSE, days=30) == (noise, loyalty)
    assert draws(HANSE, seed=1)[0] != noise
    assert draws(HANSE, name="elsewhere")[0] != noise
    fewer = draws(HANSE, firms=standard_firms()[:5])[1]
    assert fewer == {"retailer_A": loyalty["retailer_A"]}
    theirs = draws(COFFEEBENCH)
    assert draws(COFFEEBENCH, days=30)[1] != theirs[1], "in the original the days move the stream"

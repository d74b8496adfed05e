"""Rules `coffeebench` and `hanse`: what is told, bankruptcy, early stop, refunds, shipments, fees.

W4 to W10 of `services/economy/RULES.md`. In each test the original's behaviour comes first.
"""

from __future__ import annotations

import pytest

from services.economy.catalogue import GREEN, ROASTED
from services.economy.commands import (
    AcceptOffer,
    MakeOffer,
    PayInvoice,
    PostListing,
    ReturnShipment,
    ViewDeals,
    ViewTrialBalance,
)
from services.economy.results import DealsView
from services.economy.rules import COFFEEBENCH, HANSE, Rules
from services.economy.town import Town, Turn
from tests.services.economy.by_hand import (
    advance,
    balance,
    bid,
    calm_town,
    cash,
    do,
    evening,
    events,
    firms,
    income,
    made,
    morning,
    notices,
    refusal,
    trade,
)

# ---- W4: what happened since yesterday -----------------------------------------------------------


def seen_by_an_active_shop(rules: Rules) -> tuple[int, int]:
    """How many deals and sales of yesterday a shop is shown that was active yesterday."""
    town = calm_town(rules)
    morning(town, 0)
    trade(town, "roaster_A", "retailer_A", ROASTED, 5, 9.8)
    do(town, "retailer_A", ViewTrialBalance())
    morning(town, 1)
    seen = town.observe("retailer_A", "morning")
    return len(seen.recent_deals), len(seen.recent_sales)


def test_w4_in_the_original_a_firm_that_was_active_yesterday_is_shown_nothing_of_it() -> None:
    assert seen_by_an_active_shop(COFFEEBENCH) == (0, 0)


def test_w4_under_hanse_yesterday_is_shown_to_everybody() -> None:
    assert seen_by_an_active_shop(HANSE) == (1, 1)


# ---- W5: income after bankruptcy -----------------------------------------------------------------


def income_before_and_after_the_end(rules: Rules) -> tuple[float, float, Town]:
    """A farmer fails on day 1 with a shipment on the road, which arrives on day 2."""
    town = calm_town(rules, firms=firms(farmer_A={"cash": 30.0}), delay_probability=1.0)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    morning(town, 1)
    assert not town.firms["farmer_A"].live
    before = income(town, "farmer_A")
    town.shipping.luck.shipment = lambda *deal: 1.0  # type: ignore[method-assign]
    morning(town, 2)
    return before, income(town, "farmer_A"), town


def test_w5_in_the_original_the_score_of_a_bankrupt_firm_goes_on_changing() -> None:
    before, after, _ = income_before_and_after_the_end(COFFEEBENCH)
    assert (before, after) == (-50, -50 + 80 - 40)


def test_w5_under_hanse_it_is_frozen_and_the_rest_goes_to_the_estate() -> None:
    before, after, town = income_before_and_after_the_end(HANSE)
    assert before == after == -50
    assert balance(town, "farmer_A", "estate") == -(80 - 40)
    assert town.statement("farmer_A").equity_change == -50
    assert sum(town.firms["farmer_A"].balances.values()) == 0


# ---- W6: a run that ends early -------------------------------------------------------------------


def stopped_on_day_seven(rules: Rules) -> tuple[list[int], int | None]:
    """The days with figures from day 6 on, and the day that is reported as the last."""
    town = calm_town(
        rules, firms=firms(roaster_A={"cash": 7 * 30.0}), stop_when_bankrupt="roaster_A"
    )
    morning(town, 6)
    town.drain()
    advance(town, 10**9)
    assert town.firms["roaster_A"].bankrupt_day == 7
    return sorted({day for day, _, _ in town.drain().figures}), town.state.closed_on


def test_w6_in_the_original_the_last_day_has_no_evening_and_day_89_is_reported() -> None:
    assert stopped_on_day_seven(COFFEEBENCH) == ([6], 89)


def test_w6_under_hanse_the_last_day_is_closed_like_any_other_and_reported() -> None:
    assert stopped_on_day_seven(HANSE) == ([6, 7], 7)


def test_w6_what_is_on_the_road_at_the_end_is_delivered_and_booked_on_the_reported_day() -> None:
    for rules, booked_on in ((COFFEEBENCH, 89), (HANSE, 7)):
        town = calm_town(
            rules,
            firms=firms(roaster_A={"cash": 7 * 30.0}),
            stop_when_bankrupt="roaster_A",
            delay_probability=1.0,
        )
        morning(town, 6)
        trade(town, "farmer_A", "roaster_B", GREEN, 5, 4.0)
        advance(town, 6 * 1440 + 1140)
        town.drain()
        advance(town, 10**9)
        assert [e["day"] for e in events(town, "delivery")][-1] == booked_on


# ---- W7: trade with the bankrupt -----------------------------------------------------------------


def with_a_bankrupt_roaster(rules: Rules) -> Town:
    """Roaster A has a listing (L1), a bid (O2 on L2) and goods on the road when it fails on day 1.

    O1 is retailer A's bid on L1, O3 made the deal.
    """
    town = calm_town(rules, firms=firms(roaster_A={"cash": 30.0}), delay_probability=1.0)
    morning(town, 0)
    bid(town, "roaster_A", "retailer_A", ROASTED, 10, 9.8)
    bid(town, "farmer_A", "roaster_A", GREEN, 10, 4.0)
    trade(town, "farmer_B", "roaster_A", GREEN, 20, 4.2)
    morning(town, 1)
    assert not town.firms["roaster_A"].live
    town.shipping.luck.shipment = lambda *deal: 1.0  # type: ignore[method-assign]
    return town


def test_w7_in_the_original_bankrupt_firms_go_on_trading_and_what_they_owe_then_is_lost() -> None:
    town = with_a_bankrupt_roaster(COFFEEBENCH)
    assert town.state.listings["L1"].status == "open"
    do(town, "farmer_A", AcceptOffer(offer_id="O2"))
    evening(town, 30)
    assert town.firms["roaster_A"].kg[GREEN] == 30
    owed = {i.issuer: i.outstanding() for i in town.state.invoices.values()}
    assert owed == {"farmer_A": 40_000_000, "farmer_B": 84_000_000}, "never to be paid"
    assert balance(town, "farmer_B", "bad_debt_expense") == 0


def test_w7_under_hanse_listings_close_bids_lapse_and_goods_turn_back() -> None:
    town = with_a_bankrupt_roaster(HANSE)
    assert "L1" not in town.state.listings
    assert town.state.offers == {}
    assert refusal(town, "farmer_A", AcceptOffer(offer_id="O2")) == "offer_rejected"
    command = MakeOffer(listing_id="L1", offered_price=9.8, qty=1)
    assert refusal(town, "retailer_A", command) == "listing_closed"
    assert town.firms["farmer_B"].kg[GREEN] == 60
    assert balance(town, "farmer_B", "goods_in_transit") == 0
    assert balance(town, "farmer_B", "inventory") == 120
    assert town.firms["roaster_A"].incoming[GREEN] == 0
    assert "offer O1 has lapsed: roaster_A is bankrupt" in notices(town, "retailer_A")
    assert "D1 comes back: roaster_A is bankrupt" in notices(town, "farmer_B")
    evening(town, 30)
    assert town.state.invoices == {}
    assert town.state.past_deals == {}, "and it was never delivered"


# ---- W8: refunds and returns ---------------------------------------------------------------------


def paid_delivery(rules: Rules, sellers_cash: float) -> Town:
    """Roaster A has paid 80.00 for 20 kg, and the seller then has so much cash on day 1."""
    town = calm_town(rules, firms=firms(farmer_A={"cash": 2_000.0, "opex": 0.0}))
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    morning(town, 1)
    do(town, "roaster_A", PayInvoice(invoice_id="I1"))
    firm = town.firms["farmer_A"]
    spent = firm.cash - round(sellers_cash * 1_000_000)
    town.world.post(firm, "operating_expense", "cash", spent, "test")
    return town


def give_back(qty: int) -> ReturnShipment:
    return ReturnShipment(invoice_id="I1", quantity_kg=qty)


def test_w8_in_the_original_who_returns_goods_to_a_firm_in_debt_pays_that_debt() -> None:
    town = paid_delivery(COFFEEBENCH, -100.0)
    before = cash(town, "roaster_A")
    assert do(town, "roaster_A", give_back(10)).value("refund") == -100.0
    assert cash(town, "roaster_A") == before - 100
    assert cash(town, "farmer_A") == 0


def test_w8_under_hanse_a_refund_is_never_negative() -> None:
    town = paid_delivery(HANSE, -100.0)
    before = cash(town, "roaster_A")
    assert do(town, "roaster_A", give_back(10)).value("refund") == 0.0
    assert cash(town, "roaster_A") == before
    assert cash(town, "farmer_A") == -100


def test_w8_under_hanse_nothing_goes_back_to_a_bankrupt_firm() -> None:
    town = paid_delivery(HANSE, -100.0)
    morning(town, 2)
    assert not town.firms["farmer_A"].live
    assert refusal(town, "roaster_A", give_back(10)) == "seller_bankrupt"
    town = paid_delivery(COFFEEBENCH, -100.0)
    morning(town, 2)
    do(town, "roaster_A", give_back(10))


def test_w8_what_a_seller_cannot_refund_is_lost_in_the_original() -> None:
    town = paid_delivery(COFFEEBENCH, 15.0)
    assert do(town, "roaster_A", give_back(10)).value("refund") == 15.0
    assert list(town.state.invoices) == []
    assert balance(town, "roaster_A", "accounts_receivable") == 0


def test_w8_what_a_seller_cannot_refund_it_owes_under_hanse() -> None:
    town = paid_delivery(HANSE, 15.0)
    assert do(town, "roaster_A", give_back(10)).value("refund") == 15.0
    owed = town.state.invoices["I2"]
    assert (owed.issuer, owed.payer, owed.due_day) == ("roaster_A", "farmer_A", 31)
    assert owed.outstanding() == 21_000_000  # 10 * 4.00 less a tenth for restocking, less 15
    assert balance(town, "roaster_A", "accounts_receivable") == 21
    assert balance(town, "farmer_A", "accounts_payable") == -21


def returned_to_an_empty_store(rules: Rules) -> Town:
    """Farmer A sells all its 60 kg, which had cost 2.00, and gets 20 kg of them back."""
    town = calm_town(rules, spoilage_per_day=0.0)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 60, 4.0)
    morning(town, 1)
    do(town, "roaster_A", ReturnShipment(invoice_id="I1", quantity_kg=20))
    return town


def test_w8_in_the_original_goods_come_back_at_the_sellers_current_cost_here_for_nothing() -> None:
    town = returned_to_an_empty_store(COFFEEBENCH)
    assert town.firms["farmer_A"].cost[GREEN] == 0
    told = town.statement("farmer_A")
    assert told.net_income - told.equity_change == 40, "ledger and equity part"


def test_w8_under_hanse_goods_come_back_at_the_cost_at_which_they_left() -> None:
    town = returned_to_an_empty_store(HANSE)
    assert town.firms["farmer_A"].cost[GREEN] == 40_000_000
    for name in ("farmer_A", "roaster_A"):
        told = town.statement(name)
        assert told.net_income == told.equity_change
        assert balance(town, name, "reconciliation") == 0


def test_w8_a_buyers_gain_or_loss_by_a_return_reaches_its_income_only_under_hanse() -> None:
    """30 kg at 5.88 and 10 kg at 9.00: returned at the mean of 6.66 for a credit of 9.00 each."""
    for rules, gained in ((COFFEEBENCH, 0.0), (HANSE, 10 * (0.9 * 9.00 - 6.66))):
        town = calm_town(rules, spoilage_per_day=0.0)
        morning(town, 0)
        trade(town, "retailer_A", "roaster_A", ROASTED, 10, 9.0)
        morning(town, 1)
        before = income(town, "roaster_A")
        do(town, "roaster_A", ReturnShipment(invoice_id="I1", quantity_kg=10))
        assert income(town, "roaster_A") - before == pytest.approx(gained)


# ---- W9: late and lost shipments -----------------------------------------------------------------


def shipped(rules: Rules, **values: float) -> Town:
    """Farmer A has sold 20 kg to roaster A; it is the morning of day 1."""
    town = calm_town(rules, **values)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    morning(town, 1)
    return town


def test_w9_in_the_original_a_late_shipment_is_rolled_again_every_day() -> None:
    town = shipped(COFFEEBENCH, delay_probability=1.0)
    morning(town, 10)
    assert town.state.deals["D1"].delays == 10
    assert town.state.luck_draws == 10


def test_w9_under_hanse_a_late_shipment_arrives_the_day_after_for_certain() -> None:
    town = shipped(HANSE, delay_probability=1.0)
    assert town.state.deals["D1"].delays == 1
    town.drain()
    morning(town, 2)
    assert town.state.past_deals["D1"].status == "delivered"
    told = events(town, "delivery")[0]
    assert (told["outcome"], told["uniform"]) == ("delivered", None)


def status_of(town: Town, firm: str) -> str:
    view = do(town, firm, ViewDeals(status="all")).data
    assert isinstance(view, DealsView)
    return view.rows[0].status


@pytest.mark.parametrize("fate", ["lost", "late"])
def test_w9_in_the_original_nobody_is_told_of_a_loss_or_a_delay(fate: str) -> None:
    odds = {"loss_probability": 1.0} if fate == "lost" else {"delay_probability": 1.0}
    town = shipped(COFFEEBENCH, **odds)
    for firm in ("farmer_A", "roaster_A"):
        assert notices(town, firm) == []
        assert status_of(town, firm) == "pending", "a buyer cannot tell late from lost"


def test_w9_under_hanse_both_sides_are_told_of_a_loss_and_the_deal_shows_it() -> None:
    town = shipped(HANSE, loss_probability=1.0)
    for firm in ("farmer_A", "roaster_A"):
        assert notices(town, firm) == [f"shipment D1 (20 kg {GREEN}) was lost on the road"]
        assert status_of(town, firm) == "lost"


def test_w9_under_hanse_both_sides_are_told_of_a_delay_and_until_when() -> None:
    town = shipped(HANSE, delay_probability=1.0)
    for firm in ("farmer_A", "roaster_A"):
        expected = f"shipment D1 (20 kg {GREEN}) is late; it arrives on day 2"
        assert notices(town, firm) == [expected]


def test_w9_under_hanse_the_news_of_a_loss_come_with_the_morning() -> None:
    town = shipped(HANSE, loss_probability=1.0)
    assert town.observe("roaster_A", "morning").notices == (
        f"shipment D1 (20 kg {GREEN}) was lost on the road",
    )
    town = calm_town(HANSE, loss_probability=1.0)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 20, 4.0)
    assert sorted(morning(town, 1)) == sorted(Turn(name, "morning") for name in town.firms)


# ---- W10: late fees ------------------------------------------------------------------------------


def fee_after_a_part_return(rules: Rules) -> int:
    """20 of 50 kg went back: the fee of the first evening after the due day."""
    town = calm_town(rules)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 50, 10.0, terms=0)
    morning(town, 1)
    do(town, "roaster_A", ReturnShipment(invoice_id="I1", quantity_kg=20))
    evening(town, 2)
    return town.state.invoices["I1"].late_fees


def test_w10_in_the_original_the_fee_is_taken_on_the_original_amount() -> None:
    assert fee_after_a_part_return(COFFEEBENCH) == 500_000  # 0.001 * 500


def test_w10_under_hanse_the_fee_is_taken_on_what_is_unpaid() -> None:
    assert fee_after_a_part_return(HANSE) == 320_000  # 0.001 * (500 - 20 * 10 * 0.9)


def test_w10_under_hanse_a_part_payment_lowers_the_fee() -> None:
    town = calm_town(HANSE)
    morning(town, 0)
    trade(town, "farmer_A", "roaster_A", GREEN, 50, 10.0, terms=0)
    morning(town, 1)
    do(town, "roaster_A", PayInvoice(invoice_id="I1", amount=400.0))
    evening(town, 3)
    assert town.state.invoices["I1"].late_fees == 2 * 100_000


def test_a_listing_of_a_firm_that_is_live_stays_open_when_others_fail() -> None:
    town = calm_town(HANSE, firms=firms(roaster_B={"cash": 30.0}))
    morning(town, 0)
    listing = made(town, "roaster_A", PostListing(item_id=ROASTED, qty=5, asking_price=9.8))
    morning(town, 1)
    assert listing in town.state.listings

"""What must hold for every town at any moment. Each check states one identity."""

from __future__ import annotations

from collections import Counter
from typing import Any

from services.economy.money import cents, dollars, micros
from services.economy.setup import TownSetup
from services.economy.state import Deal, FirmState, ForeignOrder, Import
from services.economy.town import Town
from services.economy.world import LedgerEntry

Event = tuple[str, str, dict[str, Any]]


def check_goods(town: Town) -> None:
    """start + made + imported = on hand + on the road + sold + spoiled + lost + roasted + exported.

    Output of production and roasting counts as made when it lands, an import when it arrives, green
    coffee as roasted when it goes into the roaster, an export when it leaves. A deal's coffee is on
    the road from its acceptance until it is delivered, lost or turned back. What a bankrupt firm
    still holds stays on hand; what it had in production was never made.
    """
    state = town.state
    for item, counted in state.goods.items():
        came = sum(counted.get(what, 0) for what in ("start", "made", "imported"))
        went = sum(
            counted.get(what, 0) for what in ("sold", "spoiled", "lost", "roasted", "exported")
        )
        on_hand = sum(firm.kg.get(item, 0) for firm in state.firms.values())
        on_the_road = sum(d.qty for d in state.deals.values() if d.item == item)
        assert came == on_hand + on_the_road + went, f"{item}: {counted}"
        assert set(counted) <= {
            *("start", "made", "imported", "sold", "spoiled", "lost", "roasted", "exported")
        }, "a movement of goods that the identity does not know"


def check_stock(town: Town, firm: FirmState) -> None:
    """No negative stock; committed = on hand + incoming; incoming = what is really on its way."""
    assert all(kg >= 0 for kg in firm.kg.values())
    assert all(firm.cost[item] == 0 for item, kg in firm.kg.items() if kg == 0)
    assert firm.on_hand == sum(firm.kg.values())
    assert firm.committed == firm.on_hand + sum(firm.incoming.values())
    state = town.state
    coming: Counter[str] = Counter()
    for batch in (*state.production, *state.roasts):
        if batch.firm == firm.name:
            coming[batch.item] += batch.kg
    purchases: list[Deal | ForeignOrder | Import] = [
        *state.deals.values(),
        *state.foreign_orders.values(),
        *state.imports,
    ]
    for purchase in purchases:
        if purchase.buyer == firm.name:
            coming[purchase.item] += purchase.qty
    assert firm.incoming == {item: coming[item] for item in firm.incoming}


def check_accounts(town: Town, firm: FirmState) -> None:
    """A firm's balances sum to zero, and each asset is what is really there."""
    b = firm.balances
    state = town.state
    assert sum(b.values()) == 0
    assert b["clearing"] == 0
    assert b["inventory"] == sum(firm.cost.values())
    assert b["work_in_progress"] == sum(
        batch.cost for batch in (*state.production, *state.roasts) if batch.firm == firm.name
    )
    assert b["goods_in_transit"] == sum(
        deal.cost for deal in state.deals.values() if deal.seller == firm.name
    ) + sum(cargo.cost for cargo in state.imports if cargo.buyer == firm.name)
    assert b["escrow"] == sum(
        o.escrow for o in state.foreign_orders.values() if o.buyer == firm.name
    )


def check_debts(town: Town, firm: FirmState) -> None:
    """What a firm owes and is owed is what is open on its invoices."""
    invoices = town.state.invoices.values()
    owed_to = sum(i.outstanding() for i in invoices if i.issuer == firm.name)
    owed_by = sum(i.outstanding() for i in invoices if i.payer == firm.name)
    assert firm.balances["accounts_receivable"] == owed_to
    assert -firm.balances["accounts_payable"] == owed_by


def check_indices(town: Town, firm: FirmState) -> None:
    """What is kept by firm is what a search through the whole town would find, in its order."""
    state, world, name = town.state, town.world, firm.name
    invoices = list(state.invoices.values())
    assert all(invoice.open for invoice in invoices)
    assert world.owed_by[name] == [i for i in invoices if i.payer == name]
    assert world.owed_to[name] == [i for i in invoices if i.issuer == name]
    deals = state.deals.values()
    assert world.deals_of[name] == [d for d in deals if name in (d.seller, d.buyer)]
    listings = state.listings.items()
    assert world.listings_of[name] == {k: x for k, x in listings if x.seller == name}


def check_town(town: Town, sound: bool = True) -> None:
    """Everything that can be seen from the state alone.

    The original's rules let negative prices in. Once there has been a deal at one (``sound`` is
    false), goods may have a negative cost and an invoice of less than nothing is never settled.
    """
    check_goods(town)
    for firm in town.firms.values():
        check_stock(town, firm)
        check_accounts(town, firm)
        check_indices(town, firm)
        if sound:
            assert all(cost >= 0 for cost in firm.cost.values())
            check_debts(town, firm)
    owed_to = sum(f.balances["accounts_receivable"] for f in town.firms.values())
    owed_by = -sum(f.balances["accounts_payable"] for f in town.firms.values())
    assert owed_to == owed_by, "what all firms are owed is what all firms owe"
    if town.setup.rules.name == "hanse":
        for firm in town.firms.values():
            if firm.live:
                assert firm.income() == firm.equity() - firm.initial_equity
            else:
                assert firm.frozen_equity is not None
                assert firm.frozen_income == firm.frozen_equity - firm.initial_equity


def balances_from(ledger: list[LedgerEntry]) -> dict[str, Counter[str]]:
    """Every firm's balances as the rows of the ledger have it: each debits one, credits another."""
    found: dict[str, Counter[str]] = {}
    for firm, debit, credit, amount, _ in ledger:
        assert amount > 0 and debit != credit
        balances = found.setdefault(firm, Counter())
        balances[debit] += amount
        balances[credit] -= amount
    return found


def check_ledger(town: Town, ledger: list[LedgerEntry]) -> None:
    """The rows of the ledger add up to the books."""
    found = balances_from(ledger)
    for name, firm in town.firms.items():
        assert firm.balances == {a: found.get(name, Counter())[a] for a in firm.balances}


def money_across_borders(setup: TownSetup, events: list[Event], ledger: list[LedgerEntry]) -> int:
    """The cash that has come into the town less what has gone out, micro-dollars.

    It comes from consumers and from other towns, and goes to whoever is paid for production,
    labour, running costs, freight and imports. All but the running costs is taken from the event
    log, so the ledger has no say in it.
    """
    money = sum(micros(firm.cash) for firm in setup.firms)
    for kind, _, body in events:
        if kind == "consumer_sale":
            money += micros(body["revenue"])
        elif kind == "trade" and body["direction"] == "export":
            money += micros(body["amount"])
        elif kind == "trade" and body["direction"] == "import":
            money -= micros(body["amount"])
        elif kind == "action" and body["status"] == "success":
            arguments = body["args"]
            if body["tool"] == "produce_item":
                item = setup.catalogue.items[arguments["item_id"]]
                money -= cents(arguments["quantity"] * dollars(item.unit_cost))
            elif body["tool"] == "roast":
                recipe = setup.catalogue.recipes[arguments["green_item_id"]]
                money -= cents(arguments["qty_kg"] * recipe.labour)
    running_costs = sum(row[3] for row in ledger if row[4] == "running costs")
    return money - running_costs


def check_money(town: Town, events: list[Event], ledger: list[LedgerEntry]) -> None:
    """Cash and escrow of all firms change only at the town's borders."""
    held = sum(f.balances["cash"] + f.balances["escrow"] for f in town.firms.values())
    assert held == money_across_borders(town.setup, events, ledger)

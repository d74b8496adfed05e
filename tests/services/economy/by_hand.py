"""Small towns that a test drives by hand, without a scheduler and without luck.

town = calm_town(COFFEEBENCH)
morning(town, 0)
deal = trade(town, "farmer_A", "roaster_A", GREEN, 10, 4.0)
morning(town, 1)
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from services.economy.commands import AcceptOffer, Command, MakeOffer, PostListing
from services.economy.money import dollars
from services.economy.results import Result
from services.economy.rules import HANSE, Rules
from services.economy.setup import FirmSetup, TownSetup, firm_setup, standard_firms
from services.economy.town import CLOSES, OPENS, Town, Turn
from services.messages import MINUTES_PER_DAY

SCHEDULE = ("actions", "available_at", "ready_at", "calls_today", "agenda", "agenda_counter")
"""What every call moves, also a refused one: it costs the firm half an hour."""


def calm_town(rules: Rules = HANSE, **values: Any) -> Town:
    """A town in which nothing is lost or late and demand has no noise, unless ``values`` say so."""
    calm: dict[str, Any] = {
        "rules": rules,
        "loss_probability": 0.0,
        "delay_probability": 0.0,
        "demand_sigma": 0.0,
    }
    town = Town(TownSetup(**{**calm, **values}))
    town.drain()
    town.demand.luck.loyalty = dict.fromkeys(town.demand.luck.loyalty, 1.0)
    return town


def firms(**changed: dict[str, Any]) -> tuple[FirmSetup, ...]:
    """The six standard firms; ``firms(roaster_A={"cash": 10.0, "stock": {...}})`` changes some."""
    return tuple(
        firm_setup(f.name, f.role, **changed[f.name]) if f.name in changed else f
        for f in standard_firms()
    )


def advance(town: Town, until: int) -> list[Turn]:
    """Lets time pass until a minute; whoever may act on the way does nothing."""
    turns: list[Turn] = []
    while (minute := town.next_minute()) is not None and minute <= until:
        turns = town.advance(minute)
    if not town.closed:
        town.clock(until)
    return turns


def morning(town: Town, day: int) -> list[Turn]:
    """Goes to 09:00 of a day, after deliveries and bankruptcies; whose turn it is."""
    return advance(town, day * MINUTES_PER_DAY + OPENS)


def evening(town: Town, day: int) -> None:
    """Goes to the end of a day: consumers have bought, stock has spoiled, fees are charged."""
    advance(town, day * MINUTES_PER_DAY + CLOSES)


def do(town: Town, firm: str, command: Command) -> Result:
    """Has a firm carry out a command, which must succeed."""
    result = town.apply(firm, command)
    assert result.ok, f"{result.code}: {result.detail}"
    return result


def made(town: Town, firm: str, command: Command) -> str:
    """As :func:`do`, for the identifier of what was made."""
    identifier = do(town, firm, command).new_id
    assert identifier is not None
    return identifier


def refusal(town: Town, firm: str, command: Command) -> str | None:
    """The code with which a command is refused; a refused command must change nothing."""
    before = belongings(town)
    result = town.apply(firm, command)
    assert not result.ok, f"{command!r} was carried out"
    assert result.detail, "a refusal says why"
    assert belongings(town) == before, "a refused command has changed something"
    return result.code


def belongings(town: Town) -> dict[str, Any]:
    """The town's whole state but for its schedule."""
    state = dataclasses.asdict(town.state)
    for key in SCHEDULE:
        del state[key]
    for firm in state["firms"].values():
        del firm["last_active_day"]
    return state


def bid(
    town: Town,
    seller: str,
    buyer: str,
    item: str,
    qty: int,
    price: float,
    terms: int = 30,
) -> str:
    """The seller lists so many kilograms and the buyer bids for all of them; the bid."""
    listing = made(town, seller, PostListing(item_id=item, qty=qty, asking_price=price))
    offer = MakeOffer(listing_id=listing, offered_price=price, qty=qty, payment_terms_days=terms)
    return made(town, buyer, offer)


def trade(
    town: Town,
    seller: str,
    buyer: str,
    item: str,
    qty: int,
    price: float,
    terms: int = 30,
) -> str:
    """As :func:`bid`, and the seller accepts; the deal."""
    offer = bid(town, seller, buyer, item, qty, price, terms)
    return made(town, seller, AcceptOffer(offer_id=offer))


def invoice_of(town: Town, deal: str) -> str:
    """The invoice of a delivered deal."""
    invoice = town.state.past_deals[deal].invoice
    assert invoice is not None
    return invoice


def balance(town: Town, firm: str, account: str) -> float:
    """An account of a firm as a net debit, dollars."""
    return dollars(town.firms[firm].balances[account])


def cash(town: Town, firm: str) -> float:
    """A firm's cash, dollars."""
    return balance(town, firm, "cash")


def income(town: Town, firm: str) -> float:
    """A firm's net income so far: its score."""
    return town.statement(firm).net_income


def notices(town: Town, firm: str) -> list[str]:
    """What the firm will be told with its next observation."""
    return town.firms[firm].notices


def events(town: Town, kind: str) -> list[dict[str, Any]]:
    """The events of a kind since the last call of this function or of ``drain``."""
    return [
        json.loads(body) if isinstance(body, str) else body
        for what, _, body in town.drain().events
        if what == kind
    ]

"""Routers pass orders between towns to the town that should fill them, and the answers back."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest

from actors.context import Context
from actors.router import Router, RouterRule
from services.economy.abroad import TownQuote, TradeFill, TradeOrder, TradeRefused
from services.messages import Message, Payload

BEANS = "green_coffee_kg"
EXCHANGES = {town: f"exchange_{town}" for town in ("Luebeck", "Riga", "Turku", "Visby")}


class Office:
    """A router and the mail that reaches it; every quote is this morning's."""

    def __init__(
        self, rule: RouterRule = "cheapest", router: Router | None = None, **options: Any
    ) -> None:
        self.router = router or Router("router", rule, exchanges=EXCHANGES, **options)
        self.context = Context("router", now=540)
        self.number = 0

    def tell(self, sender: str, payload: Payload, about: Message | None = None) -> list[Message]:
        self.number += 1
        message = self.context.incoming(sender, payload, self.number)
        if about is not None:
            message = message.model_copy(update={"in_reply_to": about.id})
        return self.router.receive(message, self.context)

    def quote(self, town: str, ask: float | None = None, kg: int = 50) -> None:
        asks = {} if ask is None else {BEANS: ask}
        stock = {} if ask is None else {BEANS: kg}
        exchange = f"exchange_{town}"
        said = TownQuote(town=town, exchange=exchange, day=0, asks=asks, kg=stock, load=0)
        assert self.tell(exchange, said) == []

    def order(self, town: str = "Riga", max_price: float = 5.0, name: str = "F1") -> Message:
        """Sends an order from a town; returns what the router does about it."""
        asker = f"exchange_{town}"
        wish = TradeOrder(
            order=name, town=town, reply_to=asker, item=BEANS, qty=10, max_price=max_price
        )
        [sent] = self.tell(asker, wish)
        return sent


def passed_to(message: Message) -> str | None:
    return message.recipient if isinstance(message.payload, TradeOrder) else None


def test_direct_passes_on_to_the_partner_whatever_it_asks() -> None:
    office = Office("direct", partners={"Riga": "Visby"})
    office.quote("Luebeck", 3.0)
    office.quote("Visby", 99.0)
    assert passed_to(office.order()) == "exchange_Visby"


def test_direct_without_a_partner_takes_the_first_other_town_by_name() -> None:
    office = Office("direct")
    for town in ("Riga", "Visby", "Luebeck"):
        office.quote(town, 3.0)
    assert passed_to(office.order("Riga")) == "exchange_Luebeck"
    assert passed_to(office.order("Luebeck")) == "exchange_Riga"


def test_cheapest_takes_the_lowest_ask_within_the_limit() -> None:
    office = Office("cheapest")
    office.quote("Riga", 1.0)  # its own town does not count
    office.quote("Luebeck", 4.0)
    office.quote("Visby", 3.5)
    assert passed_to(office.order(max_price=5.0)) == "exchange_Visby"
    assert passed_to(office.order(max_price=3.5)) == "exchange_Visby"


def test_of_two_equal_asks_the_town_first_by_name_is_taken() -> None:
    office = Office("cheapest")
    office.quote("Visby", 3.5)
    office.quote("Luebeck", 3.5)
    assert passed_to(office.order()) == "exchange_Luebeck"


def test_least_loaded_deals_orders_out_in_turn() -> None:
    office = Office("least_loaded")
    office.quote("Luebeck", 4.0)
    office.quote("Visby", 3.5)
    office.quote("Danzig", 9.0)  # too dear
    towns = [passed_to(office.order(name=f"F{n}")) for n in range(4)]
    assert towns == ["exchange_Luebeck", "exchange_Visby"] * 2


def test_the_next_mornings_quote_starts_the_count_anew() -> None:
    office = Office("least_loaded")
    office.quote("Luebeck", 4.0)
    office.quote("Visby", 3.5)
    assert passed_to(office.order(name="F1")) == "exchange_Luebeck"
    office.quote("Luebeck", 4.0)
    assert passed_to(office.order(name="F2")) == "exchange_Luebeck"


@pytest.mark.parametrize("rule", ["cheapest", "least_loaded"])
@pytest.mark.parametrize(("ask", "kg"), [(5.01, 50), (4.0, 0), (None, 0)])
def test_an_order_that_no_town_can_fill_is_refused_at_once(
    rule: RouterRule, ask: float | None, kg: int
) -> None:
    office = Office(rule)
    office.quote("Visby", ask, kg)
    refused = office.order(max_price=5.0)
    assert refused.recipient == "exchange_Riga"
    assert isinstance(refused.payload, TradeRefused) and refused.payload.order == "F1"
    assert office.router.summary() == {"routed": 0, "refused": 1}


def test_before_any_quote_every_order_is_refused() -> None:
    for rule in ("direct", "cheapest", "least_loaded"):
        assert isinstance(Office(rule).order().payload, TradeRefused)  # type: ignore[arg-type]


def test_a_newer_quote_takes_the_place_of_the_older() -> None:
    office = Office("cheapest")
    office.quote("Visby", 3.0)
    office.quote("Luebeck", 4.0)
    office.quote("Visby", 4.5)
    assert passed_to(office.order()) == "exchange_Luebeck"


def test_the_answer_goes_to_whoever_asked_and_only_once() -> None:
    office = Office("cheapest")
    office.quote("Visby", 3.0)
    # Both towns call their first order F1.
    from_riga, from_turku = office.order("Riga"), office.order("Turku")
    fill = TradeFill(order="F1", town="Visby", item=BEANS, qty=4, total_micros=12_000_000)
    [answer] = office.tell("exchange_Visby", fill, about=from_turku)
    assert (answer.recipient, answer.payload) == ("exchange_Turku", fill)
    refusal = TradeRefused(order="F1", reason="sold out")
    [answer] = office.tell("exchange_Visby", refusal, about=from_riga)
    assert (answer.recipient, answer.payload) == ("exchange_Riga", refusal)
    assert office.tell("exchange_Visby", fill, about=from_riga) == []
    assert office.router.summary() == {"routed": 2, "refused": 0}


def test_a_router_read_back_knows_quotes_loads_and_orders_under_way() -> None:
    office = Office("least_loaded")
    office.quote("Luebeck", 4.0)
    office.quote("Visby", 3.5)
    under_way = office.order(name="F1")
    saved = msgpack.unpackb(msgpack.packb(office.router.save()))
    office.router = Router("router", "least_loaded", exchanges=EXCHANGES)
    office.router.load(saved)
    assert office.router.summary() == {"routed": 1, "refused": 0}
    assert passed_to(office.order(name="F2")) == "exchange_Visby"
    [answer] = office.tell(
        "exchange_Luebeck", TradeRefused(order="F1", reason="sold out"), about=under_way
    )
    assert answer.recipient == "exchange_Riga"


def test_only_a_towns_exchange_speaks_for_it() -> None:
    office = Office("cheapest")
    office.quote("Visby", 3.0)
    lie = TownQuote(
        town="Riga", exchange="mallory", day=0, asks={BEANS: 0.01}, kg={BEANS: 9}, load=0
    )
    assert office.tell("mallory", lie) == []
    theft = TradeOrder(
        order="F9", town="nowhere", reply_to="exchange_Riga", item=BEANS, qty=9, max_price=99.0
    )
    assert office.tell("mallory", theft) == []
    wish = office.order("Riga")
    fill = TradeFill(order="F1", town="Visby", item=BEANS, qty=9, total_micros=0)
    assert office.tell("mallory", fill, about=wish) == []
    [answer] = office.tell("exchange_Visby", fill, about=wish)
    assert answer.recipient == "exchange_Riga"

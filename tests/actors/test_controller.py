"""A controller answers every stock report with what to buy."""

from __future__ import annotations

from actors.context import Context
from actors.controller import Controller, PurchaseOrders, StockReport
from policies.base_stock import BaseStock
from services.messages import Message

POLICIES = {
    "green_coffee_kg": BaseStock(reorder_at=60, up_to=75, most=30),
    "green_specialty_kg": BaseStock(reorder_at=15, up_to=20),
}


def answered(controller: Controller, **position: int) -> Message:
    context = Context("buyer", now=540)
    report = StockReport(firm="roaster_A", position=position)
    [answer] = controller.receive(context.incoming("roaster_A", report, number=3), context)
    return answer


def test_what_is_at_or_below_its_reorder_point_is_ordered_up_to_its_level() -> None:
    answer = answered(Controller("buyer", POLICIES), green_coffee_kg=60, green_specialty_kg=13)
    assert (answer.recipient, answer.in_reply_to) == ("roaster_A", "roaster_A#3")
    assert answer.payload == PurchaseOrders(kg={"green_coffee_kg": 15, "green_specialty_kg": 7})


def test_what_needs_nothing_is_left_out() -> None:
    answer = answered(Controller("buyer", POLICIES), green_coffee_kg=61, green_specialty_kg=99)
    assert answer.payload == PurchaseOrders(kg={})


def test_an_item_that_the_report_does_not_name_is_out_of_stock() -> None:
    answer = answered(Controller("buyer", POLICIES), tea=4)
    assert answer.payload == PurchaseOrders(kg={"green_coffee_kg": 30, "green_specialty_kg": 20})


def test_it_counts_its_decisions_and_remembers_the_count() -> None:
    controller = Controller("buyer", POLICIES)
    answered(controller)
    answered(controller)
    again = Controller("buyer", POLICIES)
    again.load(controller.save())
    answered(again)
    assert again.summary() == {"decisions": 3}

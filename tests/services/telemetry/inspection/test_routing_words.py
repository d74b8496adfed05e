"""What a router has decided by its policy, in words."""

from __future__ import annotations

from typing import Any

from services.telemetry.inspection.words import event


def told(**changes: Any) -> str:
    facts = {
        "order": "F3", "town": "Bergen", "asks": "Riga", "rank": 1, "among": ["Visby", "Riga"],
        "ask": 4.0, "policy": "router",
    }  # fmt: skip
    return event("routing_decision", "", facts | changes)


def test_it_tells_which_town_is_asked_and_which_cheaper_one_is_not() -> None:
    assert told() == (
        "for F3 of Bergen Riga is asked, at 4.00 $ a kg or more (not Visby, which is cheaper by"
        " the last quotes)"
    )


def test_of_the_cheapest_nothing_more_is_said() -> None:
    assert told(rank=0, asks="Visby", ask=3.4) == (
        "for F3 of Bergen Visby is asked, at 3.40 $ a kg or more"
    )


def test_several_that_are_cheaper_are_named() -> None:
    sentence = told(rank=2, asks="Turku", among=["Visby", "Riga", "Turku"])
    assert sentence.endswith("(not Visby, Riga, which are cheaper by the last quotes)")

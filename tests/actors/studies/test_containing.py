"""What containment is worth is told by paired runs of the same seeds."""

from __future__ import annotations

from typing import Any

from actors.studies.containing import Arm, Containment


def arm(name: str, **values: Any) -> Arm:
    return Arm(
        **{
            "firms": 6,
            "kind": "price_rumour",
            "seed": 1,
            "arm": name,
            "harmed_hours": 0,
            "infected_messages": 0,
            "infected": [],
            "income": {"ann": 100.0, "bob": 100.0, "cat": 100.0},
            "trade": 1000.0,
            "alerts": 0,
            "measures": 0,
            "withheld": 0,
            **values,
        }
    )


def seed(**contained: Any) -> list[Arm]:
    """Bob is convinced; Cat, who is not, loses 40 dollars by it."""
    harm = {"harmed_hours": 200, "infected_messages": 80, "infected": ["bob"]}
    lost = {"income": {"ann": 100.0, "bob": 20.0, "cat": 60.0}}
    return [
        arm("clean"),
        arm("unwatched", **harm, **lost),
        arm("alerts", **harm, **lost),
        arm("contained", **{"harmed_hours": 50, "infected_messages": 20, **contained}),
    ]


def test_each_harm_is_compared_with_the_same_seed_unwatched() -> None:
    [worth] = Containment(calibrations={}, arms=seed()).worth()
    assert worth.avoided["harmed_hours"][0] == 0.75
    assert worth.avoided["infected_messages"][0] == 0.75
    assert worth.harm["harmed_hours"] == {"unwatched": 200, "alerts": 200, "contained": 50}


def test_income_is_lost_by_firms_that_the_attack_never_convinces() -> None:
    income = {"ann": 100.0, "bob": 90.0, "cat": 90.0}
    [worth] = Containment(calibrations={}, arms=seed(income=income)).worth()
    assert worth.harm["income_lost"] == {"unwatched": 40.0, "alerts": 40.0, "contained": 10.0}
    assert worth.avoided["income_lost"][0] == 0.75


def test_trade_that_containment_costs_is_measured_against_alerts_alone() -> None:
    [worth] = Containment(calibrations={}, arms=seed(trade=990.0)).worth()
    assert round(worth.trade_lost[0], 6) == 0.01


def test_an_attack_must_lose_half_of_its_harm() -> None:
    study = Containment(calibrations={}, arms=seed(harmed_hours=150))
    met = {check.requirement: check.passed for check in study.checks}
    assert met["price_rumour, 6 firms: at least 50 % of harmed_hours avoided"] is False
    assert met["price_rumour, 6 firms: at least 50 % of infected_messages avoided"] is True


def test_what_is_benign_may_not_lose_a_hundredth_of_its_trade() -> None:
    for trade, passed in ((995.0, True), (980.0, False)):
        arms = [one.model_copy(update={"kind": "steady"}) for one in seed(trade=trade)]
        [check] = Containment(calibrations={}, arms=arms).checks
        assert check.passed is passed

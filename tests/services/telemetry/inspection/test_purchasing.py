"""What a controller buys by its policy, as `hanse trace`, its page and its spans tell it."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("safetensors", reason="a policy needs safetensors: make rl")

from actors.league import League
from services.runs import Run
from services.telemetry.inspection import words
from services.telemetry.inspection.why import why
from services.telemetry.reader import TraceReader
from services.telemetry.spans import derive
from services.telemetry.view.chunks import day_chunk
from tests.actors.test_controlling import config
from tests.policies.becon.procurement.untrained import written


@pytest.fixture(scope="module")
def bought(tmp_path_factory: pytest.TempPathFactory) -> TraceReader:
    """Two days of a roaster whose controller acts by an untrained policy."""
    folder = tmp_path_factory.mktemp("bought")
    made = config(written(folder / "policy")).with_overrides(source="test", days=2)
    with League.create(made, folder / "run") as league:
        league.run()
    return TraceReader(Run(folder / "run"))


BELIEF = {"unit": 150.0, "becon.gate_w": 0.31, "becon.gate_d": 0.2, "becon.budget_safe": 0.5}
BY_BELIEF = (
    " (what it may spend is taken to be 75.00 $; inferred, not told, are 20% of that and 31% of"
    " what it wants)"
)


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        (
            {"kg": {"green_coffee_kg": 60, "green_coffee_specialty_kg": 10}, "at_most": 135.0},
            "bob is to bid for 60 kg of green coffee and 10 kg of green coffee specialty, for at"
            " most 135.00 $",
        ),
        (
            {"kg": {"green_coffee_kg": 60}, "at_most": 0.0},
            "bob is to bid for nothing, as no money is left for it",
        ),
        ({"kg": {}, "at_most": 135.0}, "bob is to bid for nothing"),
    ],
)
def test_a_decision_says_what_is_bought_for_how_much_and_on_whose_word(
    facts: dict[str, Any], line: str
) -> None:
    assert words.event("purchasing_decision", "bob", facts) == line
    assert words.event("purchasing_decision", "bob", facts | BELIEF) == line + BY_BELIEF


@pytest.mark.parametrize(("violated", "side"), [(True, "above"), (False, "within")])
def test_an_outcome_says_on_which_side_of_its_budget_the_day_was(violated: bool, side: str) -> None:
    facts = {"day": 7, "utility": 0.41, "cost": 0.62, "budget": 0.55, "violated": violated}
    assert words.event("purchasing_outcome", "bob", {**facts, "unit": 150.0}) == (
        f"day 7 was worth 0.41 of 1 to bob; it bid 93.00 $ for green coffee, {side} its budget of"
        " 82.50 $"
    )


def test_the_decisions_span_has_what_the_belief_stood_on(bought: TraceReader) -> None:
    [span] = [span for span in derive(bought, 1) if span.name.startswith("decide ")]
    assert span.attributes["hanse.policy"] == "policy"
    [event] = [e for e in bought.day(1).events if e.kind == "purchasing_decision"]
    names = {"gate_w", "gate_d", "epistemic", "lambda", "budget_safe"}
    told = {name: span.attributes[f"becon.{name}"] for name in names}
    assert told == {name: event.facts[f"becon.{name}"] for name in names}


def test_why_a_bid_was_made_names_the_decision_before_it(bought: TraceReader) -> None:
    day = bought.day(1)
    [decision] = [e for e in day.events if e.kind == "purchasing_decision"]
    [orders] = [m for m in day.sent_because_of(str(decision.cause)) if m.type == "purchase_orders"]
    [cause] = why(bought, f"{orders.sender}#{orders.number}").causes
    assert any("roaster_A is to bid for" in step.words for step in cause.chain.steps)


def test_the_page_has_the_same_sentences(bought: TraceReader) -> None:
    told = day_chunk(bought, 1)["told"]["events"]
    events = bought.day(1).events
    kinds = ("purchasing_decision", "purchasing_outcome")
    places = [place for place, e in enumerate(events) if e.kind in kinds]
    assert len(places) == 2
    for place in places:
        assert told[str(place)] == words.event(events[place].kind, "roaster_A", events[place].facts)

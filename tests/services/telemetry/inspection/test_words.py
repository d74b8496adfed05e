"""Words: every command and every payload that Hanse has can be told, and nothing can break it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.economy.commands import COMMANDS
from services.economy.refusals import REFUSALS
from services.telemetry.inspection import words

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
_EXAMPLES = {
    "id": "X1", "item_id": "green_coffee_kg", "green_item_id": "green_coffee_kg", "qty": 12,
    "quantity": 12, "qty_kg": 12, "quantity_kg": 12, "asking_price": 4.0, "offered_price": 3.5,
    "price_per_unit": 9.0, "max_price": 5.0, "listing_id": "L1", "offer_id": "O1",
    "invoice_id": "I1", "recipient": "bob", "title": "hello", "body": "there", "message_id": "M1",
}  # fmt: skip


@pytest.mark.parametrize("tool", sorted(COMMANDS))
def test_every_command_has_a_sentence_of_its_own(tool):
    model = COMMANDS[tool]
    args = {n: _EXAMPLES[n] for n, field in model.model_fields.items() if field.is_required()}
    told = words.command(tool, json.loads(model(**args).log_body()))
    assert not told.startswith(f"{tool} ")
    assert "_" not in told


@pytest.mark.parametrize("code", sorted(REFUSALS))
def test_every_refusal_is_told_by_its_meaning(code):
    assert words.refusal(code) == f"{REFUSALS[code]} ({code})"


def test_an_unknown_command_is_told_as_it_is():
    assert words.command("dance", {"with": "ann", "steps": 3}) == "dance with ann, steps 3"


def test_an_unknown_event_and_message_are_told_as_they_are():
    assert words.event("parade", "bob", {"drums": 2}) == "bob: parade drums 2"
    assert words.message("rumour", "ann", "bob", {"text": "x"}) == "ann sends bob rumour text x"


def test_long_text_is_cut_and_stays_on_one_line():
    told = words.message("text", "ann", "bob", {"text": "so\nmany words " * 50})
    assert "\n" not in told
    assert len(told) < 200


@pytest.mark.parametrize(("minute", "told"), [(0, "day 0 00:00"), (1440 * 3 + 570, "day 3 09:30")])
def test_a_minute_is_a_day_and_a_time(minute, told):
    assert words.when(minute) == told


@given(
    st.sampled_from(sorted([*COMMANDS, "deal", "delivery", "invoice", "payment", "return", "trade",
                            "consumer_sale", "spoilage", "bankruptcy", "agent_error", "turn",
                            "letter", "stock_report", "purchase_orders", "town_quote"])),
    st.dictionaries(st.sampled_from([*_EXAMPLES, "seller", "buyer", "item", "outcome", "reason",
                                     "args", "tool", "status", "kg", "asks"]), _JSON),
)  # fmt: skip
def test_a_body_of_any_shape_can_be_told(kind, facts):
    assert words.command(kind, facts)
    assert words.event(kind, "bob", facts)
    assert words.message(kind, "ann", "bob", facts)
    words.amount(facts)

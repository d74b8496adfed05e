"""How claims travel."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from actors.context import Context
from services.messages import pack, unpack
from services.talk.claims import Claim, is_wrong
from services.talk.payloads import Forecast, MarketNote, Said, StatusReply, StatusRequest, told

CLAIMS = [
    Claim("green_coffee_kg", 0.6, 0.9, True, "one two"),
    Claim("roasted_coffee_kg", 1.01, 0.0, False, "three four"),
]


def test_what_is_heard_is_what_was_told_also_in_another_process() -> None:
    context = Context("bob")
    message = context.incoming("alice", told(MarketNote, CLAIMS))
    assert message.payload.heard() == CLAIMS  # type: ignore[attr-defined]
    assert unpack(pack([message]))[0].payload.heard() == CLAIMS  # type: ignore[attr-defined]


def test_the_log_has_the_words_once_and_the_numbers_of_each_claim() -> None:
    assert told(MarketNote, CLAIMS).log_body() == (
        '{"text":"one two. three four","claims":['
        '{"item":"green_coffee_kg","factor":0.6,"strength":0.9},'
        '{"item":"roasted_coffee_kg","factor":1.01,"onward":false}]}'
    )


def test_a_users_note_may_say_more_than_it_claims() -> None:
    said = Said(item="green_coffee_kg", factor=1.1)
    assert [c.words for c in MarketNote(text="one. two", claims=(said,)).heard()] == ["one"]
    assert MarketNote(text="only words").heard() == []


def test_a_factor_is_a_positive_number() -> None:
    for factor in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ValidationError):
            Said(item="green_coffee_kg", factor=factor)


def test_requests_and_replies_name_the_same_numbers_alike() -> None:
    asked, answered = set(StatusRequest.model_fields), set(StatusReply.model_fields)
    assert asked - {"type"} == answered - {"type", "ok"}
    assert (StatusRequest(load=1).channel, told(Forecast, []).channel) == ("exec", "tool")


@pytest.mark.parametrize(
    ("factor", "truth", "wrong"),
    [
        (1.0, 1.0, False),
        (1.19, 1.0, False),
        (1.21, 1.0, True),
        (0.84, 1.0, False),
        (0.83, 1.0, True),
        (1.25, 1.25, False),
        (1.0, 1.25, False),
        (0.6, 1.25, True),
    ],
)
def test_wrong_is_more_than_a_fifth_off_the_truth_and_off_the_normal_price(
    factor: float, truth: float, wrong: bool
) -> None:
    assert is_wrong(factor, truth) is wrong

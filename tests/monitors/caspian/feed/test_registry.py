import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.caspian.feed.registry import LEAGUE, SILENT, UNKNOWN, Fields, content_of
from services.messages import payload_class
from services.talk import payloads as talk

BODY = {
    "text": "prices rise",
    "factor": 1.5,
    "urgent": True,
    "nothing": None,
    "entries": [{"text": "frost", "age": 2}, {"text": "rain", "age": 4}],
}


def test_of_an_unknown_payload_strings_are_words_and_numbers_are_numbers():
    content = content_of(BODY, UNKNOWN)
    assert content.words == ("prices rise", "frost", "rain")
    assert content.numbers == (("entries.age", 3.0), ("factor", 1.5), ("urgent", 1.0))


def test_registered_words_and_numbers_are_the_only_ones_that_count():
    content = content_of(BODY, Fields(words=("entries",), numbers=("factor",)))
    assert (content.words, content.numbers) == (("frost", "rain"), (("factor", 1.5),))


def test_what_is_ignored_does_not_count_wherever_it_stands():
    content = content_of(BODY, Fields(ignored=("entries", "urgent")))
    assert (content.words, content.numbers) == (("prices rise",), (("factor", 1.5),))


def test_a_path_covers_what_is_below_it_and_not_what_begins_alike():
    content = content_of({"a": {"b": "in"}, "ab": "out"}, Fields(words=("a",)))
    assert content.words == ("in",)


def test_a_number_that_the_log_leaves_out_is_at_its_default():
    content = content_of({"load": 2}, Fields(absent={"load": 0.0, "units": 1.0}))
    assert content.numbers == (("load", 2.0), ("units", 1.0))


def test_numbers_at_one_path_count_with_their_mean_however_the_path_is_written():
    assert content_of({"a": {"b": 1.0}, "a.b": 3.0}, UNKNOWN).numbers == (("a.b", 2.0),)


def test_a_field_may_be_compared_under_another_name():
    content = content_of({"delay_ms": 5}, Fields(names={"delay_ms": "latency"}))
    assert content.numbers == (("latency", 5.0),)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 10**400])
def test_a_number_that_is_not_finite_is_left_out_and_counted(number):
    content = content_of({"a": number, "b": 1}, UNKNOWN)
    assert (content.numbers, content.unfit) == ((("b", 1.0),), 1)


def test_a_mere_request_says_nothing():
    assert content_of(BODY, SILENT).words == ()
    assert LEAGUE["board_read"] is SILENT


def test_talk_counts_with_its_words_and_not_with_its_claims():
    said = talk.MarketNote(text="frost in huila", claims=(talk.Said(item="green", factor=2.0),))
    content = content_of(json.loads(said.log_body()), LEAGUE[said.type])
    assert (content.words, content.numbers) == (("frost in huila",), ())


@pytest.mark.parametrize("kind", [talk.StatusRequest, talk.StatusReply])
def test_a_status_counts_with_all_its_numbers_even_where_the_log_leaves_out_defaults(kind):
    content = content_of(json.loads(kind().log_body()), LEAGUE[kind().type])
    whole = kind().model_dump(exclude={"type"})
    assert dict(content.numbers) == {name: float(value) for name, value in whole.items()}


@pytest.mark.parametrize(
    "kind",
    ["market_note", "board_write", "board_read", "board_view", "forecast_request", "forecast"],
)
def test_every_kind_of_talk_is_registered(kind):
    assert payload_class(kind)
    assert LEAGUE[kind] is not UNKNOWN


@given(
    st.dictionaries(
        st.text(max_size=3),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
            max_leaves=8,
        ),
    )
)
def test_whatever_a_body_holds_its_numbers_are_finite(body):
    content = content_of(body, UNKNOWN)
    assert all(math.isfinite(value) for _, value in content.numbers)
    assert all(content.words)

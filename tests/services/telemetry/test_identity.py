"""Ids depend on the configuration and on what they stand for, and on nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.telemetry.identity import (
    format_traceparent,
    parse_traceparent,
    span_id,
    trace_id,
)

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def test_ids_are_the_same_on_every_machine() -> None:
    assert f"{trace_id('ab' * 32, 'wake exchange@540'):032x}" == "e7ad7bda08cb42e6865314788b588f00"
    assert f"{span_id('ab' * 32, 'process ann#1'):016x}" == "eca0e54036b6edc0"


@given(key=st.text(), what=st.text())
def test_ids_fit_and_are_never_zero(key: str, what: str) -> None:
    assert 0 < trace_id(key, what) < 2**128
    assert 0 < span_id(key, what) < 2**64


@given(st.sets(st.tuples(st.text(), st.text()), min_size=2, max_size=2))
def test_another_key_or_another_text_gives_another_id(pairs: set[tuple[str, str]]) -> None:
    (key, what), (other_key, other) = pairs
    assert span_id(key, what) != span_id(other_key, other)
    assert trace_id(key, what) != trace_id(other_key, other)


@given(st.integers(1, 2**128 - 1), st.integers(1, 2**64 - 1), st.booleans())
def test_a_traceparent_is_read_back_as_it_was_written(trace: int, span: int, kept: bool) -> None:
    assert parse_traceparent(format_traceparent(trace, span, kept)) == (trace, span, kept)


def test_a_traceparent_looks_as_w3c_shows_it() -> None:
    text = format_traceparent(int(TRACE, 16), int(SPAN, 16))
    assert text == f"00-{TRACE}-{SPAN}-01"


@pytest.mark.parametrize(
    "malformed",
    [
        "",
        "nonsense",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}0-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}-01\n",
        f" 00-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-0x",
    ],
)
def test_a_malformed_traceparent_is_none(malformed: str) -> None:
    assert parse_traceparent(malformed) is None


def test_a_later_version_may_carry_more() -> None:
    read = parse_traceparent(f"01-{TRACE}-{SPAN}-00-more")
    assert read == (int(TRACE, 16), int(SPAN, 16), False)


@given(st.text())
def test_no_text_makes_reading_a_traceparent_fail(text: str) -> None:
    read = parse_traceparent(text)
    assert read is None or (read.trace_id and read.span_id)

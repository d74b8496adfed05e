"""What becomes of attribute values that OpenTelemetry cannot carry."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.telemetry.attributes import plain


class Colour(enum.StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ("text", "text"),
        (True, True),
        (3, 3),
        (2.5, 2.5),
        (2**63 - 1, 2**63 - 1),
        (2**63, str(2**63)),
        (Colour.RED, "red"),
        (np.float64(1.5), 1.5),
        (("a", "b"), ["a", "b"]),
        ([1, 2], [1, 2]),
        ([1, 2**70], ["1", str(2**70)]),
        ([], []),
        ([1, "a"], '[1, "a"]'),
        ({"qty": 3}, '{"qty": 3}'),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_a_value_becomes_the_nearest_that_can_be_carried(given_: Any, kept: Any) -> None:
    [value] = plain({"key": given_}).values()
    assert value == kept
    assert type(value) is type(kept)


def test_nothing_is_left_out_but_none() -> None:
    assert plain({"a": None, "b": 0, "c": "", "d": False}) == {"b": 0, "c": "", "d": False}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(value=_JSON)
def test_whatever_a_user_puts_there_can_be_encoded(value: Any) -> None:
    from services.telemetry.otlp_encoding import encode
    from tests.services.telemetry.made_spans import RESOURCE, span

    assert encode([span(attributes={"key": value})], RESOURCE)

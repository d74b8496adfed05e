"""Timings are packed small, come back whole, and damage is told in a line."""

from __future__ import annotations

import msgpack
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from services.errors import HanseError
from services.telemetry import timings
from services.telemetry.timings import Timing, Timings

NAMES = st.sampled_from(["exchange", "farmer_A", "röster_B", "x"])
NANOSECONDS = st.integers(0, 2**61)


@given(
    st.lists(
        st.tuples(NAMES, st.integers(1, 2**40), NANOSECONDS, NANOSECONDS, NANOSECONDS),
        unique_by=lambda row: row[:2],
    ),
    st.lists(
        st.tuples(NAMES, st.integers(0, 10**6), NANOSECONDS, NANOSECONDS),
        unique_by=lambda row: row[:2],
    ),
    st.integers(-(2**61), 2**61),
)
def test_what_is_packed_comes_back(
    handled: list[timings.Handled], woken: list[timings.Woken], anchored: int
) -> None:
    again = Timings.unpack(timings.pack("host-0", anchored, handled, woken))
    assert again == (
        "host-0",
        {
            f"{sender}#{number}": Timing("host-0", arrived + anchored, began + anchored, took)
            for sender, number, arrived, began, took in handled
        },
        {
            (agent, minute): Timing("host-0", began + anchored, began + anchored, took)
            for agent, minute, began, took in woken
        },
    )


def test_a_message_takes_about_ten_bytes() -> None:
    handled = [
        (f"firm_{n % 7}", n // 7 + 1, 50_000 * n, 50_000 * n + 800 * (n % 3), 20_000 + n % 911)
        for n in range(5_000)
    ]
    assert len(timings.pack("host-0", timings.anchor(), handled, [])) < 12 * len(handled)


def test_the_anchor_leads_to_the_time_of_day() -> None:
    import time

    assert abs(timings.clock() + timings.anchor() - time.time_ns()) < 10**9


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"junk",
        zstandard.compress(b"junk"),
        zstandard.compress(msgpack.packb([1, "host-0", ["a"], [[1.5]] * 5, [[]] * 4])),
        timings.pack("host-0", 0, [("a", 1, 2, 3, 4)], [])[:-4],
    ],
)
def test_a_damaged_record_is_told_in_a_line(record: bytes) -> None:
    with pytest.raises(HanseError, match="damaged"):
        Timings.unpack(record)


def test_a_record_of_a_newer_version_says_so() -> None:
    record = zstandard.compress(msgpack.packb([2, "host-0", [], [[]] * 5, [[]] * 4]))
    with pytest.raises(HanseError, match="version 2, not 1"):
        Timings.unpack(record)

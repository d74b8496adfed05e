"""Whom suspects had listened to before an alarm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from actors.shared_sources import shared_sources
from services.runs.schema import MESSAGES

Said = tuple[int, str, str, str]
"""(minute, sender, recipient, channel)."""


class Told:
    """The messages of a run, as far as they are asked for."""

    def __init__(self, said: Iterable[Said]) -> None:
        self.said = list(said)

    def rows(self, table: str, where: str, parameters: tuple[int, int]) -> Iterator[Any]:
        assert (table, where) == ("messages", "minute >= ? AND minute <= ?")
        first, last = parameters
        for minute, sender, recipient, channel in self.said:
            if first <= minute <= last:
                row = dict.fromkeys(MESSAGES.columns)
                row |= {"sender": sender, "recipient": recipient, "channel": channel}
                yield tuple(row.values())


def sources(said: Iterable[Said], most: int = 9, **window: int) -> list[str]:
    within = {"since": 0, "until": 100} | window
    told: Any = Told(said)
    suspects = ["anna", "ben", "carl"]
    return shared_sources(told, suspects, **within, most=most, beside={"exchange"})


BOARD = [(5, "board", reader, "mem") for reader in ("anna", "ben", "dora")]
NOTES = [
    (1, "dora", "anna", "comm"),
    (1, "dora", "ben", "comm"),
    (2, "emil", "anna", "comm"),
    (2, "emil", "fritz", "comm"),
    (2, "emil", "gerd", "comm"),
]


def test_a_memory_that_many_read_comes_before_whoever_writes_notes() -> None:
    assert sources([*NOTES, *BOARD]) == ["board", "dora", "emil"]


def test_who_told_both_of_the_likeliest_comes_before_who_told_more_agents() -> None:
    assert sources(NOTES) == ["dora", "emil"]


def test_who_told_none_of_the_two_likeliest_is_no_source() -> None:
    assert sources([(1, "hans", "carl", "comm")]) == []


def test_suspects_and_those_who_do_not_talk_are_left_out() -> None:
    said = [(1, "ben", "anna", "comm"), (1, "exchange", "anna", "exec")]
    assert sources(said) == []


def test_a_firm_that_only_asks_its_own_memory_and_tool_is_none() -> None:
    asks = [(1, "dora", "board", "mem"), (1, "dora", "forecaster", "tool")]
    commands = [(1, "dora", "exchange", "tool")]
    first, *_ = sources([*asks, *commands, (1, "dora", "anna", "comm"), *BOARD])
    assert first == "board"


def test_only_what_was_said_in_time_counts() -> None:
    assert sources(NOTES, since=2, until=3) == ["emil"]
    assert sources(NOTES, most=1) == ["dora"]

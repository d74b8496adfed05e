"""A row of a spool is believed only if a guard has written it so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from actors.sound_rows import sound_row

SENT = {"recipient": "b", "channel": "", "in_reply_to": None, "payload": {"type": "turn"}}
ANSWER = {
    "message": "",
    "sent": [SENT],
    "recorded": [["k", "", "{}"]],
    "wakes": [9],
    "state": "wA==",
}


def answer(**changes: Any) -> list[Any]:
    return [5, 0, "a", "answer", json.dumps(ANSWER | changes)]


def test_an_answer_and_a_time_out_are_rows() -> None:
    timeout = [5, 0, "a", "timeout", '{"message": "exchange-1"}']
    assert sound_row(timeout) == tuple(timeout)
    assert sound_row(answer()) == tuple(answer())


BAD = {
    "too short": [5, 0, "a", "answer"],
    "no list": {"minute": 5},
    "no whole minute": [float("inf"), *answer()[1:]],
    "a text as minute": ["5", *answer()[1:]],
    "a truth as minute": [True, *answer()[1:]],
    "a minute before the first": [-1, *answer()[1:]],
    "a minute that no database holds": [2**63, *answer()[1:]],
    "no round": [5, None, *answer()[2:]],
    "no agent": [5, 0, ["a"], *answer()[3:]],
    "an order": [5, 0, "a", "order", json.dumps(ANSWER)],
    "a kind that cannot be looked up": [5, 0, "a", [], json.dumps(ANSWER)],
    "no body": [5, 0, "a", "answer", "{}"],
    "no JSON": [5, 0, "a", "answer", "{"],
    "a deep body": [5, 0, "a", "answer", "[" * 100_000],
    "a body that is a list": [5, 0, "a", "timeout", '["message"]'],
    "a body that no file takes": [5, 0, "a", "timeout", '{"message": "\ud800"}'],
    "no message": [5, 0, "a", "timeout", '{"message": 1}'],
    "a letter without payload": answer(sent=[{"recipient": "b"}]),
    "a payload without type": answer(sent=[SENT | {"payload": {}}]),
    "a short fact": answer(recorded=[["k"]]),
    "no minute to wake": answer(wakes=["later"]),
    "a state that is no base64": answer(state="?"),
    "a state that is cut off": answer(state="kg=="),
}


@pytest.mark.parametrize("values", BAD.values(), ids=BAD)
def test_anything_else_is_none(values: object) -> None:
    assert sound_row(values) is None

"""The digests: what they are over, in which order, and how days are chained."""

import hashlib
import sqlite3
from pathlib import Path
from typing import Any

import msgpack
import pytest

from services.runs import Run, RunStore
from services.runs.schema import Row
from tests.services.runs.samples import manifest, play, rows_of, written

MESSAGES = [
    (5, 1, "zoe", 1, "adam", "comm", "letter", None, "exchange#7", None, '{"n":1}'),
    (5, 0, "zoe", 0, "adam", "comm", "letter", "adam#3", None, "00-ab-cd-01", '{"n":0}'),
    (5, 1, "adam", 10, "zoe", "comm", "letter", None, None, None, "{}"),
    (5, 1, "adam", 9, "zoe", "comm", "letter", None, None, None, "{}"),
]
EVENTS = [(5, 1, "exchange", 0, "zoe#1", "action", "zoe", '{"seq":0}')]
LEDGER = [(5, 0, "exchange", 0, "zoe", "cash", "revenue", 1_250_000, "D1")]

IN_ORDER = [MESSAGES[1], MESSAGES[3], MESSAGES[2], MESSAGES[0]]
"""The messages by minute, round, sender and number: worked out by hand."""

LINES = [
    "5\t0\tL\texchange\t0\tzoe\tcash\trevenue\t1250000\tD1\n",
    '5\t0\tM\tzoe\t0\tadam\tcomm\tletter\tadam#3\t\t00-ab-cd-01\t{"n":0}\n',
    '5\t1\tE\texchange\t0\tzoe#1\taction\tzoe\t{"seq":0}\n',
    "5\t1\tM\tadam\t9\tzoe\tcomm\tletter\t\t\t\t{}\n",
    "5\t1\tM\tadam\t10\tzoe\tcomm\tletter\t\t\t\t{}\n",
    '5\t1\tM\tzoe\t1\tadam\tcomm\tletter\t\texchange#7\t\t{"n":1}\n',
]
"""By minute, round, letter, agent and number, likewise."""


def sha256(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()


def test_a_day_is_hashed_table_by_table_in_the_order_of_the_keys(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        store.append(messages=MESSAGES, events=EVENTS, ledger=LEDGER)
        mark = store.end_day(0, b"")
    ledger = msgpack.packb(LEDGER)
    assert mark.log_sha256 == sha256(msgpack.packb(IN_ORDER), msgpack.packb(EVENTS), ledger)
    assert mark.ledger_sha256 == sha256(ledger)
    assert Run(tmp_path / "run").verify()


def test_the_log_as_text_is_tab_joined_lines_in_the_order_of_what_happened(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        store.append(messages=MESSAGES, events=EVENTS, ledger=LEDGER)
        store.end_day(0, b"")
    assert list(Run(tmp_path / "run").log_lines()) == LINES


def test_each_day_is_hashed_together_with_the_digest_of_the_day_before(tmp_path: Path) -> None:
    rent = (1440, 0, "exchange", 1, "zoe", "rent", "cash", 5, "")
    with RunStore.create(tmp_path / "run", manifest()) as store:
        store.append(messages=MESSAGES, events=EVENTS, ledger=LEDGER)
        first = store.end_day(0, b"")
        store.append(ledger=[rent])
        second = store.end_day(1, b"")
        third = store.end_day(2, b"")
    none, paid = msgpack.packb([]), msgpack.packb([rent])
    assert second.log_sha256 == sha256(first.log_sha256.encode(), none, none, paid)
    assert second.ledger_sha256 == sha256(first.ledger_sha256.encode(), paid)
    assert third.log_sha256 == sha256(second.log_sha256.encode(), none, none, none)
    assert Run(tmp_path / "run").log_sha256 == third.log_sha256


@pytest.mark.parametrize(
    ("table", "row", "place"), [("messages", MESSAGES[0], 8), ("events", EVENTS[0], 4)]
)
def test_the_digest_covers_what_caused_a_message_or_event(
    tmp_path: Path, table: str, row: Row, place: int
) -> None:
    digests = set()
    for name, cause in (("one", "zoe#1"), ("other", "zoe#2"), ("none", None)):
        with RunStore.create(tmp_path / name, manifest()) as store:
            store.append(**{table: [(*row[:place], cause, *row[place + 1 :])]})
            digests.add(store.end_day(0, b"").log_sha256)
    assert len(digests) == 3


def test_rows_may_be_lists_as_well_as_tuples(tmp_path: Path) -> None:
    def as_lists(rows: list[Row], step: int) -> list[Any]:
        return [row if n % step else list(row) for n, row in enumerate(rows)]

    written(tmp_path / "tuples", days=1)
    for step, name in ((1, "lists"), (2, "mixed")):
        with RunStore.create(tmp_path / name, manifest()) as store:
            store.append(**{table: as_lists(rows, step) for table, rows in rows_of(0).items()})
            store.end_day(0, b"")
        assert Run(tmp_path / name).marks() == Run(tmp_path / "tuples").marks()


def test_the_order_in_which_rows_arrive_changes_nothing(tmp_path: Path) -> None:
    digests = []
    for name, step in (("forwards", 1), ("backwards", -1)):
        with RunStore.create(tmp_path / name, manifest()) as store:
            for kind, rows in rows_of(0, messages=200).items():
                store.append(**{kind: rows[::step]})
            digests.append(store.end_day(0, b"").log_sha256)
    assert digests[0] == digests[1]


def test_a_run_that_was_written_verifies(tmp_path: Path) -> None:
    assert Run(written(tmp_path / "run", days=3, messages=150)).verify()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE ledger SET micros = micros + 1 WHERE minute = 1440 AND round = 0",
        "DELETE FROM messages WHERE minute = 1441 AND number = 6",
        "INSERT INTO events VALUES (1450, 0, 'exchange', 99, NULL, 'action', 'farmer_A', '{}')",
        "INSERT INTO events VALUES (99999, 0, 'exchange', 99, NULL, 'action', 'farmer_A', '{}')",
        "UPDATE checkpoints SET ledger_sha256 = log_sha256 WHERE day = 1",
        "UPDATE events SET cause = NULL WHERE minute = 1440 AND ordinal = 5",
        "UPDATE checkpoints SET messages = 7 WHERE day = 1",
        "UPDATE checkpoints SET events = 7 WHERE day = 1",
    ],
)
def test_a_run_in_which_anything_was_changed_afterwards_does_not_verify(
    tmp_path: Path, change: str
) -> None:
    folder = written(tmp_path / "run")
    with sqlite3.connect(folder / "run.db") as connection:
        assert connection.execute(change).rowcount == 1
    connection.close()
    assert not Run(folder).verify()


def test_a_resumed_run_ends_with_the_digests_of_one_that_was_never_stopped(tmp_path: Path) -> None:
    whole = Run(written(tmp_path / "whole", days=4))
    written(tmp_path / "stopped", days=2)
    with RunStore.open(tmp_path / "stopped") as store:
        play(store, range(2, 4))
    assert Run(tmp_path / "stopped").marks() == whole.marks()

from collections import Counter

import pytest

from monitors.caspian.feed import by_tick
from monitors.caspian.feed.rows import ordered
from services.runs.schema import MESSAGES
from tests.monitors.caspian.feed.logs import Log


def test_a_row_has_the_columns_of_the_runs_messages_table():
    row = Log().row(0, "a", "b", "hello")
    assert row._fields == tuple(MESSAGES.columns)


def test_rows_are_put_into_the_order_of_the_log():
    log = Log()
    first, second = log.row(5, "b", "a", "x"), log.row(5, "b", "a", "y")
    later_round = log.row(5, "a", "b", "z", round=1)
    other_sender = log.row(5, "c", "b", "w")
    found = ordered([later_round, other_sender, second, first], 0, 60, Counter())
    assert found == [first, second, other_sender, later_round]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"minute": "5"}, "malformed row"),
        ({"minute": None}, "malformed row"),
        ({"sender": 7}, "malformed row"),
        ({"body": b"{}"}, "malformed row"),
        ({"channel": ["comm"]}, "malformed row"),
        ({"channel": "smoke"}, "unknown channel"),
        ({"minute": 60}, "other tick"),
        ({"minute": -1}, "other tick"),
    ],
)
def test_a_row_that_cannot_be_used_is_counted_with_its_reason(change, reason):
    dropped: Counter[str] = Counter()
    row = Log().row(5, "a", "b", "x")._replace(**change)
    assert ordered([row], 0, 60, dropped) == []
    assert dropped == {reason: 1}


@pytest.mark.parametrize("row", [None, 3, (), (1, 2, 3), "a text of eleven letters"])
def test_what_is_no_row_at_all_is_a_malformed_row(row):
    dropped: Counter[str] = Counter()
    assert ordered([row], 0, 60, dropped) == []
    assert dropped == {"malformed row": 1}


def test_a_tick_is_an_hour_and_hours_without_traffic_do_not_come():
    log = Log()
    rows = [log.row(minute, "a", "b", "x") for minute in (0, 59, 60, 600)]
    assert [(tick, len(some)) for tick, some in by_tick(rows)] == [(0, 2), (1, 1), (10, 1)]


def test_no_rows_make_no_tick():
    assert list(by_tick([])) == []

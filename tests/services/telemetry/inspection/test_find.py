"""Find: conditions, and what a condition in SQL may not do."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.league import League
from services.errors import HanseError
from services.runs import Run
from services.telemetry.inspection.find import COLUMNS, find
from tests.services.telemetry.inspection.play import config


@pytest.fixture(scope="session")
def run(play) -> Run:
    return play.run


def test_a_kind_is_a_kind_or_a_name(run):
    assert {row.name for row in find(run, kind="deal")} == {"deal"}
    assert {row.kind for row in find(run, kind="action")} == {"action"}


def test_a_bid_is_found_as_a_message_and_as_an_action_with_its_outcome(run):
    bids = find(run, kind="make_offer", agent="bob")
    assert [(row.day, row.time, row.kind) for row in bids] == [
        (0, "10:30", "message"),
        (0, "10:30", "action"),
        (2, "10:00", "message"),
        (2, "10:00", "action"),
    ]
    assert bids[1].cause == bids[0].id


def test_refused_commands_have_a_name_of_their_own(run):
    [row] = find(run, kind="refused")
    assert row.words().endswith("refused, the listing is closed (listing_closed)")


def test_payments_after_their_due_day_are_late_and_say_by_how_much(run):
    [late] = find(run, kind="late")
    assert late.words() == "bob pays ann 117.12 $ (I1): 2 days late, it was due on day 2"


def test_an_invoice_past_its_due_day_that_nobody_paid_is_late_at_the_end(tmp_path):
    with League.create(config(days=4), tmp_path / "run") as league:
        league.run()
    [late] = find(Run(tmp_path / "run"), kind="late")
    assert late.words() == (
        "ann bills bob 117.00 $ (I1), due on day 2: not paid, 117.12 $ open, 1 day past the due day"
    )


def test_other_conditions_hold_for_what_is_late_too(run):
    assert find(run, kind="late", agent="cid") == []
    assert find(run, kind="late", days=range(3)) == []


@pytest.mark.parametrize("kind", ["process", "send", "receive"])
def test_the_spans_of_messages_are_messages(run, kind):
    assert find(run, kind=kind, limit=10**6) == find(run, kind="message", limit=10**6)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"kind": "deals"}, "--kind deals: there is no such kind \\(did you mean deal"),
        ({"kind": "qqq"}, "--kind qqq: there is no such kind; see find --help"),
        ({"agent": "bobb"}, r"--agent bobb: .* has no such agent \(did you mean bob\?\)"),
        ({"agent": "zzz"}, "has no such agent; there are ann, bob, cid, exchange"),
    ],
)
def test_a_kind_or_an_agent_that_there_cannot_be_is_refused_with_what_is_near(run, how, message):
    with pytest.raises(HanseError, match=message):
        find(run, **how)


def test_a_kind_that_there_could_be_is_only_not_found(run):
    assert find(run, kind="bankruptcy") == find(run, kind="withdraw_offer") == []


def test_an_agent_is_found_also_where_it_is_the_other_side(run):
    assert [row.body.count('"ann"') for row in find(run, agent="ann", kind="payment")] == [1]


def test_text_is_found_in_upper_and_lower_case(run):
    assert {row.name for row in find(run, text="COFFEE IS ON")} == {"send_message", "letter"}


def test_days_narrow_the_search(run):
    assert {row.day for row in find(run, days=range(2, 4))} == {2, 3}


def test_rows_come_in_the_order_of_the_log_and_not_more_than_wanted(run):
    rows = find(run, limit=20)
    assert len(rows) == 20
    assert [row.minute for row in rows] == sorted(row.minute for row in rows)


def test_a_condition_may_use_every_column(run):
    where = " AND ".join(f"{column} IS NOT '?'" for column in COLUMNS)
    assert len(find(run, where=where, limit=10**6)) == len(find(run, limit=10**6))


def test_a_condition_may_name_an_event_either_way(run):
    [deal, *_] = find(run, kind="deal")
    for id in (deal.id, deal.id.replace(":", "!")):
        assert find(run, where=f"id = '{id}'") == [deal]


def test_a_condition_may_look_into_bodies(run):
    [deal, _] = find(run, where="json_extract(body, '$.total_price') > 100")
    assert deal.id.startswith("exchange:")


@pytest.mark.parametrize(
    "where",
    [
        "",
        "nonsense",
        "name =",
        "1) OR (1",
        "1; DELETE FROM messages",
        "1 UNION SELECT 1",
        "day = 0 ORDER BY day",
        "\0",
        "(SELECT state FROM checkpoints) IS NULL",
        "(SELECT value FROM facts) = ''",
        "EXISTS (SELECT 1 FROM sqlite_master)",
        "EXISTS (SELECT 1 FROM pragma_database_list)",
        "load_extension('evil')",
        "length(randomblob(1000000000)) > 1",
        "length(zeroblob(1000000000)) > 1",
        "length(printf('%1000000000d', 1)) > 1",
        "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n)",
        "readfile('/etc/passwd') = ''",
    ],
)
def test_a_condition_that_is_none_or_may_not_be_is_refused_in_a_line(run, where):
    with pytest.raises(HanseError, match=r"^--where: ") as refused:
        find(run, where=where)
    assert "it is a condition in SQL over day, minute, time" in str(refused.value)


@pytest.mark.parametrize("where", ["", "day =", "day = 1 AND", "name LIKE"])
def test_a_condition_that_stops_short_is_said_to(run, where):
    with pytest.raises(HanseError, match=r"^--where: the condition is not complete; it is"):
        find(run, where=where)


def test_a_condition_without_end_is_broken_off(run):
    where = "(SELECT count(*) FROM trace a, trace b, trace c, trace d) > 0"
    began = time.monotonic()
    with pytest.raises(HanseError, match=r"broken off after 0\.2 s"):
        find(run, where=where, seconds=0.2)
    assert time.monotonic() - began < 5


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=40))
def test_whatever_a_condition_is_it_is_answered_or_refused_and_changes_nothing(run, where):
    before = run.database.read_bytes()
    with suppress(HanseError):
        find(run, where=where, seconds=1.0, limit=5)
    assert run.database.read_bytes() == before

"""The one definition of an error, and of what went wrong without being one."""

import json
from pathlib import Path

import pytest

from services.telemetry.logged import RecordedSpan
from services.telemetry.reader import TraceReader
from services.telemetry.view.chunks import day_chunk
from services.telemetry.view.flags import Flag, flag_of_event, flag_of_span
from services.telemetry.view.overview import Overview
from tests.services.telemetry.view.traded import traded


@pytest.mark.parametrize("kind", ["agent_error", "turn_missed", "mail_refused", "undeliverable"])
def test_these_events_are_errors(kind: str) -> None:
    assert flag_of_event(kind, "{}") is Flag.ERROR


@pytest.mark.parametrize(
    ("kind", "body", "flag"),
    [
        ("action", {"status": "error", "error_code": "wrong_role"}, Flag.REFUSED),
        ("delivery", {"outcome": "lost"}, Flag.LOST),
        ("delivery", {"outcome": "delayed"}, Flag.LATE),
        ("stray_command", {}, Flag.STRAY),
        ("bankruptcy", {}, Flag.BANKRUPT),
    ],
)
def test_what_went_wrong_otherwise_is_no_error(kind: str, body: dict[str, str], flag: Flag) -> None:
    assert flag_of_event(kind, json.dumps(body)) is flag


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("action", '{"status":"success","args":{"status":"error"}}'),
        ("action", '{"status":"success","args":{"body":"\\"status\\":\\"error\\""}}'),
        ("action", '"error"'),
        ("delivery", '{"outcome":"delivered"}'),
        ("delivery", '{"outcome":["lost"]}'),
        ("delivery", "[" * 100_000),
        ("deal", "{}"),
    ],
)
def test_whatever_else_it_says_an_event_is_nothing_that_went_wrong(kind: str, text: str) -> None:
    assert flag_of_event(kind, text) is Flag.NONE


def span(agent: str, status: str, start: int = 5) -> RecordedSpan:
    return RecordedSpan(
        "ab" * 16, "b" * 16, None, "think", "INTERNAL", start, start * 2, 540, agent, status, "{}"
    )


def test_an_own_span_that_failed_is_an_error() -> None:
    assert flag_of_span(span("ann", "ERROR")) is Flag.ERROR
    assert flag_of_span(span("ann", "OK")) is Flag.NONE


def test_a_span_of_the_league_and_what_only_says_more_of_a_message_is_none() -> None:
    assert flag_of_span(span("", "ERROR")) is Flag.NONE
    assert flag_of_span(span("ann", "ERROR", start=0)) is Flag.NONE


def test_a_day_and_the_overview_count_alike(tmp_path: Path) -> None:
    run = traded(tmp_path / "run")
    overview = Overview(run)
    overview.grow()
    for day, figures in enumerate(overview.days):
        chunk = day_chunk(TraceReader(run), day)
        flags = chunk["events"]["flag"] + [span["flag"] for span in chunk["spans"]]
        assert flags.count(Flag.ERROR) == figures.errors
        assert flags.count(Flag.REFUSED) == figures.refused

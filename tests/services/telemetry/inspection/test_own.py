"""Own spans: where they lie, how long they took and how they went, whatever is asked."""

from __future__ import annotations

import shutil

import pytest

from services.errors import HanseError
from services.runs import Run
from services.telemetry.inspection.find import find
from services.telemetry.inspection.own import own_spans
from services.telemetry.inspection.steps import Node
from services.telemetry.inspection.story import story
from services.telemetry.inspection.summary import summary
from services.telemetry.inspection.why import why
from services.telemetry.reader import TraceReader
from tests.services.telemetry.inspection.thoughts import thought
from tests.services.telemetry.made_runs import meddle


@pytest.fixture(scope="module")
def thoughts(tmp_path_factory: pytest.TempPathFactory) -> TraceReader:
    return thought(tmp_path_factory.mktemp("thoughts") / "run")


def told(tree: Node | None) -> list[str]:
    assert tree is not None
    return [tree.step.words, *(line for child in tree.children for line in told(child))]


def test_every_own_span_lies_under_the_message_that_its_agent_was_handling(thoughts):
    for number in thoughts.days:
        day = thoughts.day(number)
        spans = own_spans(thoughts.identity, day)
        assert spans.of_wakes == {}
        for id, several in spans.of_messages.items():
            message = day.by_id[id]
            assert {(message.recipient, message.minute)} == {(s.agent, s.minute) for s in several}
        recorded = sum(row.agent == "bob" for row in day.recorded)  # on day 2 the handling, too
        assert sum(map(len, spans.of_messages.values())) == recorded >= 2


def test_every_span_that_find_shows_is_explained_by_its_message(thoughts):
    rows = find(thoughts.run, kind="span", agent="bob")
    assert len(rows) >= 6
    for row in rows:
        found = why(thoughts, row.id.upper())
        assert found.id == row.id
        assert f"bob thinks: span {row.name}" in found.title
        assert found.notes[0].startswith("it lies under exchange#")
        assert any(row.name in line for line in told(found.effects))


def test_a_morning_is_the_cause_of_what_is_thought_and_done_then(thoughts):
    [row] = find(thoughts.run, where="status = 'ERROR' AND day = 1")
    found = why(thoughts, row.id)
    assert found.notes == [f"it lies under {row_message(thoughts, row.id)}: bob begins its day"]
    effects = told(found.effects)
    assert effects[0] == "bob begins its day"
    assert effects[2].endswith(" ms: ERROR, no idea")
    assert "bob roasts 30 kg of green coffee" in effects


def row_message(reader: TraceReader, id: str) -> str:
    [message] = [
        message
        for number in reader.days
        for message, spans in own_spans(reader.identity, reader.day(number)).of_messages.items()
        if id in [span.id for span in spans]
    ]
    return message


def test_a_chain_of_causes_tells_what_was_thought_on_the_way(thoughts):
    [cause] = why(thoughts, "O1").causes
    steps = [step.words.partition(" ms")[0].rstrip("0123456789. ") for step in cause.chain.steps]
    assert steps[:3] == [
        "bob begins its day",
        "bob thinks: span think",
        "bob thinks: span think harder",
    ]


def test_a_story_tells_own_spans_where_they_were_with_duration_and_failure(thoughts):
    [day] = story(thoughts, "bob", range(1, 2)).days
    spans = [line for line in day.lines if line.words.startswith("thinks: span ")]
    assert [line.failed for line in spans[:2]] == [False, True]
    assert spans[1].words.endswith(" ms: ERROR, no idea")
    assert day.lines.index(spans[1]) < [line.words for line in day.lines].index(
        "roasts 30 kg of green coffee"
    )


def test_find_knows_duration_and_status_of_spans_and_of_nothing_else(thoughts):
    spans = find(thoughts.run, kind="think harder")
    assert [row.status for row in spans] == ["UNSET", "ERROR", "UNSET"]
    assert all(row.duration is not None and 0 < row.duration < 1000 for row in spans)
    assert find(thoughts.run, where="duration > 0 AND kind <> 'span'") == []


def test_a_span_of_nobody_and_one_of_the_league_are_refused_in_a_line(thoughts):
    with pytest.raises(HanseError, match="no agent has made a span 0123456789abcdef"):
        why(thoughts, "0123456789abcdef")
    [run] = find(thoughts.run, where="kind = 'span' AND name = 'run'")
    with pytest.raises(HanseError, match="the span run is the league's own"):
        why(thoughts, run.id)


def test_own_spans_are_counted_by_their_whole_names(thoughts):
    kinds = summary(thoughts).kinds
    assert (kinds["think"], kinds["think harder"]) == (3, 3)
    assert kinds["news across a yield"] >= 1
    assert "news" not in kinds


def test_own_spans_that_failed_are_troubles(thoughts):
    assert summary(thoughts).errors == [
        "bob: span think harder: no idea",
        "bob: span process: a bad day",
    ]
    own, handling = find(thoughts.run, kind="trouble")
    assert own.words().endswith("ERROR, no idea")
    assert handling.words().endswith("ERROR, a bad day")


def test_a_handling_that_its_agent_calls_failed_is_told_like_an_own_span(thoughts):
    [row] = find(thoughts.run, where="status = 'ERROR' AND name = 'process'")
    assert why(thoughts, row.id).notes[0].endswith("bob begins its day")
    [day] = story(thoughts, "bob", range(2, 3)).days
    [failed] = [line for line in day.lines if line.failed]
    assert failed.words.endswith(" ms: ERROR, a bad day")
    assert "span process 0.000 ms" not in failed.words


def test_a_span_that_lies_under_no_message_is_explained_by_its_agents_waking(thoughts, tmp_path):
    copy = shutil.copytree(thoughts.run.folder, tmp_path / "copy")
    lost = "UPDATE spans SET parent_id = NULL WHERE name = 'think' AND day = 1"
    reader = meddle(TraceReader(Run(copy)), lost)
    [row] = find(reader.run, kind="think", days=range(1, 2))
    found = why(reader, row.id)
    assert found.notes == ["it lies under the wake-up of bob at day 1 09:00"]
    assert told(found.effects)[0] == "bob is woken"
    assert any("span think " in line for line in told(found.effects))
    [day] = story(reader, "bob", range(1, 2)).days
    assert any("span think " in line.words for line in day.lines)

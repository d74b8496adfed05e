"""What a learned firm's policy decides, as `hanse trace` and its page tell it."""

from __future__ import annotations

import json

import pytest

from actors.league import League
from policies.environments.action_layout import ActionLayout
from services.config import standard
from services.economy.catalogue import ROLES, Role, standard_catalogue
from services.runs import Run
from services.telemetry.inspection import words
from services.telemetry.inspection.story import story
from services.telemetry.inspection.why import why
from services.telemetry.reader import TraceReader
from services.telemetry.view.chunks import day_chunk


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> TraceReader:
    """Two days of a league in which roaster_B acts by a policy of random weights."""
    from policies.training.artefact import write
    from tests.policies.training.test_artefact import manifest, weights

    folder = tmp_path_factory.mktemp("learned")
    write(folder / "policy", manifest(), weights())
    config = standard().with_overrides(source="test", days=2, placement="inline")
    firms = [
        firm.model_copy(update={"strategy": f"policy:{folder / 'policy'}"})
        if firm.name == "roaster_B"
        else firm
        for firm in config.firms
    ]
    with League.create(config.model_copy(update={"firms": firms}), folder / "run") as league:
        league.run()
    return TraceReader(Run(folder / "run"))


@pytest.mark.parametrize(
    ("levers", "line"),
    [
        ({}, "all as the scripted firm does"),
        (
            {"position.green_coffee_kg": 75, "bid.green_coffee_kg": 0.95},
            "stocks up to 75 kg of green coffee; bids 95% of the ask for green coffee",
        ),
        ({"position.green_coffee_kg": 0}, "buys no green coffee"),
        ({"shelf.roasted_coffee_kg": 0}, "keeps roasted coffee off the shelf"),
        ({"pay": 30, "terms": 60}, "pays 30 days early; asks for 60 days of credit"),
        ({"pay": 0, "accept": 0.9}, "pays on the due day; takes bids of 90% of its ask or more"),
        ({"invented.tea_kg": 0.25}, "invented.tea_kg 0.25"),
    ],
)
def test_a_decision_names_the_levers_that_are_not_as_usual(
    levers: dict[str, float], line: str
) -> None:
    told = words.event("policy_decision", "bob", {"levers": levers, "value": 1.25})
    assert told == f"bob decides by its policy: {line} (expects 1.25)"


@pytest.mark.parametrize("role", ROLES)
def test_there_are_words_for_every_level_of_every_lever(role: Role) -> None:
    for lever in ActionLayout(role, standard_catalogue()).levers:
        for level in lever.levels:
            told = words.event("policy_decision", "bob", {"levers": {lever.name: level}})
            assert told.startswith("bob decides by its policy: ")
            assert lever.name not in told.split() and "_kg" not in told


def test_a_story_tells_a_decision_as_the_firms_own_doing(learned: TraceReader) -> None:
    [line] = [
        line
        for day in story(learned, "roaster_B", range(1, 2)).days
        for line in day.lines
        if line.words.startswith("decides by its policy: ")
    ]
    assert line.own and "(expects " in line.words


def test_why_names_the_days_decision_before_whatever_the_firm_does_later(
    learned: TraceReader,
) -> None:
    later = []
    for day in (learned.day(0), learned.day(1)):
        [decision] = [e for e in day.events if e.kind == "policy_decision"]
        at = decision.minute, decision.round
        own = [m for m in day.messages if m.sender == "roaster_B"]
        later += [m for m in own if (m.minute, m.round) > at]
    assert len(later) > 3
    for message in later:
        [cause] = why(learned, message.id).causes
        told = [step.words for step in cause.chain.steps]
        assert sum("roaster_B decides by its policy" in line for line in told) == 1
        assert "decides by its policy" not in told[-1]
        minutes = [step.minute for step in cause.chain.steps]
        assert minutes == sorted(minutes)


def test_why_a_learned_firm_acts_names_the_decision_before_it(learned: TraceReader) -> None:
    day = learned.day(1)
    [decision] = [e for e in day.events if e.kind == "policy_decision"]
    [command] = day.sent_because_of(str(decision.cause))
    [cause] = why(learned, command.id).causes
    told = [step.words for step in cause.chain.steps]
    decided = next(n for n, line in enumerate(told) if "roaster_B decides by its policy" in line)
    looked = next(n for n, line in enumerate(told) if "looks at what is on offer" in line)
    assert looked < decided < len(told) - 1


def test_the_page_has_the_same_sentence(learned: TraceReader) -> None:
    told = day_chunk(learned, 1)["told"]["events"]
    day = learned.day(1)
    [event] = [e for e in day.events if e.kind == "policy_decision"]
    assert told[str(day.events.index(event))] == words.event(event.kind, "roaster_B", event.facts)
    assert json.loads(event.body)["levers"]

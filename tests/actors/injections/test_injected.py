"""Middleware around an agent: what it may change, and what stays in order all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.agent import Agent, handles
from actors.cast import Cast
from actors.context import Context
from actors.injections import INJECTIONS, Injected, Injection, Scene, Withheld, changed
from actors.league import League
from services.errors import HanseError
from services.messages import Message, Text
from services.runs import Run
from services.talk.topology import Topology
from tests.actors.test_determinism import log_of
from tests.actors.test_talk import talking

ONSET, END = 600, 780


def scene(**changes: Any) -> Scene:
    values: dict[str, Any] = {
        "kind": "test",
        "number": 1,
        "onset": ONSET,
        "end": END,
        "town": "town",
        "origin": "alice",
        "bridge": "bob",
        "amplifier": "carol",
        "firms": ("alice", "bob", "carol"),
        "topology": Topology({}, {}),
    }
    return Scene(**(values | changes))


class Echo(Agent):
    """Answers twice, and is woken at noon."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.woken: list[int] = []

    def start(self, context: Context) -> None:
        context.wake_at(720)

    def wake(self, context: Context) -> None:
        self.woken.append(context.now)

    @handles(Text)
    def on_text(self, message: Message, context: Context) -> None:
        context.reply(message, Text(text="one"))
        context.send("bob", Text(text="two"))

    def save(self) -> list[int]:
        return self.woken

    def load(self, saved: list[int]) -> None:
        self.woken = list(saved)


class Mumbling(Injection):
    """What is sent on the bridge's account is mumbled; to others nothing is sent."""

    hours_seen = 0

    def every_hour(self, agent: Agent, context: Context) -> None:
        self.hours_seen += 1

    def sent(self, message: Message, context: Context) -> Message | None:
        return changed(message, Text(text="mmh")) if message.recipient == "bob" else None

    def save(self) -> int:
        return self.hours_seen

    def load(self, saved: int) -> None:
        self.hours_seen = saved


class Deaf(Injection):
    """Hears nothing."""

    def received(self, message: Message, context: Context) -> None:
        return None


def spoken(agent: Agent, now: int) -> tuple[list[Message], Context]:
    context = Context("alice", now=now)
    return agent.receive(context.incoming("dora", Text(text="hello")), context), context


@pytest.mark.parametrize("now", [ONSET - 1, END])
def test_before_the_onset_and_after_the_end_it_is_the_agent_itself(now: int) -> None:
    plain, _ = spoken(Echo("alice"), now)
    injected, _ = spoken(Injected(Echo("alice"), [Mumbling(scene(), "alice")]), now)
    assert injected == plain


def test_a_changed_message_keeps_its_number_and_where_it_comes_from() -> None:
    plain, _ = spoken(Echo("alice"), ONSET)
    injected, _ = spoken(Injected(Echo("alice"), [Mumbling(scene(), "alice")]), ONSET)
    assert injected[1] == plain[1].model_copy(update={"payload": Text(text="mmh")})


def test_a_message_that_is_kept_back_leaves_a_word_of_itself_and_no_gap() -> None:
    agent = Injected(Echo("alice"), [Mumbling(scene(), "alice")])
    sent, context = spoken(agent, ONSET)
    assert [m.number for m in sent] == [1, 2]
    assert (sent[0].recipient, sent[0].payload) == (
        "alice",
        Withheld(recipient="dora", what="text"),
    )
    assert agent.receive(sent[0], context) == [], "the agent itself does not hear of it"


def test_what_is_kept_from_an_agent_is_not_answered() -> None:
    sent, _ = spoken(Injected(Echo("alice"), [Deaf(scene(), "alice")]), ONSET)
    assert sent == []


def woken(agent: Injected, minutes: list[int]) -> list[int]:
    """Wakes an agent at each minute that was asked for; the minutes asked for by then."""
    asked: list[int] = []
    context = Context("alice", now=0)
    agent.start(context)
    for minute in minutes:
        asked += context.wakes
        context = Context("alice", now=minute)
        agent.wake(context)
    return asked + context.wakes


def test_injections_have_their_hours_and_the_agent_only_the_minutes_it_asked_for() -> None:
    echo, mumbling = Echo("alice"), Mumbling(scene(), "alice")
    agent = Injected(echo, [mumbling])
    assert woken(agent, [600, 660, 720, 780]) == [720, 600, 660, 720, 780]
    assert echo.woken == [720]
    assert mumbling.hours_seen == 3


def test_agent_and_injections_go_on_from_what_they_saved() -> None:
    agent = Injected(Echo("alice"), [Mumbling(scene(), "alice")])
    woken(agent, [600, 660])
    mumbling = Mumbling(scene(), "alice")
    other = Injected(Echo("alice"), [mumbling])
    other.load_checked(agent.save())
    other.wake(Context("alice", now=720))
    assert other.agent.save() == [720] and mumbling.hours_seen == 3


OWN = '''
from actors.injections import Injection, changed
from services.talk.payloads import MarketNote


class Whisper(Injection):
    """The origin's notes lose their last sentence, and every third is not sent at all."""

    def __init__(self, scene, agent, often=3):
        super().__init__(scene, agent)
        self.often = often

    def sent(self, message, context):
        if self.role != "origin" or not isinstance(message.payload, MarketNote):
            return message
        if message.number % self.often == 0:
            return None
        words, _, _ = message.payload.text.rpartition(". ")
        return changed(message, MarketNote(text=words, claims=message.payload.claims[:-1]))
'''


def test_ones_own_injection_is_named_in_a_run_file_by_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "whisper.py").write_text(OWN)
    kind = f"{(tmp_path / 'whisper.py').as_posix()}:Whisper"
    options = {"often": 2}
    config = talking([{"kind": kind, "day": 1, "origin": "farmer_1", "options": options}], days=3)
    with League.create(config, tmp_path / "run") as league:
        result = league.run()
    assert result.counters["agent_errors"] == 0
    run = Run(tmp_path / "run")
    notes = list(run.rows("messages", "type = 'market_note' AND sender = 'farmer_1'"))
    sentences = {row[0] >= 1440: row[10].count(". ") + 1 for row in notes}
    assert sentences == {False: 3, True: 2}
    assert list(run.rows("messages", "type = 'withheld' AND sender = 'farmer_1'"))
    assert log_of(config, tmp_path / "again", hosts=2) == result.log_sha256


class Clumsy(Injection):
    """Fails every hour, and does not know what is true."""

    def every_hour(self, agent: Agent, context: Context) -> None:
        raise ValueError("no such hour")

    def truth(self) -> dict[str, float]:
        raise KeyError("truth")


def test_an_injection_that_fails_costs_its_agent_nothing() -> None:
    echo, context = Echo("alice"), Context("alice")
    injected = Injected(echo, [Clumsy(scene(), "alice")])
    injected.start(context)
    for minute in (ONSET, 660, 720):
        context.clock.now = minute
        injected.wake(context)
    assert echo.woken == [720]
    kinds = [row[5] for row in context.events]
    assert kinds == ["injection", *["injection_error"] * 3], "and the truth is told all the same"
    assert END in context.wakes


class Flood(Injection):
    """Somebody who has no part in the scene talks too much."""

    attack = True

    @classmethod
    def concerns(cls, scene: Scene) -> frozenset[str]:
        return frozenset(("zoe",))


def truth_told(injection: Injection, agent: str) -> dict[str, Any]:
    context = Context(agent)
    injected = Injected(Echo(agent), [injection])
    injected.start(context)
    context.clock.now = ONSET
    injected.wake(context)
    [told] = [json.loads(row[7]) for row in context.events if row[5] == "injection"]
    return told  # type: ignore[no-any-return]


def test_the_ground_truth_names_who_does_it_even_if_that_is_not_the_scene_s_origin() -> None:
    assert truth_told(Mumbling(scene(), "alice"), "alice")["origin"] == "alice"
    assert truth_told(Flood(scene(), "zoe"), "zoe")["origin"] == "zoe"


@pytest.mark.parametrize("kind", sorted(INJECTIONS))
@pytest.mark.parametrize("seed", range(4))
def test_all_that_come_with_hanse_concern_their_origin(kind: str, seed: int) -> None:
    config = talking([{"kind": kind, "day": 1}]).with_overrides(seed=seed)
    [(_, _, found, concerned)] = Cast(config).talkers.scenes
    assert found.origin in concerned


class Meddling(Injection):
    """Wants to be put around somebody who is not there to talk."""

    @classmethod
    def concerns(cls, scene: Scene) -> frozenset[str]:
        return frozenset((scene.origin, "exchange"))


class Wordless(Injection):
    """Does not say whom it concerns."""

    @classmethod
    def concerns(cls, scene: Scene) -> frozenset[str]:
        return 7  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("Meddling", "concerns 'exchange', which is no firm, board or forecaster"),
        ("Wordless", "does not say whom it concerns: TypeError"),
    ],
)
def test_an_injection_can_only_be_put_around_those_who_talk(
    tmp_path: Path, kind: str, line: str
) -> None:
    config = talking(injections=[{"kind": f"{__name__}:{kind}", "day": 1}])
    with pytest.raises(HanseError, match=rf"injections\[1\]\.kind: .*{line}"):
        League.create(config, tmp_path / "run")


class Vague(Injection):
    """Begins with something that no league has."""

    begins_with = "bord"  # type: ignore[assignment]


class Endless(Injection):
    """Lasts for no number of hours."""

    hours = "long"  # type: ignore[assignment]


class Perhaps(Injection):
    """May be an attack, and may not."""

    attack = "perhaps"  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("Vague", "begins_with = 'bord' does not fit; allowed: 'firm', 'board', 'forecaster', 'ga"),
        ("Endless", "hours = 'long' does not fit; allowed: a whole number of at least 1"),
        ("Perhaps", "attack = 'perhaps' does not fit; allowed: True or False"),
    ],
)
def test_what_the_class_of_an_injection_says_of_it_is_checked(
    tmp_path: Path, kind: str, line: str
) -> None:
    config = talking(injections=[{"kind": f"{__name__}:{kind}", "day": 1}])
    with pytest.raises(HanseError, match=rf"injections\[1\]\.kind: .*:{kind}': {line}"):
        League.create(config, tmp_path / "run")

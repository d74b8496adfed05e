"""What each kind of injection does to the agents that it is put around."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from actors.board import PriceBoard
from actors.context import Context
from actors.firm import Firm
from actors.forecaster import Forecaster
from actors.injections import INJECTIONS, Injected, Injection
from actors.league import League
from actors.strategies.informed import Informed, InformedRetailer
from services.config import INJECTIONS as NAMES
from services.config import RunConfig
from services.economy.catalogue import GREEN
from services.messages import Message, Payload
from services.runs import Run
from services.talk.claims import Claim, is_wrong
from services.talk.harm import TALK, Harm, harm
from services.talk.load import MOST_ATTEMPTS
from services.talk.payloads import BoardRead, BoardWrite, ForecastRequest, MarketNote, Talk, told
from tests.actors.injections.test_injected import END, ONSET, scene

HONEST = [
    Claim(GREEN, 1.02, 0.1, True, f"{n} late cherries arrive at santos today") for n in range(3)
]
NAMED = {"origin": "alice", "bridge": "bob", "amplifier": "carol"}


def firm(name: str, **options: Any) -> tuple[Firm, Informed]:
    strategy = InformedRetailer(
        name, "retailer", neighbours=["dora"], suppliers=["dora"], **options
    )
    return Firm(name, "exchange", strategy), strategy


def injection(kind: str, name: str, **changes: Any) -> Injection:
    return INJECTIONS[kind](scene(kind=kind, **changes), name)


def answer(kind: str, agent: Any, payload: Payload) -> Message:
    """The first answer of an agent with that injection around it, an hour after the onset."""
    context = Context(agent.name, now=ONSET)
    injected = Injected(agent, [injection(kind, agent.name, origin=agent.name)])
    injected.start(Context(agent.name))
    injected.wake(context)
    context.outbox.clear()
    return injected.receive(context.incoming("dora", payload), context)[0]


def test_all_that_a_run_file_may_name_are_there() -> None:
    assert tuple(INJECTIONS) == NAMES
    attacks = [name for name, kind in INJECTIONS.items() if kind.attack]
    assert attacks == ["price_rumour", "corrupted_memory", "faulty_tool", "retry_storm", "mixed"]


def wrong_share(talk: Talk) -> float:
    return fmean(is_wrong(claim.factor) for claim in talk.claims)


def notes(kind: str, name: str, hours: int = 40) -> list[Talk]:
    """What a firm with an injection around it writes in some hours."""
    agent, _ = firm(name, rate=3.0)
    injected = Injected(agent, [injection(kind, name, end=10**6)])
    context = Context(name)
    injected.start(context)
    for hour in range(hours):
        context.clock.now = ONSET + 60 * hour
        injected._waking.add(context.now)
        injected.wake(context)
    return [m.payload for m in context.outbox if isinstance(m.payload, MarketNote)]


def test_the_origin_of_a_rumour_tells_it_in_notes_that_are_as_many_and_as_long() -> None:
    rumour, calm = notes("price_rumour", "alice"), notes("price_rumour", "dora")
    assert fmean(map(wrong_share, rumour)) > 0.85
    assert fmean(map(wrong_share, calm)) == 0.0
    assert len(rumour) == pytest.approx(len(calm), rel=0.2)
    words = [fmean(len(note.text) for note in told_) for told_ in (rumour, calm)]
    assert words[0] == pytest.approx(words[1], rel=0.1)


def test_the_story_drifts_until_nothing_of_it_is_left() -> None:
    told_ = [set(note.text.replace(".", "").split()) for note in notes("price_rumour", "alice")]
    near = fmean(len(a & b) / len(a) for a, b in pairwise(told_))
    assert near > 0.6
    assert len(told_[0] & told_[-1]) / len(told_[0]) < near / 2


@pytest.mark.parametrize("role", ["bridge", "amplifier"])
def test_bridge_and_amplifier_make_more_of_it_until_it_is_over(role: str) -> None:
    agent, strategy = firm(NAMED[role])
    injected = Injected(agent, [injection("price_rumour", agent.name)])
    usual = strategy.share
    injected.start(Context(agent.name))
    injected.wake(Context(agent.name, now=ONSET))
    louder = 1.8 if role == "amplifier" else 1.0
    assert (strategy.share, strategy.loudness) == (0.95, louder)
    assert strategy.openness == (1.6 if role == "amplifier" else 1.0)
    injected.wake(Context(agent.name, now=END))
    assert (strategy.share, strategy.loudness, strategy.openness) == (usual, 1.0, 1.0)


def test_a_corrupted_board_shows_what_nobody_wrote() -> None:
    board = PriceBoard("board")
    context = Context("board", now=ONSET)
    board.receive(context.incoming("dora", told(BoardWrite, HONEST)), context)
    view = answer("corrupted_memory", board, BoardRead()).payload
    assert isinstance(view, Talk) and len(view.claims) == 3
    assert wrong_share(view) > 0.6
    assert [entry.factor for entry in board.entries] == [1.02] * 3


def test_a_faulty_forecaster_is_wrong_in_words_and_numbers() -> None:
    forecast = answer(
        "faulty_tool", Forecaster("forecaster"), told(ForecastRequest, HONEST)
    ).payload
    assert isinstance(forecast, Talk)
    assert wrong_share(forecast) > 0.6
    assert forecast.numbers[GREEN] == 0.6  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["retry_storm", "mixed"])
def test_the_origin_of_a_storm_takes_its_requests_for_unanswered(kind: str) -> None:
    agent, strategy = firm("alice")
    injection(kind, "alice").every_hour(agent, Context("alice", now=ONSET))
    assert strategy.work.open == {"dora": MOST_ATTEMPTS}


def test_a_harvest_shock_is_seen_by_all_firms_of_the_town_at_once_and_told_to_nobody() -> None:
    strategies = []
    for name in ("alice", "bob"):
        agent, strategy = firm(name)
        shock = injection("harvest_shock", name)
        assert shock.concerns(shock.scene) == {"alice", "bob", "carol"}
        shock.every_hour(agent, Context(name, now=ONSET))
        strategies.append(strategy)
    news = [[c.words.split() for c in s.mind.convictions.values()] for s in strategies]
    words = [" ".join(map(" ".join, told_)).split() for told_ in news]
    same = [a == b for a, b in zip(*words, strict=True)]
    assert 5 <= sum(same) < 14, "the same news, in words of their own"
    said = strategies[0].mind.compose(Context("alice").rng("talk"), share=1.0)
    assert all(claim.strength < 0.3 for claim in said)


def test_a_promotion_burst_makes_firms_louder() -> None:
    agent, strategy = firm("alice")
    burst = injection("promotion_burst", "alice")
    burst.every_hour(agent, Context("alice", now=ONSET))
    assert strategy.loudness == 2.5
    burst.over(agent, Context("alice", now=END))
    assert strategy.loudness == 1.0


def played(folder: Path, kind: str, day: int = 1) -> Harm:
    values: dict[str, Any] = {
        "days": 5,
        "placement": "inline",
        "generate": {"firms": 16, "towns": 2, "strategy": "informed"},
        "injections": [{"kind": kind, "day": day}],
    }
    config = RunConfig.parse(values, "test")
    with League.create(config, folder) as league:
        towns = {firm.firm: firm.town for firm in league.run().firms}
    run = Run(folder)
    kinds = ", ".join(f"'{name}'" for name in TALK)
    messages = run.rows("messages", f"type IN ({kinds})")
    return harm(run.rows("events", "1"), messages, config.days, towns)


@pytest.mark.parametrize("kind", ["price_rumour", "corrupted_memory", "faulty_tool", "mixed"])
def test_a_false_belief_takes_both_towns_within_days(tmp_path: Path, kind: str) -> None:
    found = played(tmp_path / "run", kind)
    (truth,) = found.truths
    firms = {a for a in found.infected if not a.startswith(("board", "forecaster"))}
    assert len(firms) >= 10
    assert found.infected[truth.bridge] < found.infected[truth.amplifier]
    assert found.wrong_hours > 200


@pytest.mark.parametrize("kind", ["harvest_shock", "promotion_burst", "contract_handover"])
def test_what_only_looks_like_an_attack_infects_nobody(tmp_path: Path, kind: str) -> None:
    found = played(tmp_path / "run", kind)
    assert (found.infected, found.wrong_hours, found.infected_messages) == ({}, 0, 0)

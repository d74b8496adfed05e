"""An episode is the economy of a league's run with the same file and seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.cast import Cast
from actors.context import Context
from actors.exchange import Turn
from actors.firm import Firm
from actors.league import League
from actors.strategies import Strategy
from policies.environments.action_layout import ActionLayout
from policies.environments.conduct import Conduct
from policies.environments.episode import Episode
from policies.environments.observation_layout import ObservationLayout
from services.config import RunConfig, standard
from services.economy.commands import Command
from services.errors import HanseError

LEARNER = "roaster_A"


def _league(config: RunConfig, folder: Path, cast: type[Cast] = Cast) -> dict[str, Any]:
    config = config.with_overrides(placement="inline")
    with League.create(config, folder, cast=cast) as league:
        return {firm.firm: (firm.net_income, firm.cash) for firm in league.run().firms}


def _books(episode: Episode) -> dict[str, Any]:
    found = {}
    for name in episode.town.firms:
        statement = episode.town.statement(name)
        found[name] = (statement.net_income, round(statement.cash, 2))
    return found


def _played(config: RunConfig) -> dict[str, Any]:
    episode = Episode(config)
    assert episode.proceed() == []
    return _books(episode)


@pytest.mark.parametrize("rules", ["hanse", "coffeebench"])
def test_a_scripted_seat_gives_the_books_of_the_league(rules: str, tmp_path: Path) -> None:
    config = standard().with_overrides(seed=5, days=45, rules=rules)
    assert _played(config) == _league(config, tmp_path / "run")


def test_a_firm_with_a_controller_buys_as_in_the_league(tmp_path: Path) -> None:
    config = standard().dump()
    config["firms"][2].update(strategy="managed", controller="buyer")
    config["controllers"] = [{"name": "buyer"}]
    config.update(days=30, seed=2)
    run = RunConfig.parse(config, "test")
    assert _played(run) == _league(run, tmp_path / "run")


def test_firms_that_talk_and_believe_trade_as_in_the_league(tmp_path: Path) -> None:
    config = standard().dump()
    for firm in config["firms"]:
        # Asked for more than it can do, a firm loses turns: so who asks whom and when matters.
        firm.update(strategy="informed", options={"capacity": 2.0, "rate": 3.0})
    config.update(days=12, seed=3)
    run = RunConfig.parse(config, "test")
    books = _played(run)
    assert books == _league(run, tmp_path / "run")
    for firm in config["firms"]:
        firm.update(strategy="scripted", options={})
    assert books != _played(RunConfig.parse(config, "test"))  # the talk has mattered


class _Learned(Strategy):
    """A firm in a league that sets its levers by a fixed rule on what it observes."""

    setup: Any = None

    def __init__(self, firm: str, role: str, **options: Any) -> None:
        super().__init__(firm, role, **options)
        self.conduct = Conduct(firm, role, type(self).setup)

    def decide(self, turn: Turn, context: Context) -> Command:
        command = self.conduct.turn(turn)
        return self.conduct.choose(_rule(self.conduct)) if command is None else command


def _rule(conduct: Conduct) -> dict[str, float]:
    """Levers that hang on every entry of the observation and of the mask."""
    assert conduct.view is not None and conduct.mirror is not None
    actions = ActionLayout(conduct.role, conduct.setup.catalogue)
    seen = ObservationLayout(conduct.role, conduct.setup).encode(conduct.view)
    mask = actions.mask(conduct.mirror)
    start = 0
    levels = []
    for size in actions.nvec:
        legal = np.flatnonzero(mask[start : start + size])
        levels.append(legal[int(seen.sum() * 1_000) % len(legal)])
        start += size
    return actions.values(levels)


class _WithLearner(Cast):
    def make(self, name: str) -> Any:
        agent = super().make(name)
        if name == LEARNER:
            assert isinstance(agent, Firm)
            _Learned.setup = self.setup(self.towns[0])
            return Firm(name, agent.exchange, _Learned(name, agent.strategy.role))
        return agent


def test_a_learned_seat_earns_in_an_episode_what_it_earns_in_the_league(tmp_path: Path) -> None:
    config = standard().with_overrides(seed=7, days=40)
    episode = Episode(config, [LEARNER])
    while episode.proceed():
        episode.levers[LEARNER] = _rule(episode.conducts[LEARNER])
    assert _books(episode) == _league(config, tmp_path / "run", _WithLearner)


def test_the_ledger_is_the_same_entry_by_entry() -> None:
    config = standard().with_overrides(seed=1, days=10)
    first, second = (Episode(config, keep_ledger=True) for _ in range(2))
    for episode in (first, second):
        episode.proceed()
    assert first.ledger and first.ledger == second.ledger


def test_a_strategy_that_fails_loses_its_turn_as_in_a_league(tmp_path: Path) -> None:
    file = tmp_path / "stumbling.py"
    file.write_text(
        "from actors.strategies.scripted import ScriptedFarmer\n"
        "class Stumbling(ScriptedFarmer):\n"
        "    def decide(self, turn, context):\n"
        "        if turn.day % 3 == 1:\n"
        "            raise ValueError('not today')\n"
        "        return super().decide(turn, context)\n"
    )
    config = standard().dump()
    config["firms"][0]["strategy"] = f"{file}:Stumbling"
    config.update(days=9)
    run = RunConfig.parse(config, "test")
    episode = Episode(run)
    episode.proceed()
    assert episode.missed > 0
    assert _books(episode) == _league(run, tmp_path / "run")


def test_a_league_of_several_towns_is_refused() -> None:
    config = RunConfig.parse({"generate": {"firms": 12, "towns": 2}}, "test")
    with pytest.raises(HanseError, match=r"one town.*has 2"):
        Episode(config)


def test_a_league_that_is_interfered_with_is_refused() -> None:
    config = RunConfig.parse(
        {
            "generate": {"firms": 12, "strategy": "informed"},
            "injections": [{"kind": "price_rumour", "day": 3, "hour": 9}],
        },
        "test",
    )
    with pytest.raises(HanseError, match="plays without injections"):
        Episode(config)


def test_a_firm_that_is_not_there_is_refused() -> None:
    with pytest.raises(HanseError, match=r"no firm 'roaster_X'.*roaster_A"):
        Episode(standard(), ["roaster_X"])


def test_going_on_without_levers_is_refused() -> None:
    episode = Episode(standard(), [LEARNER])
    episode.proceed()
    with pytest.raises(HanseError, match="waits for its levers"):
        episode.proceed()


def test_a_person_cannot_play_against_a_learner_but_gives_up_its_seat_to_one() -> None:
    config = standard().dump()
    config["firms"][2]["strategy"] = "human"
    run = RunConfig.parse(config, "test")
    with pytest.raises(HanseError, match=r"firms\.roaster_A\.strategy: an environment has no term"):
        Episode(run, ["farmer_A"])
    assert Episode(run, [LEARNER]).proceed() == [LEARNER]

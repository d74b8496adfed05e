"""Many learned firms in one league, for RLlib and PettingZoo."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from policies.environments.firm_env import CoffeeFirmEnv
from policies.environments.league_game import LeagueGame
from services.config import RunConfig, standard
from services.errors import HanseError

SHORT = standard().with_overrides(days=12)


def _play(game: LeagueGame, seed: int) -> tuple[dict[str, float], list[dict[str, Any]]]:
    game.reset(seed)
    total = dict.fromkeys(game.learners, 0.0)
    told, over = [], False
    while not over:
        actions = {name: seat.actions.usual for name, seat in game.seats.items()}
        observations, rewards, over, infos = game.step(actions)
        assert list(observations) == game.learners
        told.append(infos)
        for name, reward in rewards.items():
            total[name] += reward
    return total, told


def test_every_firm_is_a_learner_unless_it_is_said_otherwise() -> None:
    game = LeagueGame(SHORT)
    assert len(game.learners) == 6
    total, told = _play(game, 1)
    assert len(told) == 12
    for name, info in told[-1].items():
        assert total[name] * 100 == pytest.approx(info["net_income"])


def test_with_one_learner_it_is_the_environment_of_that_firm() -> None:
    game = LeagueGame(SHORT, learners=["farmer_B"])
    total, _ = _play(game, 6)
    env = CoffeeFirmEnv(SHORT, "farmer_B")
    env.reset(seed=6)
    alone, over = 0.0, False
    while not over:
        _, reward, over, _, _ = env.step(env.actions.usual)
        alone += reward
    assert total["farmer_B"] == alone


def test_a_bankrupt_firm_keeps_its_seat_and_may_set_nothing() -> None:
    config = SHORT.dump()
    config["firms"][2]["cash"] = 100.0
    game = LeagueGame(RunConfig.parse(config, "test"))
    _, told = _play(game, 0)
    infos = [info["roaster_A"] for info in told]
    gone = next(n for n, info in enumerate(infos) if info["bankrupt"])
    assert 0 < gone < 11 and all(info["bankrupt"] for info in infos[gone:])
    after = infos[gone + 1]
    assert after["vector_reward"][0] == 0.0 and after["cost"] == 1.0
    seat = game.seats["roaster_A"]
    assert after["action_mask"].sum() == len(seat.actions.levers)
    assert seat.actions.split(after["action_mask"])[0].tolist() == [1] + [0] * 6
    assert not infos[-1]["vector_reward"][0]


def test_preferences_and_budgets_may_differ_by_firm() -> None:
    game = LeagueGame(
        SHORT,
        learners=["roaster_A", "roaster_B"],
        preference={"roaster_A": (0, 1, 0, 0)},
        budget={"roaster_B": 0.1},
    )
    _, infos = game.reset(0)
    assert infos["roaster_A"]["preference"].tolist() == [0, 1, 0, 0]
    assert infos["roaster_B"]["preference"].tolist() == [1, 0, 0, 0]
    assert (infos["roaster_A"]["budget"], infos["roaster_B"]["budget"]) == (0.5, 0.1)


def test_objectives_with_their_weights_hold_for_all_firms() -> None:
    firms = ["roaster_A", "roaster_B"]
    game = LeagueGame(SHORT, learners=firms, objectives={"profit": 0.6, "waste": 0.4})
    assert [seat.preference.tolist() for seat in game.seats.values()] == [[0.6, 0.4]] * 2


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(HanseError, match="name each firm once"):
        LeagueGame(SHORT, learners=[])
    with pytest.raises(HanseError, match="no firm 'roaster_X'"):
        LeagueGame(SHORT, learners=["roaster_X"])
    with pytest.raises(HanseError, match="turns of their own"):
        LeagueGame(SHORT.with_overrides(rules="coffeebench"))
    game = LeagueGame(SHORT, learners=["roaster_A", "farmer_A"])
    with pytest.raises(HanseError, match="call reset first"):
        game.step({})
    game.reset(0)
    with pytest.raises(HanseError, match="farmer_A is in business and has none"):
        game.step({"roaster_A": game.seats["roaster_A"].actions.usual})


def test_pettingzoo_finds_nothing_to_complain_about() -> None:
    pytest.importorskip("pettingzoo")
    from pettingzoo.test import parallel_api_test

    from policies.environments.parallel_env import CoffeeParallelEnv

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(CoffeeParallelEnv(config=SHORT), num_cycles=30)


def test_rllib_gets_spaces_by_agent_and_a_common_end() -> None:
    pytest.importorskip("ray.rllib")
    from policies.environments.league_env import ALL, CoffeeLeagueEnv

    env = CoffeeLeagueEnv({"config": SHORT, "learners": ["roaster_A", "retailer_B"]})
    assert env.possible_agents == env.agents == ["roaster_A", "retailer_B"]
    observations, infos = env.reset(seed=3)
    for name in env.agents:
        assert env.get_observation_space(name).contains(observations[name])
        assert infos[name]["action_mask"].dtype == np.bool_
    ends = []
    for _ in range(12):
        actions = {name: env.get_action_space(name).sample() for name in env.agents}
        observations, rewards, terminated, truncated, _ = env.step(actions)
        assert set(rewards) == set(observations) == set(env.agents)
        assert not any(truncated.values())
        ends.append(terminated[ALL])
    assert ends == [False] * 11 + [True]
    assert terminated["roaster_A"] and terminated["retailer_B"]

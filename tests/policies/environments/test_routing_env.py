"""The router between towns as a gymnasium environment."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from policies.environments.routing_env import CoffeeRouterEnv
from policies.environments.routing_episode import RoutingEpisode
from services.errors import HanseError
from tests.policies.environments.two_ports import two_ports


class _Legal(CoffeeRouterEnv):
    """For the checker, which draws actions without a look at the mask: others are the last."""

    def step(self, action: object) -> tuple[object, float, bool, bool, dict[str, object]]:  # type: ignore[override]
        legal = np.flatnonzero(self._mask)
        rank = int(np.asarray(action).reshape(-1)[0])
        return super().step([rank if rank in legal else int(legal[-1])])


@pytest.mark.filterwarnings("ignore")
def test_gymnasiums_checker_accepts_it() -> None:
    check_env(_Legal(two_ports(days=4)), skip_render_check=True)


def test_the_rewards_of_an_episode_sum_to_what_its_orders_came_to() -> None:
    env = CoffeeRouterEnv(two_ports(), objectives=("surplus", "filled"), preference=(0.0, 1.0))
    env.reset(seed=3)
    over, total, scalar = False, np.zeros(2), 0.0
    while not over:
        _, reward, over, truncated, info = env.step([0])
        assert not truncated
        total += info["vector_reward"]
        scalar += reward
    rule = RoutingEpisode(two_ports(seed=3), "router")
    rule.proceed()
    assert total[0] == pytest.approx(rule.trade.surplus / 10)
    assert total[1] == pytest.approx(rule.trade.filled) and scalar == pytest.approx(total[1])
    assert info["refused"] == {"empty_handed": rule.trade.empty_handed}
    assert info["net_income"] == rule.net_income()


def test_the_mask_has_as_many_levels_as_towns_may_fill_the_order() -> None:
    env = CoffeeRouterEnv(two_ports())
    observation, info = env.reset(seed=3)
    there = [observation[i] for i, f in enumerate(env.layout.fields) if f.name.endswith(".there")]
    assert info["action_mask"].tolist() == [bool(one) for one in there]


def test_the_same_seed_and_actions_give_the_same_episode() -> None:
    def play() -> list[float]:
        env = CoffeeRouterEnv(two_ports())
        _, info = env.reset(seed=7)
        rewards, over = [], False
        while not over:
            legal = np.flatnonzero(info["action_mask"])
            _, reward, over, _, info = env.step([legal[-1]])
            rewards.append(reward)
        return rewards

    first = play()
    assert len(first) > 5 and first == play()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cost": "debt"}, "there is no cost 'debt'; allowed: empty_handed"),
        ({"objectives": ("profit",)}, "profit"),
        ({"budget": 2.0}, "budget"),
        ({"router": "nobody"}, "there is no router 'nobody'"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(HanseError, match=message):
        CoffeeRouterEnv(two_ports(), **changes)  # type: ignore[arg-type]


def test_an_action_beyond_the_towns_that_may_be_asked_is_refused() -> None:
    env = CoffeeRouterEnv(two_ports())
    _, info = env.reset(seed=3)
    while info["action_mask"].all():
        *_, over, _, info = env.step([0])
        assert not over
    with pytest.raises(HanseError, match="no town of rank 1"):
        env.step([1])


def test_a_league_in_which_nobody_orders_abroad_is_refused_at_reset() -> None:
    values = two_ports().dump()
    for firm in values["firms"]:
        firm["strategy"] = "scripted"
    env = CoffeeRouterEnv(type(two_ports()).parse(values, "test"))
    with pytest.raises(HanseError, match="nobody orders anything abroad"):
        env.reset(seed=1)

"""One learned firm in a league, as a gymnasium environment."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env

from policies.environments.firm_env import CoffeeFirmEnv
from policies.environments.rewards import OBJECTIVES
from services.config import RunConfig, apply_settings, standard
from services.errors import HanseError

SHORT = standard().with_overrides(days=12)


def _play(env: CoffeeFirmEnv, seed: int, action: Any = None) -> tuple[float, list[dict[str, Any]]]:
    _, info = env.reset(seed=seed)
    infos, total, over = [info], 0.0, False
    while not over:
        _, reward, over, truncated, info = env.step(env.actions.usual if action is None else action)
        assert not truncated
        infos.append(info)
        total += reward
    return total, infos


@pytest.mark.parametrize("firm", ["farmer_A", "roaster_B", "retailer_A"])
@pytest.mark.parametrize("cadence", ["day", "turn"])
def test_gymnasium_finds_nothing_to_complain_about(firm: str, cadence: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*render modes.*")
        check_env(CoffeeFirmEnv(SHORT, firm, cadence=cadence, descriptors=firm == "roaster_B"))


def test_the_profits_of_an_episode_sum_to_the_net_income() -> None:
    total, infos = _play(CoffeeFirmEnv(SHORT), seed=4)
    assert total * 100 == pytest.approx(infos[-1]["net_income"])
    assert infos[-1]["net_income"] != 0


def test_an_episode_has_a_step_for_every_day() -> None:
    _, infos = _play(CoffeeFirmEnv(SHORT), seed=4)
    assert len(infos) == 1 + 12
    assert [info["day"] for info in infos] == [*range(12), 11]


def test_a_turn_is_one_call_of_the_firm_after_its_looks() -> None:
    _, infos = _play(CoffeeFirmEnv(SHORT, cadence="turn"), seed=4)
    assert 12 * 4 < infos[-1]["commands"] <= 12 * 20
    assert len(infos) > 12 * 4
    assert infos[-1]["net_income"] == pytest.approx(
        100 * sum(info["vector_reward"][0] for info in infos)
    )


def test_one_seed_gives_one_episode() -> None:
    env = CoffeeFirmEnv(SHORT)
    (first, infos), (second, _), (third, _) = (_play(env, seed) for seed in (4, 4, 5))
    assert first == second != third
    assert infos[0]["seed"] == 4


def test_drawn_seeds_leave_those_for_evaluation_alone() -> None:
    env = CoffeeFirmEnv(SHORT, seed=17)
    seeds = [env.reset()[1]["seed"] for _ in range(5)]
    assert seeds[0] == 17
    assert min(seeds[1:]) >= 1_000 and len(set(seeds)) == 5


def test_the_scalar_reward_is_the_vector_weighted_by_the_preference() -> None:
    env = CoffeeFirmEnv(SHORT, objectives=("service", "profit"), preference=(0.25, 0.75))
    assert env.objectives == ("service", "profit")
    env.reset(seed=1)
    for _ in range(5):
        _, reward, _, _, info = env.step(env.actions.usual)
        assert reward == pytest.approx(
            0.25 * info["vector_reward"][0] + 0.75 * info["vector_reward"][1]
        )
        assert info["preference"].tolist() == [0.25, 0.75]
    _, info = env.reset(seed=1, options={"preference": [1.0, 0.0], "budget": 0.2})
    assert info["preference"].tolist() == [1.0, 0.0] and info["budget"] == 0.2


def test_the_mask_has_an_entry_for_each_level_and_masked_actions_are_played() -> None:
    env = CoffeeFirmEnv(SHORT)
    _, info = env.reset(seed=2)
    env.action_space.seed(0)
    over = False
    while not over:
        assert info["action_mask"].shape == (env.actions.nvec.sum(),)
        action = env.action_space.sample(mask=env.actions.split(info["action_mask"]))
        _, _, over, _, info = env.step(action)


def test_refused_commands_are_counted_by_their_code() -> None:
    _, infos = _play(CoffeeFirmEnv(standard().with_overrides(days=40)), seed=0)
    refused = infos[-1]["refused"]
    assert sum(refused.values()) > 0
    assert set(refused) <= {
        "listing_closed", "offer_qty_out_of_range", "offer_accepted", "offer_rejected",
        "offer_withdrawn", "buyer_inventory_cap", "inventory_cap", "credit_limit",
    }  # fmt: skip # what others have done meanwhile, or what the firm cannot see


def test_a_bankrupt_firm_ends_the_episode() -> None:
    config = SHORT.dump()
    config["firms"][2]["cash"] = 40.0
    _, infos = _play(CoffeeFirmEnv(RunConfig.parse(config, "test")), seed=0)
    assert infos[-1]["bankrupt"] and infos[-1]["cost"] == 1.0
    assert len(infos) < 12


def test_opponents_can_be_chosen() -> None:
    quiet = {f"{role}_{x}": "passive" for role in ("farmer", "retailer") for x in "AB"}
    alone, _ = _play(CoffeeFirmEnv(SHORT, strategies=quiet), seed=3)
    among, _ = _play(CoffeeFirmEnv(SHORT), seed=3)
    assert alone != among


def test_a_run_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text("days = 7\n")
    env = CoffeeFirmEnv(file)
    assert env.config.days == 7
    with pytest.raises(HanseError, match="there is no such file"):
        CoffeeFirmEnv(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"firm": "roaster_X"}, "no firm 'roaster_X'"),
        ({"strategies": {"roaster_X": "passive"}}, "strategies: there is no firm 'roaster_X'"),
        ({"strategies": {"farmer_A": "lazy"}}, "strategy"),
        ({"cadence": "hour"}, "no cadence 'hour'; allowed: day, turn"),
        ({"objectives": ("fame",)}, "no objective 'fame'; allowed: profit, service"),
        ({"objectives": ("profit", "profit")}, "name each objective once"),
        ({"preference": (0.5, 0.5)}, "2 weights for 4 objectives"),
        ({"preference": (0.5, 0.5, 0.5, 0.5)}, "sums to 2; weights must sum to 1"),
        ({"preference": (1.5, -0.5, 0, 0)}, "not below 0"),
        ({"preference": (float("nan"), 1, 0, 0)}, "weights are finite"),
        ({"preference": "much"}, "does not consist of numbers"),
        ({"cost": "tears"}, "no cost 'tears'; allowed: stock_out"),
        ({"budget": 1.5}, "budget: 1.5 does not fit; allowed: 0 to 1"),
        ({"budget": float("nan")}, "budget: nan does not fit"),
        ({"seeds": (9, 3)}, "9 to 3 is no range"),
        ({"seed": -1}, "seed: -1 does not fit"),
    ],
)
def test_bad_input_is_one_line_that_says_what_is_allowed(
    arguments: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(HanseError, match=complaint) as caught:
        CoffeeFirmEnv(SHORT, **arguments)
    assert "\n" not in str(caught.value)


def test_a_step_before_the_reset_or_after_the_end_is_refused() -> None:
    env = CoffeeFirmEnv(SHORT)
    with pytest.raises(HanseError, match="call reset first"):
        env.step(env.actions.usual)
    _play(env, seed=0)
    with pytest.raises(HanseError, match="call reset first"):
        env.step(env.actions.usual)


def test_descriptors_are_seen_by_a_policy_that_is_conditioned_on_them() -> None:
    env = CoffeeFirmEnv(SHORT, preference=(0.5, 0.25, 0.25, 0.0), budget=0.3, descriptors=True)
    seen, _ = env.reset(seed=0)
    assert seen[-5:].tolist() == pytest.approx([0.5, 0.25, 0.25, 0.0, 0.3])
    assert len(OBJECTIVES) == 4


def test_bounds_hold_whatever_is_played() -> None:
    env = CoffeeFirmEnv(standard().with_overrides(days=30), "retailer_B")
    env.action_space.seed(3)
    env.reset(seed=1)
    over = False
    while not over:
        seen, _, over, _, _ = env.step(env.action_space.sample())
        assert env.observation_space.contains(seen)
        assert np.isfinite(seen).all()


def test_objectives_may_come_with_their_weights() -> None:
    env = CoffeeFirmEnv(SHORT, objectives={"service": 0.4, "profit": 0.6})
    assert env.objectives == ("service", "profit")
    assert env.preference.tolist() == [0.4, 0.6]
    with pytest.raises(HanseError, match="preference: objectives has weights already"):
        CoffeeFirmEnv(SHORT, objectives={"profit": 1.0}, preference=[1.0])
    with pytest.raises(HanseError, match=r"sums to 0\.9; weights must sum to 1"):
        CoffeeFirmEnv(SHORT, objectives={"profit": 0.9})


def test_where_nothing_may_be_owed_an_episode_is_played_all_the_same() -> None:
    config = apply_settings(SHORT, ["economy.credit_limit=0"])
    env = CoffeeFirmEnv(config, "retailer_A", cost="debt")
    _, infos = _play(env, 1)
    assert all(0.0 <= info["cost"] <= 1.0 for info in infos)
    assert np.isfinite(env.seat.observation).all()

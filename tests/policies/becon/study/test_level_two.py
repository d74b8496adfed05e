from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="BECON needs torch: make rl")
pytest.importorskip("ray.rllib", reason="advantages need RLlib: make rl")

import torch

from policies.becon.network import Agent
from policies.becon.study import level_two
from policies.becon.study.desk_watch import desk_layout
from policies.becon.study.level_two_table import OURS, Table, demands
from policies.becon.study.planner import Planner, oracle_utility
from policies.becon.study.ppo import PPOSettings, desks_of, roll_out, train
from policies.becon.variants import VARIANTS
from policies.environments.tradeoff_desk import (
    ACCUMULATING,
    CORRUPTIONS,
    IDLE,
    Desks,
    DeskSettings,
)

SMALL = PPOSettings(
    desk=replace(ACCUMULATING, length=16), iterations=2, desks=8, minibatch=4, epochs=2
)


def myopic(desks: Desks, seed: int) -> np.ndarray:
    """Safe utility (N, T) of the best deal of the step, whatever it leaves to pay off."""
    desks.reset(seed)
    gained = []
    while not desks.done:
        sight, (w, d) = desks.sight(), desks.truth()
        load = desks.tables.cost[sight.state]
        share = desks.settings.backlog_share
        later = 0.8 * sight.backlog[:, None] + 0.2 * load
        worth = np.einsum("nak,nk->na", desks.tables.reward[sight.state], w)
        worth = np.where((1 - share) * load + share * later <= d[:, None], worth, -1.0)
        outcome = desks.step(np.where(worth.max(axis=1) < 0, IDLE, worth.argmax(axis=1)))
        utility = (outcome.preference * outcome.reward).sum(axis=1)
        gained.append(np.where(outcome.cost > outcome.budget, 0.0, utility))
    return np.stack(gained, axis=1)


def test_where_nothing_piles_up_planning_is_the_best_deal_of_the_step() -> None:
    desks = Desks(DeskSettings(length=16), [CORRUPTIONS["clean"]] * 20, ["jumps"] * 20)
    assert np.allclose(oracle_utility(desks, 3), myopic(desks, 3))


def test_where_costs_pile_up_planning_pays() -> None:
    kind = replace(ACCUMULATING, backlog_share=0.8)
    desks = Desks(kind, [CORRUPTIONS["clean"]] * 60, ["jumps"] * 60)
    assert oracle_utility(desks, 3).mean() > myopic(desks, 3).mean() + 0.001


def test_a_planner_without_any_budget_is_idle() -> None:
    planner = Planner(ACCUMULATING, np.array([[1.0, 0.0, 0.0]]), np.array([0.0]))
    act = planner.act(np.zeros(3, dtype=int), np.arange(3), np.full(3, 0.5))
    assert np.allclose(planner.ahead, 0.0)
    assert act.shape == (3,)


def test_training_is_a_function_of_the_seed() -> None:
    (one, first), (other, again) = (train(VARIANTS["becon"], 3, SMALL) for _ in range(2))
    assert first.utility == again.utility
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_training_moves_every_part_and_stays_finite() -> None:
    torch.manual_seed(0)
    before = {
        k: v.clone()
        for k, v in Agent(desk_layout(SMALL.desk), VARIANTS["becon"].form).state_dict().items()
    }
    agent, _ = train(VARIANTS["becon"], 0, SMALL)
    moved = {k for k, v in agent.state_dict().items() if not torch.equal(v, before[k])}
    for part in ("policy", "critic", "multiplier", "estimator.encoder", "estimator.gates"):
        assert any(name.startswith(part) for name in moved)
    assert all(torch.isfinite(v).all() for v in agent.state_dict().values())
    assert not any("prior" in name for name in moved)


def test_a_perfect_descriptor_is_the_oracle_s_alone() -> None:
    told = desks_of(VARIANTS["oracle"], ["severe"], SMALL)
    told.reset(0)
    course = told.desks.course
    assert course.exposed_budget == pytest.approx(course.budget)
    other = desks_of(VARIANTS["becon"], ["severe"], SMALL)
    other.reset(0)
    assert not np.allclose(other.desks.course.exposed_budget, other.desks.course.budget)


def test_labels_do_not_change_what_is_done() -> None:
    agent, _ = train(VARIANTS["becon"], 0, replace(SMALL, iterations=1))
    made = []
    for level in (0, 3):
        watch = desks_of(VARIANTS["becon"], ["moderate"] * 4, SMALL)
        rolled = roll_out(agent, watch, [5], np.full(4, level), greedy=True)
        made.append(rolled.actions)
    assert torch.equal(*made)


@pytest.fixture(scope="module")
def judged() -> dict[str, level_two.LevelTwo]:
    """Studies by row, of trainings of one iteration."""
    studies: list[level_two.LevelTwo] = []
    for name in ("becon", "exposed"):
        agent, progress = train(VARIANTS[name], 0, replace(SMALL, iterations=1))
        studies += level_two.judge_all(agent, name, 0, SMALL, progress)
    return {each.variant: each for each in studies}


def test_a_small_study_judges_every_regime_and_tabulates(
    judged: dict[str, level_two.LevelTwo],
) -> None:
    table = Table.of(list(judged.values()), 1)
    assert {row.regime for row in table.rows} == set(CORRUPTIONS)
    assert len(table.checks) == 6
    assert 0.0 <= table.sweeps[0].feasible.mean <= 21
    assert Table.model_validate_json(table.model_dump_json()).iterations == 1


def test_both_ways_to_hold_back_are_judged_from_one_training(
    judged: dict[str, level_two.LevelTwo],
) -> None:
    rows = [judged[name] for name in OURS]
    assert len({each.train_seconds for each in rows}) == 1
    assert len({each.regimes["severe"].budget_error for each in rows}) == 1


def test_every_demand_counts_and_a_study_that_is_no_better_misses_all(
    judged: dict[str, level_two.LevelTwo],
) -> None:
    same = [replace(judged["exposed"], variant=name) for name in OURS]
    table = Table.of([judged["exposed"], *same], 1)
    assert [each.passed for each in table.checks] == [False] * 6
    assert not table.passed
    assert demands(same) == (), "nothing to compare with"

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")
gym = pytest.importorskip("gymnasium", reason="learning needs torch and RLlib: make rl")

import numpy as np  # noqa: E402

from policies.chain.benchmark import Cost  # noqa: E402
from policies.chain.drifting import OffsetCartPole, offset_of  # noqa: E402
from policies.chain.study import (  # noqa: E402
    MODES,
    RATE_SEEDS,
    RATES,
    SEEDS,
    TUNING,
    Run,
    at_rate,
)
from policies.chain.table import NOTED, demands, row_of, rows_of  # noqa: E402


def run(mode: str, seed: int, mean_return: float, churn: float, weights: tuple[float, ...]) -> Run:
    return Run(
        mode=mode,
        seed=seed,
        mean_return=mean_return,
        policy_churn=churn,
        greedy_flip=100 * churn,
        rollout_kl=0.01,
        weights=weights,
        returns=(mean_return,),
        cpu_seconds=1.0,
    )


def runs(ours: float = 180.0, weight: float = 50.0) -> list[Run]:
    return [
        *(run("PPO", seed, 200.0, 4e-4, ()) for seed in (0, 1)),
        *(run("CHAIN auto 0.1", seed, ours, 2e-4, (1.0, weight)) for seed in (0, 1)),
        *(run("PPO, half rate", seed, 150.0, 2e-4, ()) for seed in (0, 1)),
    ]


def cost(chain: float) -> Cost:
    return Cost(sampling=0.4, learning=0.6, chain=chain, least=0.1, most=0.2, repetitions=3)


def passed(found: list[object]) -> list[bool]:
    return [check.passed for check in found]  # type: ignore[attr-defined]


def test_the_study_runs_every_mode_of_the_note() -> None:
    assert set(NOTED) <= set(MODES)


def test_reported_seeds_are_none_of_those_that_were_tuned_on() -> None:
    assert not set(TUNING) & {*SEEDS, *RATE_SEEDS}
    assert not set(SEEDS) & set(RATE_SEEDS)


def test_demands_are_met_or_missed_at_their_bounds() -> None:
    found = demands(runs(), [0.0] * 7 + [150.0], cost(0.15), quick=False)
    assert passed(found) == [True] * 8  # type: ignore[arg-type]
    worse = demands(
        runs(ours=179.0, weight=51.0),
        [0.0] * 7 + [149.0],
        cost(0.16),
        quick=False,
    )
    assert passed(worse) == [True, False, False, True, True, False, False, False]  # type: ignore[arg-type]


def test_a_demand_on_returns_that_scatter_is_not_surely_met() -> None:
    scattered = [
        *runs(),
        run("PPO", 2, 100.0, 4e-4, ()),
        run("CHAIN auto 0.1", 2, 180.0, 2e-4, (1.0,)),
        run("PPO, half rate", 2, 100.0, 2e-4, ()),
    ]
    by_name = {check.name: check for check in demands(scattered, (), None, quick=False)}
    assert by_name["(b) over that of half the rate"].verdict == "met, not surely"


def test_a_quick_study_only_asks_for_less_churn() -> None:
    (check,) = demands(runs(), (), None, quick=True)
    assert check.value == pytest.approx(0.5)
    assert check.passed


def test_rates_are_compared_and_nothing_is_asked_of_them() -> None:
    names = [at_rate(rate).name for rate in RATES]
    assert len(set(names)) == len(RATES)
    assert all(at_rate(rate).options == {"chain_lambda": 0} for rate in RATES)
    rows = rows_of([run(name, seed, 100.0, 1e-4, ()) for seed in RATE_SEEDS for name in names])
    assert [row.mode for row in rows] == names
    assert {row.seeds for row in rows} == {len(RATE_SEEDS)}


def test_means_and_spreads_are_over_seeds() -> None:
    row = row_of([run("PPO", 0, 100.0, 1e-4, ()), run("PPO", 1, 200.0, 3e-4, ())])
    assert (row.mean_return, row.return_spread) == (150.0, 50.0)
    assert row.policy_churn == pytest.approx(2e-4)
    assert np.isnan(row.most_weight)


def test_the_first_task_is_plain_and_others_are_offset_alike_every_time() -> None:
    assert offset_of(0, 3).tolist() == [0] * 4
    assert offset_of(1, 3).tolist() == offset_of(1, 3).tolist() != offset_of(2, 3).tolist()
    env, plain = OffsetCartPole({"seed": 3}), gym.make("CartPole-v1")
    seen, _ = env.reset(seed=0)
    expected, _ = plain.reset(seed=0)
    assert np.allclose(seen, expected)
    env.set_task(1)
    seen, reward, *_ = env.step(0)
    expected, full, *_ = plain.step(0)
    assert np.allclose(seen, expected + offset_of(1, 3))
    assert reward == pytest.approx(0.1 * float(full))

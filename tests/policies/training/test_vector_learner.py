"""A critic of several values: what it changes, and where it would change nothing."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("gymnasium")
pytest.importorskip("tree")

from policies.training.vector_gae import generalised_advantages
from policies.training.vector_learner import PricedGAE, reward_column

RNG = np.random.default_rng(3)
STEPS = 12
VALUES, REWARDS = RNG.normal(size=(STEPS, 3)), RNG.normal(size=(STEPS, 3))
OVER = np.zeros(STEPS, dtype=bool)
OVER[-2] = True
LAMBDA = (0.9, 0.8)


def test_under_fixed_weights_several_values_estimate_what_one_value_of_the_sum_does() -> None:
    weights = np.array([0.5, 0.3, 0.2])
    cut = np.zeros(STEPS, dtype=bool)
    each = generalised_advantages(VALUES, REWARDS, OVER, cut, *LAMBDA)
    together = generalised_advantages(
        (VALUES @ weights)[:, None], (REWARDS @ weights)[:, None], OVER, cut, *LAMBDA
    )
    assert each @ weights == pytest.approx(together[:, 0])


def test_each_module_weighs_by_its_own_price() -> None:
    gae = PricedGAE(gamma=0.9, lambda_=0.8)
    gae.weights = {"roaster": [1.0, -0.5], "retailer": [1.0, -2.0]}
    advantages = np.array([[3.0, 1.0], [0.0, 2.0]])
    gae._module = "roaster"
    assert gae.scalarise({}, advantages).tolist() == [2.5, -1.0]
    gae._module = "retailer"
    assert gae.scalarise({}, advantages).tolist() == [1.0, -4.0]


def test_the_cost_is_the_last_component_where_it_is_priced() -> None:
    info = {"vector_reward": np.array([1.0, 2.0]), "cost": 0.5}
    assert list(reward_column(2, True).read(info)) == [1.0, 2.0, 0.5]
    assert list(reward_column(2, False).read(info)) == [1.0, 2.0]

import numpy as np
import pytest

from policies.becon.belief import Belief, feature_width


def lived(belief: Belief, steps: int, seed: int = 0) -> np.ndarray:
    """Some steps of random feedback; the features after them."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        reward = rng.dirichlet(np.ones(3), 2)
        cost, alarm = rng.uniform(size=2), (rng.uniform(size=2) < 0.5).astype(float)
        belief.learn(reward, cost, reward @ np.array([0.2, 0.3, 0.5]), alarm)
        fresh = np.array([True, False])
        belief.look(rng.dirichlet(np.ones(3), 2), rng.uniform(size=2), np.zeros(2), fresh)
    return np.concatenate([belief.features(), belief.quality()], axis=1)


def test_the_features_are_means_and_deviations_of_preference_and_budget() -> None:
    made = Belief(2, 3).features()
    assert made.shape == (2, feature_width(3)) == (2, 8)
    assert made[0, :3] == pytest.approx(1 / 3)
    assert made[0, 6] == pytest.approx(0.5)


def test_a_belief_goes_on_to_the_bit_from_a_saved_state() -> None:
    whole, first, second = Belief(2, 3), Belief(2, 3), Belief(2, 3)
    lived(whole, 5)
    lived(first, 5)
    second.set_state(first.get_state())
    assert np.array_equal(lived(whole, 5, seed=1), lived(second, 5, seed=1))


def test_a_saved_state_does_not_change_afterwards() -> None:
    belief = Belief(2, 3)
    saved = belief.get_state()
    lived(belief, 3)
    assert saved["preference.mean"] == pytest.approx(1 / 3)


def test_an_incomplete_state_is_refused() -> None:
    state = Belief(2, 3).get_state()
    del state["budget.mass"]
    with pytest.raises(KeyError, match=r"budget\.mass"):
        Belief(2, 3).set_state(state)


def test_a_reset_row_is_as_new() -> None:
    belief, new = Belief(2, 3), Belief(2, 3)
    lived(belief, 4)
    belief.reset(np.array([True, True]))
    assert np.array_equal(belief.features(), new.features())
    assert np.array_equal(belief.quality(), new.quality())

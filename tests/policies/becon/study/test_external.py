from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="BECON needs torch: make rl")
pytest.importorskip("gymnasium", reason="environments need gymnasium: make rl")

from policies.becon.study.external import VectorDesk, missing, play, run_outside
from policies.becon.study.level_two import judged
from policies.becon.study.ppo import PPOSettings
from policies.environments.tradeoff_desk import ACCUMULATING, IDLE

SMALL = PPOSettings(desk=replace(ACCUMULATING, length=16))


def figures(deal: int) -> object:
    watch, reward, truth, context = play(lambda seen, w: deal, ["severe"] * 4, [3], SMALL)
    return judged(watch, reward, truth, context, np.zeros(reward.shape[:2]))


def test_the_reward_of_a_vector_desk_is_the_vector() -> None:
    desk = VectorDesk(SMALL, 0)
    desk.reset()
    seen, reward, *_ = desk.step(4)
    assert reward.shape == desk.reward_space.shape == (3,)
    assert desk.observation_space.contains(seen)


def test_the_deal_with_the_highest_score_is_made() -> None:
    scored, plain = VectorDesk(SMALL, 5, scored=True), VectorDesk(SMALL, 5)
    scores = np.linspace(-1.0, 1.0, ACCUMULATING.actions).astype(np.float32)
    assert scored.action_space.contains(scores)
    by_score, by_name = scored.step(scores), plain.step(ACCUMULATING.actions - 1)
    assert np.array_equal(by_score[0], by_name[0])
    assert np.array_equal(by_score[1], by_name[1])


def test_an_episode_is_as_long_as_the_desk_says() -> None:
    desk = VectorDesk(SMALL, 0)
    desk.reset()
    ends = [desk.step(IDLE)[2] for _ in range(16)]
    assert ends == [False] * 15 + [True]


def test_one_seed_brings_one_row_of_episodes() -> None:
    one, other = VectorDesk(SMALL, 7), VectorDesk(SMALL, 7)
    firsts = [(one.reset()[0], other.reset()[0]) for _ in range(3)]
    assert all(np.array_equal(*pair) for pair in firsts)


def test_outside_methods_are_told_the_descriptor_and_not_the_truth() -> None:
    told: list[np.ndarray] = []

    def act(seen: np.ndarray, preference: np.ndarray) -> int:
        told.append(preference)
        return IDLE

    _, _, truth, context = play(act, ["severe"] * 2, [3], SMALL)
    assert np.allclose(np.array(told).reshape(16, 2, 3).swapaxes(0, 1), context[..., :-1])
    assert not np.allclose(context, truth)


def test_who_never_deals_earns_nothing_and_violates_nothing() -> None:
    idle = figures(IDLE)
    assert (idle.utility, idle.violation) == (0.0, 0.0)  # type: ignore[attr-defined]


def test_what_is_earned_above_the_budget_is_regretted() -> None:
    dear = figures(5)
    assert dear.violation > 0.0  # type: ignore[attr-defined]
    assert dear.utility > -dear.safe_regret > 0.0  # type: ignore[attr-defined]


def test_without_the_extra_one_line_says_how_to_get_it() -> None:
    if missing() is None:
        pytest.skip("morl-baselines is installed")
    assert "requirements-morl.lock" in str(missing())


@pytest.mark.parametrize("method", ["envelope", "capql"])
def test_outside_methods_train_and_are_judged_as_the_variants_are(method: str) -> None:
    pytest.importorskip("morl_baselines", reason="needs morl-baselines (requirements-morl.lock)")
    (study,) = run_outside(method, 0, 64, SMALL)  # type: ignore[arg-type]
    assert study.variant == method
    assert 0.0 <= study.regimes["severe"].violation <= 1.0

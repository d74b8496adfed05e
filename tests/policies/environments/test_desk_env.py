from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="environments need gymnasium: make rl")

from gymnasium.utils.env_checker import check_env

from policies.environments.desk_env import TradeoffDeskEnv
from policies.environments.tradeoff_desk import ACCUMULATING, CORRUPTIONS, DeskSettings
from services.errors import HanseError

SHORT = replace(DeskSettings(), length=12)


def test_it_is_a_sound_gymnasium_environment() -> None:
    check_env(TradeoffDeskEnv(SHORT), skip_render_check=True)


def test_the_reward_is_the_preference_weighted_sum_of_the_vector() -> None:
    env = TradeoffDeskEnv(SHORT)
    env.reset(seed=1)
    _, reward, _, _, info = env.step(4)
    assert reward == pytest.approx(info["preference"] @ info["vector_reward"])
    assert info["preference"].sum() == pytest.approx(1.0)


def test_an_episode_ends_by_termination_after_its_length() -> None:
    env = TradeoffDeskEnv(SHORT)
    env.reset(seed=1)
    ended = [env.step(1)[2:4] for _ in range(12)]
    assert ended == [(False, False)] * 11 + [(True, False)]
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(1)


def test_one_seed_brings_one_course_of_events() -> None:
    one, other = TradeoffDeskEnv(SHORT), TradeoffDeskEnv(SHORT)
    assert np.array_equal(one.reset(seed=5)[0], other.reset(seed=5)[0])
    for action in (1, 2, 3):
        assert np.array_equal(one.step(action)[0], other.step(action)[0])


def test_the_truth_is_in_info_and_not_in_the_observation() -> None:
    env = TradeoffDeskEnv(SHORT, corruption="severe")
    seen, info = env.reset(seed=3)
    shown = seen[5:9]
    assert shown[:3] == pytest.approx(info["exposed_preference"], rel=1e-5)
    assert shown[3] == pytest.approx(info["exposed_budget"], rel=1e-5)
    assert not np.isin(np.float32(info["budget"]), seen)
    assert not np.isin(info["preference"].astype(np.float32), seen).any()


def test_a_step_is_scored_by_the_context_that_held_when_it_was_taken() -> None:
    env = TradeoffDeskEnv(replace(SHORT, hazard=1.0))
    _, before = env.reset(seed=2)
    _, _, _, _, after = env.step(1)
    assert after["budget"] == before["next_budget"]
    assert after["next_budget"] != after["budget"]
    assert after["jumped"]


def test_the_names_of_the_descriptors_fit_the_end_of_the_observation() -> None:
    env = TradeoffDeskEnv(ACCUMULATING)
    env.reset(seed=0)
    seen, _, _, _, info = env.step(6)
    told = dict(zip(env.descriptors, seen[-len(env.descriptors) :], strict=True))
    assert told["last_cost"] == pytest.approx(info["cost"], rel=1e-5)
    assert told["last_reward.objective_1"] == pytest.approx(info["vector_reward"][1], rel=1e-5)


def test_absent_feedback_is_nan_in_info_and_marked_in_the_observation() -> None:
    env = TradeoffDeskEnv(SHORT, corruption="no_feedback")
    env.reset(seed=0)
    seen, _, _, _, info = env.step(1)
    assert np.isnan(info["feedback"]) and np.isnan(info["alarm"])
    assert seen[-1] == 0.0


def test_every_episode_draws_one_of_the_levels() -> None:
    env = TradeoffDeskEnv(SHORT, corruption=("clean", "severe"))
    env.reset(seed=0)
    drawn = {env.reset()[1]["level"] for _ in range(40)}
    assert drawn == {list(CORRUPTIONS).index("clean"), list(CORRUPTIONS).index("severe")}


def test_a_curriculum_may_make_descriptors_perfect() -> None:
    env = TradeoffDeskEnv(SHORT, corruption="severe")
    env.perfect_share = 1.0
    _, info = env.reset(seed=0)
    assert info["level"] == -1
    assert info["exposed_budget"] == pytest.approx(info["budget"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"corruption": "awful"}, "corruption: there is no 'awful'; allowed: clean"),
        ({"drift": ()}, "drift: is empty"),
        ({"settings": {"lenght": 3}}, "desk: there is no setting 'lenght'; allowed: states"),
    ],
)
def test_what_is_unknown_is_an_error_that_names_what_is_allowed(
    wrong: dict[str, object], message: str
) -> None:
    with pytest.raises(HanseError, match=message):
        TradeoffDeskEnv(**wrong)  # type: ignore[arg-type]

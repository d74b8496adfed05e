import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.environments.tradeoff_desk import (
    ACCUMULATING,
    CORRUPTIONS,
    IDLE,
    PERFECT,
    Corruption,
    Desks,
    DeskSettings,
    Drift,
    Tables,
)

PLAIN = DeskSettings()


def desks(
    corruption: Corruption = PERFECT,
    drift: Drift = "jumps",
    number: int = 200,
    kind: DeskSettings = PLAIN,
) -> Desks:
    made = Desks(kind, [corruption] * number, [drift] * number)
    made.reset(0)
    return made


def test_the_idle_deal_pays_nothing_and_costs_two_hundredths() -> None:
    tables = Tables.drawn(DeskSettings())
    assert not tables.reward[:, IDLE].any()
    assert (tables.cost[:, IDLE] == 0.02).all()


def test_dearer_deals_pay_more_in_all() -> None:
    tables = Tables.drawn(DeskSettings(actions=200))
    total, cost = tables.reward[:, 1:].sum(axis=2).ravel(), tables.cost[:, 1:].ravel()
    assert np.corrcoef(total, cost)[0, 1] > 0.7


@given(st.integers(0, 2), st.lists(st.floats(0.01, 1), min_size=3, max_size=3), st.floats(0.0, 1.0))
def test_the_best_deal_is_the_best_of_those_that_can_be_afforded(
    state: int, raw: list[float], budget: float
) -> None:
    tables = Tables.drawn(DeskSettings())
    w = np.array(raw) / sum(raw)
    chosen = tables.best(np.array([state]), w[None], np.array([budget]))[0]
    allowed = [a for a in range(12) if tables.cost[state, a] <= budget] or [IDLE]
    assert chosen in allowed
    assert tables.reward[state, chosen] @ w == max(tables.reward[state, a] @ w for a in allowed)


def test_a_perfect_line_tells_the_truth() -> None:
    course = desks().course
    assert course.exposed_preference == pytest.approx(course.preference, abs=1e-4)
    assert course.exposed_budget == pytest.approx(course.budget)


@pytest.mark.parametrize(
    ("regime", "squared_error"),
    [("clean", 0.0004), ("moderate", 0.075), ("severe", 0.217), ("no_feedback", 0.031)],
)
def test_the_descriptor_is_as_far_off_as_the_note_measured(
    regime: str, squared_error: float
) -> None:
    course = desks(CORRUPTIONS[regime], number=1500).course
    found = ((course.exposed_preference - course.preference) ** 2).sum(axis=-1).mean()
    assert found == pytest.approx(squared_error, rel=0.06)


def test_a_late_line_tells_what_held_some_steps_ago() -> None:
    course = desks(Corruption(0.0, 4, 0.0, 0.0)).course
    assert course.exposed_budget[:, 10] == pytest.approx(course.budget[:, 6])


def test_a_missing_reading_is_held_and_ages() -> None:
    course = desks(Corruption(0.5, 0, 0.5, 0.0)).course
    held = ~course.fresh[:, 1:]
    same = (np.diff(course.exposed_preference, axis=1) == 0).all(axis=-1)
    assert (same == held).all()
    assert (course.age[:, 1:][held] == course.age[:, :-1][held] + 1).all()
    assert not course.age[course.fresh].any()


def test_a_bias_stays_for_the_episode() -> None:
    course = desks(Corruption(0.0, 0, 0.0, 0.5), "slow").course
    ratio = np.log(course.exposed_preference / course.preference)
    contrast = ratio[..., 0] - ratio[..., 1]
    assert contrast.std(axis=0).min() > 0.3
    assert np.ptp(contrast, axis=1).max() < 0.01


def test_contexts_jump_once_in_twenty_four_steps() -> None:
    assert desks(number=1000).course.jumped[:, 1:].mean() == pytest.approx(1 / 24, rel=0.05)


def test_between_jumps_nothing_drifts() -> None:
    course = desks().course
    still = ~course.jumped[:, 1:]
    assert (course.budget[:, 1:][still] == course.budget[:, :-1][still]).all()


def test_slow_drift_never_jumps_but_wanders() -> None:
    course = desks(drift="slow").course
    assert not course.jumped.any()
    moved = np.abs(np.diff(course.budget, axis=1))
    assert 0.005 < moved.mean() < 0.02
    assert course.budget.min() >= 0.1 and course.budget.max() <= 0.9


def test_stress_presses_the_budget_where_drift_follows_context() -> None:
    free, pressed = desks().course, desks(drift="context").course
    expected = np.maximum(free.budget - 0.3 * free.stress, 0.05)
    assert pressed.budget == pytest.approx(expected)


def test_an_adversary_freezes_the_descriptor_for_sixteen_steps_after_a_jump() -> None:
    course = desks(drift="adversarial").course
    desk, step = next(zip(*np.nonzero(course.jumped[:, 20:40]), strict=True))
    step += 20
    shown = course.exposed_budget[desk]
    assert (shown[step : step + 16] == shown[step - 1]).all()
    assert course.fresh[desk].all() and not course.age[desk].any()


def test_a_satisfaction_score_is_the_utility_but_for_a_little_noise() -> None:
    made = desks(number=2000)
    outcome = made.step(np.full(2000, 3))
    error = outcome.satisfaction - (outcome.preference * outcome.reward).sum(axis=1)
    assert error.mean() == pytest.approx(0.0, abs=0.003)
    assert error.std() == pytest.approx(0.03, rel=0.1)


def test_alarms_sound_when_cost_exceeds_the_budget() -> None:
    made = desks(number=4000)
    outcome = made.step(np.full(4000, 5))
    over = outcome.cost - outcome.budget
    assert outcome.alarm[over > 0.1].mean() > 0.9
    assert outcome.alarm[over < -0.1].mean() < 0.1
    near = np.abs(over) < 0.02
    assert outcome.alarm[near].mean() == pytest.approx(0.5, abs=0.1)


def test_without_feedback_neither_scores_nor_alarms_arrive() -> None:
    outcome = desks(CORRUPTIONS["no_feedback"]).step(np.zeros(200, dtype=int))
    assert np.isnan(outcome.satisfaction).all() and np.isnan(outcome.alarm).all()


def test_what_happens_does_not_depend_on_what_is_done() -> None:
    one, other = desks(CORRUPTIONS["severe"]), desks(CORRUPTIONS["severe"])
    for action in (1, 2, 3):
        one.step(np.full(200, action))
        other.step(np.full(200, 11 - action))
    assert np.array_equal(one.sight().exposed_preference, other.sight().exposed_preference)
    assert np.array_equal(one.sight().state, other.sight().state)


def test_costs_pile_up_where_they_accumulate() -> None:
    made = desks(kind=ACCUMULATING)
    dear = int(made.tables.cost.mean(axis=0).argmax())
    costs = [made.step(np.full(200, dear)).cost.mean() for _ in range(10)]
    assert all(later > earlier - 0.05 for earlier, later in zip(costs, costs[3:], strict=False))
    assert costs[-1] > costs[0] + 0.2


def test_backlog_is_worked_off_by_doing_nothing() -> None:
    made = desks(kind=ACCUMULATING)
    for _ in range(5):
        made.step(np.full(200, 5))
    before = made.sight().backlog.copy()
    made.step(np.zeros(200, dtype=int))
    assert made.sight().backlog == pytest.approx(0.8 * before + 0.2 * 0.02)


def test_after_the_last_step_there_is_something_to_see_but_nothing_to_do() -> None:
    made = desks(kind=DeskSettings(length=3))
    for _ in range(3):
        made.step(np.zeros(200, dtype=int))
    assert made.done
    assert made.sight().state.shape == (200,)
    with pytest.raises(RuntimeError, match="call reset"):
        made.step(np.zeros(200, dtype=int))


def test_an_unknown_drift_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'storm': must be one of jumps, slow"):
        Desks(DeskSettings(), [PERFECT], ["storm"])  # type: ignore[list-item]


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.sampled_from(list(CORRUPTIONS)))
def test_descriptors_are_always_preferences_and_budgets(seed: int, regime: str) -> None:
    made = Desks(dataclasses.replace(DeskSettings(), length=8), [CORRUPTIONS[regime]], ["context"])
    made.reset(seed)
    course = made.course
    assert course.exposed_preference.sum(axis=-1) == pytest.approx(1.0)
    assert ((course.exposed_budget > 0) & (course.exposed_budget < 1)).all()
    assert ((course.stress >= 0) & (course.stress <= 1)).all()


def test_a_context_may_be_held_for_a_sweep_over_preferences() -> None:
    made = Desks(PLAIN, [PERFECT] * 2, ["jumps"] * 2)
    held = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]), np.array([0.3, 0.6])
    made.reset(0, held)
    assert not made.course.jumped.any()
    assert (made.course.preference == held[0][:, None]).all()
    assert made.course.exposed_budget[1] == pytest.approx(0.6)

import itertools
from dataclasses import replace

import numpy as np
import pytest

from policies.becon.observation import Exposed, Feedback, Layout, Observer

LAYOUT = Layout(features=2, objectives=3, levels=(4,))
EXPOSED = Exposed(np.array([[0.2, 0.3, 0.5]]), np.array([0.7]), np.array([2.0]), np.array([False]))
FEATURES = np.array([[1.0, -1.0]])


def feedback(satisfaction: float = 0.4, alarm: float = 1.0) -> Feedback:
    return Feedback(
        np.array([2]),
        np.array([[0.1, 0.2, 0.3]]),
        np.array([0.6]),
        np.array([satisfaction]),
        np.array([alarm]),
    )


def test_the_parts_follow_each_other_without_gaps() -> None:
    parts = [LAYOUT.part(name) for name in LAYOUT.sizes]
    assert parts[0].start == 0
    assert parts[-1].stop == LAYOUT.width
    assert all(a.stop == b.start for a, b in itertools.pairwise(parts))


def test_an_unknown_part_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(KeyError, match="features, exposed"):
        LAYOUT.part("truth")


def test_everything_lies_where_the_layout_says() -> None:
    observer = Observer(LAYOUT, 1)
    observer.first(FEATURES, EXPOSED)
    made = observer.next(FEATURES, EXPOSED, feedback())[0]
    assert made.dtype == np.float32
    assert made[LAYOUT.part("features")] == pytest.approx([1.0, -1.0])
    assert made[LAYOUT.part("exposed")] == pytest.approx([0.2, 0.3, 0.5, 0.7])
    assert made[LAYOUT.part("line")] == pytest.approx([np.log(3.0), 0.0])
    assert made[LAYOUT.part("reward")] == pytest.approx([0.1, 0.2, 0.3])
    assert made[LAYOUT.part("feedback")] == pytest.approx([0.6, 0.4, 1.0, 1.0])
    assert made[LAYOUT.part("action")] == pytest.approx([0, 0, 1, 0])
    assert made[LAYOUT.part("belief")] == pytest.approx(observer.belief.features()[0], rel=1e-6)


def test_before_the_first_step_there_is_no_feedback() -> None:
    made = Observer(LAYOUT, 1).first(FEATURES, EXPOSED)[0]
    assert not made[LAYOUT.part("reward")].any()
    assert not made[LAYOUT.part("feedback")].any()
    assert not made[LAYOUT.part("action")].any()


def test_absent_feedback_is_zero_and_marked_absent() -> None:
    observer = Observer(LAYOUT, 1)
    observer.first(FEATURES, EXPOSED)
    made = observer.next(FEATURES, EXPOSED, feedback(np.nan, np.nan))[0]
    assert made[LAYOUT.part("feedback")] == pytest.approx([0.6, 0.0, 0.0, 0.0])
    assert np.isfinite(made).all()


def test_the_encoder_does_not_read_the_descriptor() -> None:
    assert not {"exposed", "line", "quality"} & set(LAYOUT.history)


def test_a_new_episode_forgets_what_was_believed() -> None:
    observer = Observer(LAYOUT, 1)
    before = observer.first(FEATURES, EXPOSED)
    observer.next(FEATURES, EXPOSED, feedback())
    assert np.array_equal(observer.first(FEATURES, EXPOSED), before)


def test_several_levers_are_one_hot_each_and_the_mask_comes_last() -> None:
    layout = Layout(features=2, objectives=3, levels=(2, 3), masked=True)
    observer, legal = Observer(layout, 1), np.array([[True, True, True, False, True]])
    observer.first(FEATURES, EXPOSED, legal)
    told = replace(feedback(), action=np.array([[1, 2]]))
    made = observer.next(FEATURES, EXPOSED, told, legal)[0]
    assert made[layout.part("action")].tolist() == [0, 1, 0, 0, 1]
    assert made[-5:].tolist() == [1, 1, 1, 0, 1]

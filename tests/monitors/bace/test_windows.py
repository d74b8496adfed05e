from itertools import chain

import numpy as np
import pytest

from monitors.bace.signals import Recording, Refused, Trial
from monitors.bace.windows import (
    FEWEST_WINDOWS,
    Scaling,
    Shares,
    Windowing,
    cut,
    prepare,
    share_out,
)
from tests.monitors.bace.test_signals import recording

SMALL = Windowing(length_in=4, length_out=2, stride=2)


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def labelled(values: np.ndarray, *context: int) -> Recording:
    trial = Trial(values, np.array(context))
    nodes = tuple(f"node_{n}" for n in range(len(values)))
    return Recording(nodes, ("x",), ("calm", "storm"), (trial,))


def unit(contexts: int = 1, nodes: int = 1) -> Scaling:
    shape = (contexts, nodes, 1)
    return Scaling(np.zeros((contexts, 1, nodes, 1)), np.ones(shape), np.zeros(shape, dtype=bool))


# ---- scaling -------------------------------------------------------------------------------------


def test_scores_have_mean_0_and_deviation_1_in_every_context() -> None:
    values = np.concatenate([3 + 2 * noise(1, 1, 500), -5 + 7 * noise(1, 1, 500, seed=1)], axis=2)
    calm_and_storm = labelled(values, *[0] * 500, *[1] * 500)
    scaling = Scaling.of(calm_and_storm)
    for context, part in ((0, slice(0, 500)), (1, slice(500, 1000))):
        scores = scaling.apply(values[:, :, part], context)
        assert scores.mean() == pytest.approx(0, abs=1e-12)
        assert scores.std() == pytest.approx(1)


def test_gaps_do_not_count_in_the_statistics() -> None:
    scaling = Scaling.of(recording(np.array([[[1.0, np.nan, 3.0]]])))
    assert scaling.mean.ravel().tolist() == [2.0]
    assert scaling.deviation.ravel().tolist() == [1.0]


def test_a_constant_channel_scores_0_and_nothing_is_divided_by_zero() -> None:
    scaling = Scaling.of(recording(np.full((1, 1, 9), 4.0)))
    with np.errstate(all="raise"):
        assert scaling.apply(np.full((1, 1, 3), 9.0), 0).tolist() == [[[0, 0, 0]]]


def test_a_rhythm_that_all_share_is_taken_out_with_a_period() -> None:
    rhythm = np.tile([0.0, 10.0, 20.0], 5).reshape(1, 1, 15)
    wobble = np.tile([1.0, -1.0, 1.0, -1.0, 1.0], 3).reshape(1, 1, 15)
    scaling = Scaling.of(recording(rhythm + wobble), period=3)
    plain = Scaling.of(recording(rhythm + wobble))
    scores = scaling.apply(rhythm + wobble, 0)
    assert abs(np.corrcoef(scores.ravel(), rhythm.ravel())[0, 1]) < 1e-12
    assert np.corrcoef(plain.apply(rhythm + wobble, 0).ravel(), rhythm.ravel())[0, 1] > 0.9


def test_a_window_knows_its_phase_by_where_it_begins() -> None:
    scaling = Scaling.of(recording(np.tile([0.0, 10.0], 4).reshape(1, 1, 8) + noise(1, 1, 8)), 2)
    series = noise(1, 1, 6)
    whole = scaling.apply(series, 0)
    assert scaling.apply(series[:, :, 3:], 0, start=3).tolist() == whole[:, :, 3:].tolist()


def test_normalisation_uses_training_trials_only() -> None:
    # Ten trials at 0 and ten at 100 of one context: whichever are for training set the scale.
    trials = recording(*[noise(2, 1, 60, seed=n) + 100 * (n % 2) for n in range(20)])
    made = prepare(trials, SMALL, np.random.default_rng(0), Shares(0.5, 0.25))
    training, _, _ = share_out(trials, Shares(0.5, 0.25), np.random.default_rng(0))
    expected = np.concatenate([trial.values for trial in training], axis=2).mean(axis=2)
    assert made.scaling.mean[0, 0] == pytest.approx(expected)
    everything = np.concatenate([trial.values for trial in trials], axis=2).mean(axis=2)
    assert made.scaling.mean[0, 0] != pytest.approx(everything, abs=1.0)


# ---- windows -------------------------------------------------------------------------------------


def test_windows_hold_what_comes_before_and_what_is_to_be_forecast() -> None:
    made = cut(recording(np.arange(10.0).reshape(1, 1, 10)), SMALL, unit())
    assert made.x[:, 0, 0].tolist() == [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 6, 7]]
    assert made.y[:, 0, 0].tolist() == [[4, 5], [6, 7], [8, 9]]
    assert made.x.dtype == made.y.dtype == np.float32


def test_windows_that_touch_a_gap_are_skipped_and_counted() -> None:
    values = np.arange(12.0).reshape(1, 1, 12)
    values[0, 0, 3] = np.nan
    made = cut(recording(values), SMALL, unit())
    assert made.x[:, 0, 0, 0].tolist() == [4, 6]
    assert made.skipped == 2


def test_a_window_belongs_to_the_context_that_it_forecasts() -> None:
    # Forecast ticks of the windows at 0, 2, 4, 6: (4, 5), (6, 7), (8, 9), (10, 11).
    made = cut(
        labelled(np.arange(12.0).reshape(1, 1, 12), *[0] * 7, *[1] * 5), SMALL, unit(contexts=2)
    )
    assert list(zip(made.x[:, 0, 0, 0].tolist(), made.context.tolist(), strict=True)) == [
        (0, 0),
        (4, 1),
        (6, 1),
    ]


def test_more_than_a_fifth_of_windows_with_gaps_is_refused() -> None:
    trials = [noise(2, 1, 120, seed=n) for n in range(10)]
    for values in trials[:5]:
        values[0, 0, ::10] = np.nan
    with pytest.raises(Refused, match="windows touch a gap"):
        prepare(recording(*trials), SMALL, np.random.default_rng(0))


def test_a_few_gaps_are_not_refused() -> None:
    trials = [noise(2, 1, 120, seed=n) for n in range(10)]
    trials[0][0, 0, 60] = np.nan
    made = prepare(recording(*trials), SMALL, np.random.default_rng(0))
    assert 0 < sum(p.skipped for p in (made.training, made.validation, made.test)) <= 3


def test_a_node_that_never_moves_is_dropped_and_named() -> None:
    trials = [noise(3, 1, 120, seed=n) for n in range(10)]
    for values in trials:
        values[1] = 4.0
    made = prepare(recording(*trials), SMALL, np.random.default_rng(0))
    assert made.dropped == ("node_1",)
    assert made.recording.nodes == ("node_0", "node_2")
    assert made.training.x.shape[1] == 2


def test_a_channel_that_does_not_move_is_reported_and_its_node_stays() -> None:
    trials = [noise(2, 2, 120, seed=n) for n in range(10)]
    for values in trials:
        values[0, 1] = 4.0
    made = prepare(recording(*trials), SMALL, np.random.default_rng(0))
    assert made.notes == ("node_0/channel_1 is constant in context calm",)
    assert not made.silent.any()


def test_nothing_that_moves_is_refused() -> None:
    with pytest.raises(Refused, match="only 0 of 2 nodes"):
        prepare(recording(*[np.ones((2, 1, 90))] * 9), SMALL, np.random.default_rng(0))


def test_a_context_with_too_few_windows_is_insufficient() -> None:
    trials = [Trial(noise(2, 1, 100, seed=n), np.zeros(100, dtype=np.int64)) for n in range(9)]
    trials.append(Trial(noise(2, 1, 20, seed=9), np.ones(20, dtype=np.int64)))
    both = Recording(("a", "b"), ("x",), ("calm", "storm"), tuple(trials))
    assert prepare(both, SMALL, np.random.default_rng(0)).insufficient == ("storm",)


def test_too_little_data_is_refused_and_says_what_is_needed() -> None:
    with pytest.raises(Refused, match=rf"no context has {FEWEST_WINDOWS} training windows.*needed"):
        prepare(recording(noise(2, 1, 30)), SMALL, np.random.default_rng(0))


def test_no_trial_is_in_two_shares_and_every_context_is_in_each() -> None:
    trials = [Trial(np.full((1, 1, 5), n), np.full(5, n % 2)) for n in range(40)]
    both = Recording(("a",), ("x",), ("calm", "storm"), tuple(trials))
    parts = share_out(both, Shares(0.7, 0.15), np.random.default_rng(3))
    numbers = [sorted(int(trial.values[0, 0, 0]) for trial in part) for part in parts]
    assert sorted(chain(*numbers)) == list(range(40))
    assert [len(part) for part in parts] == [28, 6, 6]
    assert all({n % 2 for n in part} == {0, 1} for part in numbers)

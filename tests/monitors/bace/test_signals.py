import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.bace.signals import Recording, Refused, Trial, refuse_unstable, stabilised
from monitors.bace.signals import unstable_series as growing


def recording(*values: np.ndarray, contexts: tuple[str, ...] = ("calm",)) -> Recording:
    trials = tuple(Trial(v, np.zeros(v.shape[2], dtype=np.int64)) for v in values)
    nodes = tuple(f"node_{n}" for n in range(values[0].shape[0]))
    channels = tuple(f"channel_{c}" for c in range(values[0].shape[1]))
    return Recording(nodes, channels, contexts, trials)


def test_counts_are_transformed_by_anscombe() -> None:
    # 2 sqrt(n + 3/8) (note, section 5), by hand for 0, 1 and 5.
    assert stabilised(np.array([0, 1, 5])) == pytest.approx([1.224745, 2.345208, 4.636809])


def test_transformed_poisson_counts_vary_alike_whatever_their_mean() -> None:
    rng = np.random.default_rng(0)
    for mean in (5, 20, 80):
        assert stabilised(rng.poisson(mean, 50_000)).var() == pytest.approx(1.0, abs=0.06)


def test_a_gap_stays_a_gap_in_transformed_counts() -> None:
    assert np.isnan(stabilised(np.array([np.nan, 4.0]))).tolist() == [True, False]


def test_a_negative_count_is_an_error() -> None:
    with pytest.raises(ValueError, match="negative"):
        stabilised(np.array([3, -1]))


@pytest.mark.parametrize("label", [-1, 2])
def test_a_context_label_outside_the_contexts_is_an_error(label: int) -> None:
    trial = Trial(np.zeros((2, 1, 5)), np.array([0, 0, 1, label, 0]))
    with pytest.raises(ValueError, match="allowed: 0 to 1"):
        Recording(("a", "b"), ("x",), ("calm", "storm"), (trial,))


def test_infinite_values_are_an_error() -> None:
    with pytest.raises(ValueError, match="infinite"):
        recording(np.full((2, 1, 5), np.inf))


def test_a_trial_of_another_shape_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"\(2, 1, 5\), not \(3, 1, 5\)"):
        Recording(
            ("a", "b", "c"), ("x",), ("calm",), (Trial(np.zeros((2, 1, 5)), np.zeros(5, int)),)
        )


def test_a_series_whose_variance_grows_tenfold_is_refused_by_name() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(2, 1, 400))
    values[1] *= np.linspace(1, 8, 400)
    assert growing(recording(values)) == ["node_1/channel_0"]
    with pytest.raises(Refused, match="node_1/channel_0"):
        refuse_unstable(recording(values))


def test_a_series_that_trebles_its_variance_is_not_refused() -> None:
    values = np.random.default_rng(1).normal(size=(2, 1, 4000)) * np.linspace(1, 1.8, 4000)
    assert growing(recording(values)) == []


def test_a_constant_series_does_not_count_as_growing() -> None:
    assert growing(recording(np.full((2, 1, 100), 7.0))) == []


@given(length=st.integers(1, 400), ticks=st.integers(1, 90))
def test_blocks_hold_every_tick_once_and_in_order(length: int, ticks: int) -> None:
    values = np.arange(length, dtype=float).reshape(1, 1, length)
    blocks = recording(values).blocks(ticks)
    assert np.concatenate([trial.values for trial in blocks], axis=2).tolist() == values.tolist()
    sizes = [trial.length for trial in blocks]
    assert all(size == ticks for size in sizes[:-1])
    assert len(sizes) == 1 or ticks / 2 <= sizes[-1] < 3 * ticks / 2


def test_nodes_are_picked_by_name_with_their_signals() -> None:
    values = np.arange(6.0).reshape(3, 1, 2)
    picked = recording(values).with_nodes(["node_2", "node_0"])
    assert picked.nodes == ("node_2", "node_0")
    assert picked.trials[0].values[:, 0].tolist() == [[4, 5], [0, 1]]

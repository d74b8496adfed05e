import numpy as np
import pytest
from scipy import stats

from monitors.bace.baselines import autoregression, copy_last_error, correlations
from monitors.bace.scores import auroc, off_diagonal
from monitors.bace.signals import Recording
from monitors.bace.synthetic import Size, no_coupling, structured
from monitors.bace.windows import Scaling, Windowing, cut
from tests.monitors.bace.test_signals import recording


def one_edge(ticks: int = 400, seed: int = 0) -> Recording:
    """Node 2 drives node 0, with a delay of one tick."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(3, 1, ticks))
    values[0, 0, 1:] += values[2, 0, :-1]
    return recording(values)


def test_an_edge_is_found_in_the_row_of_its_target() -> None:
    signals = one_edge()
    found = autoregression(signals, Scaling.of(signals), lags=1)
    strongest = np.unravel_index(found.f_value[0].argmax(), (3, 3))
    assert strongest == (0, 2)
    assert found.significant(0).tolist() == [[False, False, True], [False] * 3, [False] * 3]


def test_a_weight_is_the_coefficient_of_z_scores() -> None:
    # x0 = x2(t-1) + noise, both of variance 1: the z-score of x0 is divided by sqrt(2).
    signals = one_edge(20_000)
    found = autoregression(signals, Scaling.of(signals), lags=1)
    assert found.weight[0, 0, 2] == pytest.approx(1 / np.sqrt(2), abs=0.02)


def test_the_granger_test_equals_the_one_by_two_regressions() -> None:
    signals = one_edge(120)
    scaling = Scaling.of(signals)
    found = autoregression(signals, scaling, lags=2)
    z = scaling.apply(signals.trials[0].values, 0)[:, 0]
    past = {(n, lag): z[n, 2 - lag : 120 - lag] for n in range(3) for lag in (1, 2)}
    target = z[1, 2:]

    def squares(nodes: tuple[int, ...]) -> float:
        columns = [np.ones(118), *(past[n, lag] for n in nodes for lag in (1, 2))]
        design = np.column_stack(columns)
        rest = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
        return float(rest @ rest)

    full, without = squares((0, 1, 2)), squares((1, 2))
    f = (without - full) / 2 / (full / (118 - 7))
    assert found.f_value[0, 1, 0] == pytest.approx(f)
    assert found.p_value[0, 1, 0] == pytest.approx(stats.f.sf(f, 2, 111))


def test_it_recovers_the_structured_suite() -> None:
    suite = structured(np.random.default_rng(0), Size(trials=10))
    found = autoregression(suite.recording, Scaling.of(suite.recording))
    assert auroc(found.f_value, suite.truth) == 1.0  # PILOT: 1.000


def test_it_finds_next_to_nothing_where_nothing_is() -> None:
    suite = no_coupling(np.random.default_rng(0), Size(trials=10))
    found = autoregression(suite.recording, Scaling.of(suite.recording))
    edges = np.stack([found.significant(p) for p in range(4)])
    assert off_diagonal(edges).mean() < 0.02


def test_with_hardly_any_data_nothing_is_significant() -> None:
    signals = one_edge(12)
    found = autoregression(signals, Scaling.of(signals), lags=2)
    assert (found.p_value == 1).all() and (found.f_value == 0).all()


def test_a_constant_node_neither_drives_nor_is_driven() -> None:
    signals = one_edge()
    signals.trials[0].values[1] = 3.0
    found = autoregression(signals, Scaling.of(signals), lags=1)
    assert (found.p_value[0, 1] == 1).all() and (found.p_value[0, :, 1] == 1).all()
    assert found.significant(0)[0, 2]


def test_several_channels_count_as_one_node() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 2, 400))
    values[0, 1, 1:] += values[2, 0, :-1]  # one channel drives the other channel of another node
    signals = recording(values)
    found = autoregression(signals, Scaling.of(signals), lags=1)
    assert np.argwhere(found.significant(0)).tolist() == [[0, 2]]


def test_correlations_have_no_direction() -> None:
    suite = structured(np.random.default_rng(0), Size(trials=5))
    found = correlations(suite.recording, Scaling.of(suite.recording))
    assert found == pytest.approx(np.swapaxes(found, 1, 2))
    assert np.diagonal(found, axis1=1, axis2=2).tolist() == [[0] * 8] * 4


def test_correlations_equal_numpys() -> None:
    signals = one_edge()
    found = correlations(signals, Scaling.of(signals))
    expected = np.corrcoef(signals.trials[0].values[:, 0]) - np.eye(3)
    assert found[0] == pytest.approx(expected)


def test_copying_the_last_value_errs_by_how_far_the_signal_moves() -> None:
    steps = recording(np.arange(10.0).reshape(1, 1, 10))
    scaling = Scaling(np.zeros((1, 1, 1, 1)), np.ones((1, 1, 1)), np.zeros((1, 1, 1), bool))
    windows = cut(steps, Windowing(length_in=4, length_out=2, stride=2), scaling)
    assert copy_last_error(windows) == pytest.approx((1**2 + 2**2) / 2)

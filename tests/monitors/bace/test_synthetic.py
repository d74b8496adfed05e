import numpy as np
import pytest

from monitors.bace.signals import unstable_series
from monitors.bace.synthetic import SUITES, Size, no_coupling, signed_laplace, structured

FEW = Size(trials=4, ticks=120)


def test_in_the_structured_suite_row_i_listens_to_the_two_after_i_plus_p() -> None:
    truth = structured(np.random.default_rng(0), FEW).truth
    for p in range(4):
        for i in range(8):
            assert set(np.flatnonzero(truth[p, i])) == {(i + 1 + p) % 8, (i + 2 + p) % 8}
    assert set(truth[truth != 0]) == {0.5}


def test_the_structured_suite_obeys_its_equation() -> None:
    # What is left of x_{t+1} - 0.70 x_t - 0.25 A x_t is N(0, 0.02^2).
    suite = structured(np.random.default_rng(0), Size(trials=10))
    rest = []
    for trial in suite.recording:
        x, p = trial.values[:, 0], trial.context[0]
        rest.append(x[:, 1:] - 0.70 * x[:, :-1] - 0.25 * suite.truth[p] @ x[:, :-1])
    assert np.std(rest) == pytest.approx(0.02, rel=0.02)


def test_the_stochastic_suite_has_two_sources_a_row_of_both_signs_and_does_not_explode() -> None:
    suite = signed_laplace(np.random.default_rng(0), FEW)
    assert ((suite.truth != 0).sum(axis=2) == 2).all()
    assert (suite.truth > 0).any() and (suite.truth < 0).any()
    for graph in suite.truth:
        assert np.abs(np.linalg.eigvals(graph)).max() == pytest.approx(0.9)
        whole = 0.70 * np.eye(8) + 0.25 * graph
        assert np.abs(np.linalg.eigvals(whole)).max() <= 0.925 + 1e-9  # note 3, defect (a)
    assert unstable_series(suite.recording) == []


def test_without_coupling_no_node_drives_another() -> None:
    assert not no_coupling(np.random.default_rng(0), FEW).truth.any()


@pytest.mark.parametrize("name", sorted(SUITES))
def test_every_suite_follows_from_its_seed(name: str) -> None:
    once, again, other = (SUITES[name](np.random.default_rng(s), FEW) for s in (5, 5, 6))
    values = [np.stack([t.values for t in suite.recording]) for suite in (once, again, other)]
    assert (values[0] == values[1]).all()
    assert (values[0] != values[2]).any()


@pytest.mark.parametrize("name", sorted(SUITES))
def test_nobody_drives_itself(name: str) -> None:
    truth = SUITES[name](np.random.default_rng(0), FEW).truth
    assert not np.diagonal(truth, axis1=1, axis2=2).any()

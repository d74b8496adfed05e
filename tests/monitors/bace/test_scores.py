import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from monitors.bace import scores

TRUTH = np.array([[0, 1, 0], [0, 0, -1], [1, 0, 0]], dtype=float)
GRAPHS = arrays(float, (4, 4), elements=st.floats(-1, 1, width=32))


def test_auroc_is_the_chance_that_a_true_edge_is_stronger_than_another() -> None:
    # True: .9, .5, .1; others: .5, .2, .0. Pairs won: 3 + 2.5 + 1 of 9.
    strength = np.array([[0, 0.9, 0.5], [0.2, 0, -0.5], [0.1, 0.0, 0]])
    assert scores.auroc(strength, TRUTH) == pytest.approx(6.5 / 9)


def test_the_truth_itself_scores_1_and_its_reverse_0() -> None:
    assert scores.auroc(TRUTH, TRUTH) == 1
    assert scores.auroc(1 - np.abs(TRUTH), TRUTH) == 0


@pytest.mark.parametrize("truth", [np.zeros((3, 3)), np.ones((3, 3))])
def test_auroc_means_nothing_without_both_kinds_of_pairs(truth: np.ndarray) -> None:
    assert math.isnan(scores.auroc(TRUTH, truth))


@given(GRAPHS)
def test_the_diagonal_never_counts(graph: np.ndarray) -> None:
    other = graph.copy()
    np.fill_diagonal(other, 9.0)
    truth = np.roll(np.eye(4), 1, axis=1)
    assert scores.auroc(graph, truth) == scores.auroc(other, truth)
    assert scores.f1_of_top(graph, truth) == scores.f1_of_top(other, truth)
    assert scores.sign_accuracy(graph, truth) == scores.sign_accuracy(other, truth)


def test_average_precision_is_the_mean_precision_at_true_edges() -> None:
    # Ranked: true, other, true, true, ...: (1 + 2/3 + 3/4) / 3.
    strength = np.array([[0, 0.9, 0.8], [0.1, 0, -0.7], [0.6, 0.0, 0]])
    assert scores.average_precision(strength, TRUTH) == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)


def test_f1_takes_the_strongest_sources_of_every_row() -> None:
    # Top 1 of each row: right, right, wrong: precision and recall are 2/3.
    strength = np.array([[0, 0.9, 0.5], [0.2, 0, -0.5], [0.1, 0.3, 0]])
    assert scores.f1_of_top(strength, TRUTH, top=1) == pytest.approx(2 / 3)


def test_signs_are_judged_on_true_edges_only() -> None:
    strength = np.array([[0, 0.9, -0.5], [-0.2, 0, 0.5], [0.1, 0.3, 0]])
    assert scores.sign_accuracy(strength, TRUTH) == pytest.approx(2 / 3)


def test_a_transposed_graph_has_every_edge_turned_round() -> None:
    assert scores.transposed(TRUTH[None])[0].tolist() == TRUTH.T.tolist()


def test_rank_correlation_looks_at_sizes_and_is_0_for_a_flat_graph() -> None:
    assert scores.spearman(-3 * TRUTH, TRUTH) == pytest.approx(1)
    assert scores.spearman(np.zeros((3, 3)), TRUTH) == 0

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="BACE needs torch: make torch")

from monitors.bace.model import Form
from monitors.bace.scores import off_diagonal
from monitors.bace.training import Fit, FitSettings, fit, forecast, mean_squared_error
from monitors.bace.windows import Prepared, Shares, Windowing, Windows, prepare
from tests.monitors.bace.test_signals import recording

SHORT = FitSettings(form=Form(width=8, projection=8), epochs=4, least_steps=0)


def one_edge(trials: int = 12, ticks: int = 100) -> Prepared:
    """Node 2 drives node 0, with a delay of one tick; all three remember a little."""
    made = []
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        values = np.zeros((3, 1, ticks))
        for tick in range(1, ticks):
            values[:, 0, tick] = 0.5 * values[:, 0, tick - 1] + rng.normal(size=3)
            values[0, 0, tick] += 0.8 * values[2, 0, tick - 1]
        made.append(values)
    windowing = Windowing(length_in=8, length_out=3, stride=3)
    return prepare(recording(*made), windowing, np.random.default_rng(0), Shares(0.7, 0.15))


def fitted(settings: FitSettings = SHORT, seed: int = 0, made: Prepared | None = None) -> Fit:
    made = made or one_edge()
    return fit(made.training, made.validation, 1, settings, seed)


def test_a_single_edge_is_found_in_the_row_of_its_target() -> None:
    weights = np.abs(fitted(replace(SHORT, epochs=15)).adjacency[0])
    assert np.unravel_index(weights.argmax(), (3, 3)) == (0, 2)
    assert weights[0, 2] > 1.5 * np.sort(off_diagonal(weights))[-2]


def test_the_same_seed_gives_the_same_fit_to_the_bit() -> None:
    once, again, other = fitted(), fitted(), fitted(seed=1)
    assert once.adjacency.tobytes() == again.adjacency.tobytes()
    assert once.training_loss == again.training_loss
    assert once.adjacency.tobytes() != other.adjacency.tobytes()


def test_the_diagonal_of_what_is_learned_is_zero() -> None:
    assert not np.diagonal(fitted().adjacency[0]).any()


def test_fitting_lowers_the_loss() -> None:
    losses = fitted().training_loss
    assert len(losses) == SHORT.epochs
    assert losses[-1] < losses[0]


def test_little_data_is_gone_through_more_often() -> None:
    made = one_edge()
    batches = -(-len(made.training) // SHORT.batch)
    assert len(fitted(replace(SHORT, least_steps=8 * batches), made=made).training_loss) == 8


def test_fitting_stops_when_validation_no_longer_improves_and_keeps_the_best() -> None:
    made = one_edge(trials=4, ticks=40)
    eager = replace(SHORT, epochs=60, patience=0.05, learning_rate=0.05)
    stopped = fitted(eager, made=made)
    errors = stopped.validation_loss
    assert len(errors) < 60
    assert len(errors) - 1 - int(np.argmin(errors)) == 3
    assert mean_squared_error(stopped, made.validation, eager.form) == pytest.approx(min(errors))


def test_a_forecast_can_be_made_from_a_fit_alone() -> None:
    made = one_edge()
    told = forecast(fitted(replace(SHORT, epochs=20), made=made), made.test, SHORT.form)
    assert told.shape == made.test.y.shape
    assert np.mean((told - made.test.y) ** 2) < np.mean(made.test.y**2)


def test_the_penalty_makes_weights_small() -> None:
    free, penalised = (
        fitted(replace(SHORT, epochs=20, sparsity=weight)).adjacency for weight in (0.0, 0.05)
    )
    assert np.abs(off_diagonal(penalised)).sum() < 0.5 * np.abs(off_diagonal(free)).sum()


def test_a_label_outside_the_contexts_is_an_error() -> None:
    made = one_edge()
    wrong = made.training.relabelled(np.ones_like(made.training.context))
    with pytest.raises(ValueError, match="0 to 0"):
        fit(wrong, made.validation, 1, SHORT, 0)


def test_nothing_to_learn_from_is_an_error() -> None:
    nothing = Windows(np.zeros((0, 3, 1, 8)), np.zeros((0, 3, 1, 3)), np.zeros(0, dtype=np.int64))
    with pytest.raises(ValueError, match="no training windows"):
        fit(nothing, nothing, 1, SHORT, 0)

import numpy as np
import pytest

from monitors.bace.reliability import contexts_pay, retest, split_halves
from monitors.bace.signals import Recording, Refused, Trial


def numbered(*contexts: int) -> Recording:
    trials = [Trial(np.full((1, 1, 4), n), np.full(4, p)) for n, p in enumerate(contexts)]
    return Recording(("a",), ("x",), ("calm", "storm"), tuple(trials))


def numbers(half: Recording) -> list[int]:
    return [int(trial.values[0, 0, 0]) for trial in half]


def test_halves_share_no_trial_and_both_have_every_context() -> None:
    first, second = split_halves(numbered(*[0] * 6, *[1] * 5), np.random.default_rng(0))
    assert sorted(numbers(first) + numbers(second)) == list(range(11))
    for half in (first, second):
        assert sum(n < 6 for n in numbers(half)) == 3
        assert sum(n >= 6 for n in numbers(half)) in (2, 3)


def test_one_trial_cannot_be_halved() -> None:
    with pytest.raises(Refused, match="one trial"):
        split_halves(numbered(0), np.random.default_rng(0))


def test_graphs_that_agree_in_order_are_perfectly_reliable() -> None:
    graph = np.arange(9.0).reshape(1, 3, 3)
    assert retest(graph, graph**2).tolist() == pytest.approx([1.0])


def test_every_context_is_judged_by_itself() -> None:
    graph = np.arange(9.0).reshape(3, 3)
    again = retest(np.stack([graph, graph]), np.stack([graph, 9 - graph]))
    assert again.tolist() == pytest.approx([1.0, -1.0])


def test_contexts_must_forecast_a_hundredth_better_than_none() -> None:
    assert contexts_pay(0.90, 1.0)
    assert not contexts_pay(0.995, 1.0)
    assert not contexts_pay(1.1, 1.0)

from __future__ import annotations

import numpy as np
import pytest

from policies.concave.ascent import AscentSettings, ascend
from policies.concave.draws import Draws, generator, in_process, seeds_of
from policies.concave.estimator import MultiLevel, estimate
from policies.concave.objective import Objective
from policies.concave.ray_draws import RayDraws, largest_first
from policies.concave.scalarisation import Array
from policies.concave.softmax import SoftmaxTask
from policies.concave.tabular import bandit
from policies.concave.utilities import ProportionalFairness, TargetShortfall
from services.errors import HanseError
from tests.actors.ray_session import ray_session

__all__ = ["ray_session"]

SHORTFALL = TargetShortfall((1.0, 0.0), (0.0, 0.7), (0.0, 8.0))


def noisy(n: int, rng: np.random.Generator) -> Array:
    return np.array([0.5, 0.65]) + 0.3 * rng.normal(size=(n, 2))


def test_a_part_depends_on_its_size_and_seed_alone() -> None:
    seeds = seeds_of((7, 3), 3)
    parts = in_process(noisy, [2, 8, 4], seeds)
    alone = in_process(noisy, [8], [seeds[1]])
    assert parts[1].tobytes() == alone[0].tobytes()
    assert parts[0].tobytes() == noisy(2, generator((7, 3, 0))).tobytes()


def test_the_largest_part_is_begun_first() -> None:
    assert largest_first([2, 512, 4, 512, 8]) == [1, 3, 4, 2, 0]


def test_without_a_ray_that_runs_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    with pytest.raises(HanseError, match=r"call ray.init\(\) before, or draw in this process"):
        RayDraws()


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
class TestOnRay:
    def test_several_processes_give_the_bytes_of_one(self) -> None:
        here = estimate(SHORTFALL, noisy, MultiLevel(6, 6), (1,))
        there = estimate(SHORTFALL, noisy, MultiLevel(6, 6), (1,), RayDraws())
        assert here.gradient.tobytes() == there.gradient.tobytes()
        assert (here.value, here.levels) == (there.value, there.levels)

    def test_an_ascent_is_the_same_too(self) -> None:
        task = SoftmaxTask(bandit(np.array([[1.0, 0.0], [0.4, 0.75]]), noise=0.3))
        settings = AscentSettings(iterations=2, independence="swapped")

        def ascended(draws: Draws) -> bytes:
            objective = Objective(SHORTFALL, estimator=MultiLevel(3, 2))
            return ascend(task, objective, settings, draws=draws).parameters.tobytes()

        assert ascended(RayDraws()) == ascended(in_process)

    def test_parts_come_back_in_the_order_they_were_asked_for(self) -> None:
        parts = RayDraws()(noisy, [2, 16, 4], seeds_of((0,), 3))
        assert [len(part) for part in parts] == [2, 16, 4]

    def test_an_error_of_the_sampler_is_told_as_it_is(self) -> None:
        def failing(n: int, rng: np.random.Generator) -> Array:
            raise HanseError("the town has no coffee")

        with pytest.raises(HanseError, match=r"^the town has no coffee$"):
            estimate(ProportionalFairness(delta=0.1), failing, MultiLevel(2, 1), (0,), RayDraws())

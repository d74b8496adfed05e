"""Traces over processes: each its own generator, answers in order."""

import dataclasses
import multiprocessing

import numpy as np
import pytest

from monitors.caspian.benchmark.workload import ALL, Draw, Watch, seen, spread, watch

DRAW = Draw(seed=1, split="test", kind="steady", index=0, agents=12)


def _squared(number: int) -> int:
    if number < 0:
        raise ValueError("negative")
    return number * number


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 2},
        {"split": "calibration"},
        {"kind": "burst"},
        {"index": 1},
    ],
)
def test_no_two_draws_share_a_generator(change: dict[str, object]) -> None:
    other = dataclasses.replace(DRAW, **change)  # type: ignore[arg-type]

    one, two = DRAW.trace().ticks[0], other.trace().ticks[0]
    assert one.u.shape != two.u.shape or not np.array_equal(one.u, two.u)


def test_a_draw_is_the_same_every_time() -> None:
    np.testing.assert_array_equal(DRAW.trace().ticks[5].u, DRAW.trace().ticks[5].u)


def test_only_the_chosen_channels_are_seen() -> None:
    trace = DRAW.trace()
    some = seen(trace, (0, 3))

    assert {int(c) for tick in some.ticks for c in tick.channel} == {0, 3}
    assert sum(map(len, some.ticks)) == sum(
        int(np.isin(tick.channel, (0, 3)).sum()) for tick in trace.ticks
    )
    assert seen(trace, ALL) is trace


def test_watching_gives_a_series_for_every_statistic_and_view() -> None:
    found = watch((DRAW, (Watch(("MessageRate", "MeanCosine")), Watch(("MessageRate",), (0,)))))

    assert found.onset is None
    assert set(found.series) == {
        ("MessageRate", ALL),
        ("MeanCosine", ALL),
        ("MessageRate", (0,)),
    }
    every, comm = found.series["MessageRate", ALL], found.series["MessageRate", (0,)]
    assert every.shape == comm.shape == (110, 1) and (comm < every).any()


@pytest.mark.parametrize("processes", [1, 2])
def test_answers_come_in_the_order_of_the_tasks(processes: int) -> None:
    told: list[tuple[int, int, str]] = []
    answers = spread(
        _squared,
        list(range(9)),
        processes=processes,
        progress=lambda *said: told.append(said),
        what="numbers",
    )

    assert answers == [n * n for n in range(9)]
    assert told == [(n, 9, "numbers") for n in range(1, 10)]


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_of_a_task_is_not_swallowed(processes: int) -> None:
    with pytest.raises(ValueError, match="negative"):
        spread(_squared, [1, -1, 2], processes=processes)


def test_an_interrupt_ends_the_processes() -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spread(_squared, list(range(100)), processes=2, progress=interrupt)

    assert not multiprocessing.active_children()

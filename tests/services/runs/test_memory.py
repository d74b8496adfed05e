"""The store keeps nothing of a day that has ended."""

import gc
import tracemalloc
from pathlib import Path

from services.runs import Run, RunStore
from tests.services.runs.samples import manifest, play


def test_memory_is_flat_from_the_tenth_day_to_the_hundredth(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        play(store, range(10), messages=100)
        tracemalloc.start()
        play(store, range(10, 11), messages=100)
        tracemalloc.reset_peak()
        play(store, range(11, 12), messages=100)
        gc.collect()  # also lets go of the objects that Python keeps to be used again
        kept, peak = tracemalloc.get_traced_memory()
        play(store, range(12, 100), messages=100)
        gc.collect()
        kept_later, peak_later = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert kept_later < kept + 20_000  # not even a number for each day
    assert peak_later < peak * 1.05
    assert Run(tmp_path / "run").count("messages") == 10_000

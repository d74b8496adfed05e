"""The store keeps nothing of a day that has ended."""

import gc
import tracemalloc
from pathlib import Path

from services.runs import Run, RunStore
from tests.services.runs.samples import manifest, play


def test_memory_is_flat_from_the_twentieth_day_to_the_hundredth(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        play(store, range(10), messages=100)
        gc.collect()
        tracemalloc.start()
        # Python keeps tuples that are let go, to use them again: their number settles first.
        play(store, range(10, 20), messages=100)
        tracemalloc.reset_peak()
        play(store, range(20, 21), messages=100)
        gc.collect()
        kept, peak = tracemalloc.get_traced_memory()
        play(store, range(21, 100), messages=100)
        gc.collect()
        kept_later, peak_later = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert kept_later < kept + 20_000  # not even a number for each day
    assert peak_later < peak * 1.1
    assert Run(tmp_path / "run").count("messages") == 10_000

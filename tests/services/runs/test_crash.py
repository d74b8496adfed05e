"""A writer that is killed at any instant leaves the last whole day, and the run continues."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from services.runs import Run, RunStore
from tests.services.runs.processes import kill, start_writing
from tests.services.runs.samples import manifest, play, rows_of, written
from tests.services.runs.writing_process import MESSAGES

DAYS = 60


def test_a_run_killed_at_ten_random_instants_ends_like_one_that_was_not(tmp_path: Path) -> None:
    instants = random.Random(1)
    folder = tmp_path / "killed"
    for _ in range(10):
        process = start_writing(folder, DAYS)
        time.sleep(instants.uniform(0, 0.03))
        said = kill(process)
        run = Run(folder)
        assert run.state == "resumable"
        assert run.verify()
        if said:
            assert run.day is not None and run.day >= said[-1]
    with RunStore.open(folder) as store:
        reached = -1 if store.day is None else store.day
        play(store, range(reached + 1, DAYS), MESSAGES)
    assert Run(folder).marks() == Run(written(tmp_path / "whole", DAYS, MESSAGES)).marks()


@pytest.mark.parametrize("share", [0.01, 0.25, 0.5, 0.75, 0.99])
def test_a_writer_killed_within_its_transaction_leaves_the_day_before(
    tmp_path: Path, share: float
) -> None:
    steps = _steps_of_a_day(tmp_path / "counted")
    folder = written(tmp_path / "run", days=1, messages=MESSAGES)
    child = os.fork()
    if child == 0:
        try:
            store = RunStore.open(folder)
            store.append(**rows_of(1, MESSAGES))
            _after_steps(store, int(steps * share), lambda: os.kill(os.getpid(), signal.SIGKILL))
            store.end_day(1, b"")
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    run = Run(folder)
    assert (run.state, run.day, run.verify()) == ("resumable", 0, True)
    with RunStore.open(folder) as store:
        play(store, range(1, 2), MESSAGES)
    assert run.marks() == Run(tmp_path / "counted").marks()


def _steps_of_a_day(folder: Path) -> int:
    """How many instructions of SQLite's machine the second day takes."""
    counted = 0

    def count() -> None:
        nonlocal counted
        counted += 1

    with RunStore.create(folder, manifest()) as store:
        play(store, range(1), MESSAGES)
        store._connection.set_progress_handler(count, 1)
        play(store, range(1, 2), MESSAGES)
        store._connection.set_progress_handler(None, 1)
    return counted


def _after_steps(store: RunStore, steps: int, then: "object") -> None:
    passed = 0

    def count() -> None:
        nonlocal passed
        passed += 1
        if passed == steps:
            then()  # type: ignore[operator]

    store._connection.set_progress_handler(count, 1)


def test_a_writer_that_reads_its_own_run_loses_nothing_to_another_reader(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    process = start_writing(folder, 100_000, "and reads")
    seen = []
    until = time.monotonic() + 2.0
    while time.monotonic() < until:
        seen.append(Run(folder).day or 0)  # the last reader to leave must not clear the log away
        assert (folder / "run.db-shm").exists()
    said = kill(process)
    assert seen == sorted(seen) and seen[-1] > 5
    assert said and Run(folder).day in (said[-1], said[-1] + 1)
    assert Run(folder).verify()

"""The list of runs in a folder."""

from pathlib import Path

from services.runs import RunStore, list_runs
from tests.services.runs.samples import manifest, play, result, written


def test_runs_are_listed_with_their_state_seed_days_and_result(tmp_path: Path) -> None:
    written(tmp_path / "stopped", days=2)
    with RunStore.create(tmp_path / "done", manifest()) as store:
        play(store, range(5))
        store.finish(result())
    with RunStore.create(tmp_path / "going", manifest()) as store:
        play(store, range(1))
        found = {Path(run.folder).name: run for run in list_runs(tmp_path)}
    assert {name: (run.state, run.day) for name, run in found.items()} == {
        "stopped": ("resumable", 1),
        "done": ("finished", 4),
        "going": ("running", 0),
    }
    assert (found["done"].name, found["done"].seed, found["done"].days) == ("coffee", 7, 5)
    assert found["done"].result is not None and found["done"].result.messages == 20
    assert found["stopped"].result is None


def test_a_damaged_run_is_listed_last_with_the_reason(tmp_path: Path) -> None:
    (written(tmp_path / "a") / "run.db").write_bytes(b"nonsense" * 100)
    written(tmp_path / "b")
    good, bad = list_runs(tmp_path)
    assert (good.state, bad.state) == ("resumable", "damaged")
    assert bad.error is not None and "run.db: damaged" in bad.error


def test_other_files_and_folders_are_no_runs(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "file.txt").write_text("mine")
    assert list_runs(tmp_path) == []
    assert list_runs(tmp_path / "nowhere") == []

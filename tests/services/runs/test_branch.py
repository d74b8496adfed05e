"""A branch starts from a day of a run and shares nothing with it."""

import hashlib
from pathlib import Path

import pytest

from services.errors import HanseError
from services.runs import Run, RunStore, branch
from tests.services.runs.samples import manifest, play, rows_of, written


def digest_of(folder: Path) -> str:
    return hashlib.sha256((folder / "run.db").read_bytes()).hexdigest()


def test_a_branch_has_the_run_up_to_its_day_and_names_its_parent(tmp_path: Path) -> None:
    original = Run(written(tmp_path / "run", days=5, messages=150))
    found = Run(branch(original.folder, 2, tmp_path / "branch"))
    assert found.marks() == original.marks()[:3]
    assert found.verify()
    for table, rows in rows_of(2, messages=150).items():
        assert list(found.rows(table))[-len(rows) :] == sorted(rows, key=lambda row: row[:4])
        assert found.count(table) == 3 * len(rows)
    assert found.checkpoint() == original.checkpoint(2)
    assert found.state == "resumable"
    assert found.manifest.parent is not None
    assert found.manifest.parent.model_dump() == {"run": original.manifest.id, "day": 2}
    assert found.manifest.id != original.manifest.id
    assert found.manifest.config == original.manifest.config


def test_a_branch_that_does_the_same_ends_the_same(tmp_path: Path) -> None:
    original = Run(written(tmp_path / "run", days=5))
    with RunStore.open(branch(original.folder, 1, tmp_path / "branch")) as store:
        play(store, range(2, 5))
    assert Run(tmp_path / "branch").marks() == original.marks()


def test_two_branches_share_nothing(tmp_path: Path) -> None:
    original = written(tmp_path / "run", days=3)
    before = digest_of(original)
    one, two = (branch(original, 1, tmp_path / name) for name in ("one", "two"))
    with RunStore.open(one) as first, RunStore.open(two) as second:
        play(first, range(2, 3), messages=4)
        play(second, range(2, 3), messages=8)
    assert Run(one).count("messages") == 12
    assert Run(two).count("messages") == 16
    assert Run(one).verify() and Run(two).verify()
    assert digest_of(original) == before


def test_answers_in_the_journal_are_kept_up_to_the_day(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        store.journal([(1439, 0, "farmer_A", "human", '{"a": 1}')])
        store.journal([(1440, 0, "farmer_A", "human", '{"a": 2}')])
        play(store, range(2))
    with RunStore.open(branch(tmp_path / "run", 0, tmp_path / "branch")) as store:
        assert store.journal_since(0) == [(1439, 0, "farmer_A", "human", '{"a": 1}')]


def test_a_run_can_be_left_while_it_is_written(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", manifest()) as store:
        play(store, range(3))
        branch(tmp_path / "run", 1, tmp_path / "branch")
        play(store, range(3, 4))
    assert Run(tmp_path / "branch").marks() == Run(tmp_path / "run").marks()[:2]


def test_a_branch_can_be_branched(tmp_path: Path) -> None:
    first = branch(written(tmp_path / "run", days=4), 2, tmp_path / "first")
    second = Run(branch(first, 0, tmp_path / "second"))
    assert second.manifest.parent is not None
    assert second.manifest.parent.run == Run(first).manifest.id
    assert second.verify()


def test_a_day_without_a_checkpoint_is_refused_with_the_days_there_are(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", days=3)
    with pytest.raises(HanseError) as refusal:
        branch(folder, 3, tmp_path / "branch")
    assert str(refusal.value) == (
        f"{folder}: there is no checkpoint of day 3; it has those of days 0 to 2"
    )
    assert not (tmp_path / "branch").exists()


def test_an_existing_run_is_never_branched_into(tmp_path: Path) -> None:
    one, two = written(tmp_path / "one"), written(tmp_path / "two")
    before = digest_of(two)
    with pytest.raises(HanseError, match="holds a run already"):
        branch(one, 1, two)
    assert digest_of(two) == before

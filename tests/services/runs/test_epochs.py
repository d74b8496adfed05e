"""Each beginning of a run's play has a number, and a token that no copy of the run has."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from services.errors import HanseError
from services.runs import RunStore
from services.runs.epochs import RunEpoch
from tests.services.runs.samples import manifest


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    RunStore.create(folder, manifest()).close()
    return folder


def next_epoch(folder: Path) -> RunEpoch:
    with RunStore.open(folder) as store:
        begun = store.next_epoch()
        assert store.epoch == begun
    return begun


def facts(folder: Path, statement: str, *values: str) -> None:
    with closing(sqlite3.connect(folder / "run.db")) as connection, connection:
        connection.execute(statement, values)


def test_the_first_epoch_of_a_run_has_no_token(run: Path) -> None:
    with RunStore.open(run) as store:
        assert store.epoch == (0, "", (), True)


def test_each_epoch_draws_a_token_and_knows_those_that_have_ended(run: Path) -> None:
    first, second = next_epoch(run), next_epoch(run)
    assert (first.number, second.number) == (1, 2)
    assert second.ended == ("", first.token)
    assert len({"", first.token, second.token}) == 3


def test_a_copy_has_not_begun_and_claims_no_token_of_the_original(
    run: Path, tmp_path: Path
) -> None:
    original = next_epoch(run)
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    with RunStore.open(copy) as store:
        assert store.epoch == (1, original.token, (), False)
    begun, other = next_epoch(copy), next_epoch(run)
    assert begun.number == other.number
    assert begun.token != other.token
    assert (begun.here, begun.ended) == (True, ())


def test_a_folder_that_is_moved_is_the_same_run(run: Path, tmp_path: Path) -> None:
    begun = next_epoch(run)
    run.rename(tmp_path / "moved")
    with RunStore.open(tmp_path / "moved") as store:
        assert store.epoch == begun


def test_a_run_without_tokens_goes_on(run: Path) -> None:
    facts(run, "DELETE FROM facts WHERE key = 'epoch_tokens'")
    facts(run, "INSERT OR REPLACE INTO facts VALUES ('epoch', '4')")
    with RunStore.open(run) as store:
        assert store.epoch == (4, "", (), True)
    assert next_epoch(run).ended == ("",)


@pytest.mark.parametrize("known", [[], {"tokens": []}, {"tokens": [1]}, {"tokens": "a"}])
def test_tokens_of_another_shape_are_damage(run: Path, known: object) -> None:
    facts(run, "UPDATE facts SET value = ? WHERE key = 'epoch_tokens'", json.dumps(known))
    with (
        pytest.raises(HanseError, match=r"run\.db: damaged .*epoch_tokens"),
        RunStore.open(run) as store,
    ):
        store.next_epoch()

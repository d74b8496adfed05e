"""Folders that may not be written: said in one line; a run in one can still be read."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services.errors import HanseError
from services.runs import Run, RunStore
from tests.services.runs.samples import manifest, written

NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user may enter (pytest's own are private)."""
    made = Path(tempfile.mkdtemp(prefix="hanse-"))
    made.chmod(0o755)
    yield made
    for path in (made, *made.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(made)


def as_ordinary_user(action: Callable[[], object]) -> str:
    """What an action says, done by a user whom permissions bind (root is bound by none)."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            answer = str(action())
        except HanseError as error:
            answer = f"HanseError: {error}"
        except BaseException as error:
            answer = repr(error)
        os.write(write, answer.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        answer = answers.read().decode()
    os.waitpid(child, 0)
    return answer


def test_a_run_cannot_be_made_where_nothing_may_be_written(folder: Path) -> None:
    folder.chmod(0o555)
    answer = as_ordinary_user(lambda: RunStore.create(folder / "run", manifest()))
    assert answer == (
        f"HanseError: {folder / 'run'}: cannot be written (Permission denied); choose another"
        " folder, or mend this one"
    )
    assert list(folder.iterdir()) == []


def test_a_run_cannot_be_made_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(HanseError, match="cannot be written"):
        RunStore.create(tmp_path / "file" / "run", manifest())
    assert (tmp_path / "file").read_text() == "mine"


def test_a_run_in_a_folder_that_may_not_be_written_is_read_but_not_continued(folder: Path) -> None:
    run = written(folder / "run")
    (run / "run.db").chmod(0o444)
    run.chmod(0o555)
    assert as_ordinary_user(lambda: (Run(run).state, Run(run).verify())) == "('resumable', True)"
    answer = as_ordinary_user(lambda: RunStore.open(run))
    assert answer.startswith(f"HanseError: {run / 'run.db'}: cannot be written (")
    assert "mend the folder's permissions" in answer
    run.chmod(0o755)
    assert Run(run).day == 2


def test_a_run_that_may_not_be_read_says_so(folder: Path) -> None:
    run = written(folder / "run")
    (run / "run.db").chmod(0o000)
    answer = as_ordinary_user(lambda: Run(run))
    assert answer == (
        f"HanseError: {run / 'run.db'}: cannot be read (Permission denied); mend the folder's"
        " permissions"
    )

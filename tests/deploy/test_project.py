"""Which of a user's files go to the hosts."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.cluster.project import project_files, relative_paths
from services.errors import HanseError


def make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x" * 10)


def test_strategies_and_their_neighbours_go(tmp_path: Path) -> None:
    make(tmp_path, "patient.py", "deep/er/table.csv")
    found = [str(file.relative_to(tmp_path)) for file in project_files(tmp_path)]
    assert found == ["patient.py", "deep/er/table.csv"]


def test_runs_hidden_files_caches_and_environments_stay(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "runs/r/run.db", ".git/x", ".env", "__pycache__/a.pyc")
    make(tmp_path, "env/pyvenv.cfg", "env/lib/x.py")
    assert [file.name for file in project_files(tmp_path)] == ["a.py"]


def test_a_folder_that_is_no_project_is_refused(tmp_path: Path) -> None:
    make(tmp_path, "one", "two", "three")
    with pytest.raises(HanseError, match="more than 0 MB"):
        project_files(tmp_path, most=25)


def test_files_are_named_relative_to_the_project(tmp_path: Path) -> None:
    values = {
        "firms": [{"strategy": f"{tmp_path}/deep/patient.py:Patient"}, {"strategy": "scripted"}],
        "generate": {"strategy": f"policy:{tmp_path}/trained"},
        "injections": [{"kind": "my_module:Mine"}],
    }
    changed, own = relative_paths(values, tmp_path)
    assert own
    assert changed["firms"] == [{"strategy": "deep/patient.py:Patient"}, {"strategy": "scripted"}]
    assert changed["generate"] == {"strategy": "policy:trained"}
    assert changed["injections"] == [{"kind": "my_module:Mine"}]


def test_a_league_of_what_comes_with_hanse_needs_no_files(tmp_path: Path) -> None:
    assert not relative_paths({"firms": [{"strategy": "scripted"}], "generate": None}, tmp_path)[1]


def test_a_file_outside_of_the_project_is_refused(tmp_path: Path) -> None:
    values = {"firms": [{"strategy": "/elsewhere/patient.py:Patient"}]}
    with pytest.raises(HanseError, match=r"/elsewhere/patient\.py:Patient: lies outside"):
        relative_paths(values, tmp_path)

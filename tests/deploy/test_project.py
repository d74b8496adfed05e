"""Which of a user's files go to the hosts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.cluster.project import named_files, project_files, relative_paths
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


def test_the_policy_of_a_controller_is_one_of_the_users_files(tmp_path: Path) -> None:
    values = {"controllers": [{"policy": f"policy:{tmp_path}/buyer"}, {"policy": None}]}
    changed, own = relative_paths(values, tmp_path)
    assert own
    assert changed["controllers"] == [{"policy": "policy:buyer"}, {"policy": None}]
    assert named_files(changed) == ["buyer"]


def test_what_a_run_names_goes_wherever_it_is(tmp_path: Path) -> None:
    make(tmp_path, "trainings/x/manifest.json", "trainings/y/manifest.json", "build/mine.py")
    values = {
        "firms": [{"strategy": "policy:trainings/x"}, {"strategy": "policy:trainings/x"}],
        "injections": [{"kind": "build/mine.py:Mine"}, {"kind": "my_module:Mine"}],
    }
    names = named_files(values)
    assert names == ["trainings/x", "build/mine.py"]
    found = [str(file.relative_to(tmp_path)) for file in project_files(tmp_path, names)]
    assert found == ["trainings/x/manifest.json", "build/mine.py"]


def test_a_link_in_the_project_may_lead_out_of_it(tmp_path: Path) -> None:
    make(tmp_path, "theirs.py", "project/mine.py")
    (tmp_path / "project/linked.py").symlink_to("../theirs.py")
    values = {"firms": [{"strategy": "linked.py:Firm"}]}
    changed, _ = relative_paths(values, tmp_path / "project")
    assert changed == values
    names = [file.name for file in project_files(tmp_path / "project")]
    assert names == ["linked.py", "mine.py"]


def test_a_name_that_is_no_text_is_refused_in_a_line(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.py")).touch()
    with pytest.raises(HanseError, match="is not UTF-8"):
        project_files(tmp_path)

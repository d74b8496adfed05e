"""What is wrong with a run folder is said in one line, and nothing is lost by saying it."""

import hashlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from services.cli.main import run_command
from services.errors import HanseError
from services.runs import Manifest, Run, RunStore, branch, config_sha256, export
from tests.services.runs.samples import CONFIG, manifest, play, written

READERS: list[Callable[[Path], object]] = [
    Run,
    RunStore.open,
    lambda folder: branch(folder, 1, folder.parent / "branch"),
    lambda folder: export(folder, folder.parent / "out", "csv"),
]


def contents(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.glob("[mr]*[nb]")
    }


def refusal_of(action: Callable[[], object]) -> str:
    with pytest.raises(HanseError) as refusal:
        action()
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def refused_by_all(folder: Path) -> str:
    """The line that every way of opening a folder gives; the folder is untouched by all."""
    before = contents(folder)
    lines = {refusal_of(lambda read=read: read(folder)) for read in READERS}  # type: ignore[misc]
    assert contents(folder) == before
    assert not (folder.parent / "branch").exists()
    assert not (folder.parent / "out").exists()
    [line] = lines
    return line


def change_manifest(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_folder_that_holds_a_run_is_not_overwritten(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    before = contents(folder)
    assert refusal_of(lambda: RunStore.create(folder, manifest())) == (
        f"{folder}: holds a run already; choose another folder, or continue that run with:"
        f" hanse resume {folder}"
    )
    assert contents(folder) == before
    assert Run(folder).verify()


def test_a_folder_with_anything_else_in_it_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert refusal_of(lambda: RunStore.create(tmp_path, manifest())) == (
        f"{tmp_path}: the folder is not empty; choose another one"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    assert refusal_of(lambda: RunStore.create(tmp_path / "notes.txt", manifest())) == (
        f"{tmp_path / 'notes.txt'}: is a file; choose another folder"
    )


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    folder = tmp_path / "nowhere"
    assert refused_by_all(folder) == (
        f"{folder}: there is no such folder; list the runs with: hanse runs"
    )
    assert not folder.exists()


def test_a_folder_that_is_not_a_run_folder(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    assert refused_by_all(folder) == (
        f"{folder}: not a run folder (it has no manifest.json); list the runs with: hanse runs"
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not JSON (Expecting property name"),
        ("[]", "not a JSON object"),
        ('{"format": 2}', "id: Field required"),
    ],
)
def test_a_damaged_manifest(tmp_path: Path, text: str, complaint: str) -> None:
    folder = written(tmp_path / "run")
    (folder / "manifest.json").write_text(text)
    line = refused_by_all(folder)
    assert line.startswith(f"{folder / 'manifest.json'}: {complaint}")
    assert line.endswith("restore the file from a copy")


def test_a_value_in_the_manifest_that_is_wrong_is_named_by_its_key(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    change_manifest(folder, seed="seven")
    assert refused_by_all(folder).startswith(
        f"{folder / 'manifest.json'}: seed: Input should be a valid integer"
    )


def test_a_run_folder_of_a_newer_format(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    change_manifest(folder, format=3, something="new")
    assert refused_by_all(folder) == (
        f"{folder / 'manifest.json'}: format 3 was written by a newer Hanse (this one reads format"
        " 2); upgrade with: pip install --upgrade hanse"
    )


def test_a_run_folder_of_an_older_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path / "run")
    change_manifest(folder, format=1, something="old")
    sentence = (
        f"{folder / 'manifest.json'}: format 1 was written by an older Hanse (this one reads format"
        " 2); run it anew with: hanse run (same configuration and seed, same run)"
    )
    assert refused_by_all(folder) == sentence
    for command in (["report"], ["resume"], ["branch", "--day", "1"], ["export", "--to", "csv"]):
        assert run_command([command[0], str(folder), *command[1:]]) == 2
        told = capsys.readouterr()
        assert (told.out, told.err) == ("", f"hanse: {sentence}\n")


def test_a_database_of_an_older_format(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    with sqlite3.connect(folder / "run.db") as connection:
        connection.execute("UPDATE facts SET value = '1' WHERE key = 'format'")
    connection.close()
    assert refused_by_all(folder).startswith(
        f"{folder / 'run.db'}: format 1 was written by an older"
    )


def test_a_database_of_a_newer_format(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    with sqlite3.connect(folder / "run.db") as connection:
        connection.execute("UPDATE facts SET value = '3' WHERE key = 'format'")
    connection.close()
    assert refused_by_all(folder).startswith(
        f"{folder / 'run.db'}: format 3 was written by a newer"
    )


def test_a_database_that_is_missing(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    (folder / "run.db").unlink()
    assert refused_by_all(folder).startswith(f"{folder / 'run.db'}: missing; restore the folder")
    assert not (folder / "run.db").exists()


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    (folder / "run.db").write_bytes(b"This is a letter, not a database. " * 1000)
    assert refused_by_all(folder) == (
        f"{folder / 'run.db'}: damaged (not an SQLite file); restore the folder from a copy, or run"
        " its configuration again: same seed, same run"
    )


def test_a_database_of_something_else(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    (folder / "run.db").unlink()
    with sqlite3.connect(folder / "run.db") as connection:
        connection.execute("CREATE TABLE songs (title)")
    connection.close()
    assert "run.db: not a run's database (no such table: facts)" in refused_by_all(folder)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 0.9999])
def test_a_truncated_database(tmp_path: Path, share: float) -> None:
    folder = written(tmp_path / "run", days=20, messages=50)
    path = folder / "run.db"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    assert f"{path}: truncated (" in refused_by_all(folder)
    path.write_bytes(whole)
    assert Run(folder).verify()


def test_a_database_with_a_damaged_page_is_not_continued(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", days=20, messages=50)
    path = folder / "run.db"
    whole = path.read_bytes()
    middle = len(whole) // 2 // 8192 * 8192
    path.write_bytes(whole[:middle] + b"\x99" * 8192 + whole[middle + 8192 :])
    before = contents(folder)
    for action in (lambda: RunStore.open(folder), lambda: Run(folder).verify()):
        assert refusal_of(action).startswith(f"{path}: damaged (")
    assert contents(folder) == before


def test_a_damaged_checkpoint_names_the_day_before_it(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    with sqlite3.connect(folder / "run.db") as connection:
        connection.execute("UPDATE checkpoints SET state = x'00ff' WHERE day = 2")
    connection.close()
    for action in (
        lambda: Run(folder).checkpoint(),
        lambda: branch(folder, 2, tmp_path / "branch"),
    ):
        line = refusal_of(action)
        assert line.startswith(f"{folder}: the checkpoint of day 2 is damaged (")
        assert line.endswith(f"hanse branch {folder} --day 1")
    assert Run(branch(folder, 1, tmp_path / "branch")).verify()


def test_a_manifest_beside_the_checkpoints_of_another_configuration(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    right = (folder / "manifest.json").read_text()
    change_manifest(folder, config={**CONFIG, "seed": 8})
    assert refused_by_all(folder) == (
        f"{folder / 'run.db'}: its checkpoints belong to another configuration than the"
        " manifest.json beside it; put back the two files that belong together"
    )
    (folder / "manifest.json").write_text(right)
    assert Run(folder).verify()


def test_a_run_is_not_continued_with_another_configuration(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    other = config_sha256({**CONFIG, "seed": 8})
    assert refusal_of(lambda: RunStore.open(folder, config_sha256=other)) == (
        f"{folder}: its checkpoints belong to another configuration; resume without one, or start"
        " a new run in another folder"
    )
    with RunStore.open(folder, config_sha256=config_sha256(CONFIG)) as store:
        play(store, range(3, 4))


def test_where_the_agents_live_is_no_other_configuration() -> None:
    elsewhere = {**CONFIG, "placement": "packed", "hosts": 2}
    assert config_sha256(elsewhere) == config_sha256(CONFIG) == manifest().config_sha256
    assert Manifest.model_validate_json(manifest().model_dump_json()).config_sha256 == (
        config_sha256(CONFIG)
    )


def test_a_database_that_another_program_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.runs.database._BUSY_SECONDS", 0.05)
    with RunStore.create(tmp_path / "run", manifest()) as store:
        play(store, range(1))
        other = sqlite3.connect(tmp_path / "run" / "run.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        line = refusal_of(lambda: play(store, range(1, 2)))
        assert line == (
            f"{tmp_path / 'run' / 'run.db'}: another program keeps it locked; close that program,"
            f" then continue with: hanse resume {tmp_path / 'run'}"
        )
        other.close()
        store.end_day(1, b"")  # the rows were kept
    assert Run(tmp_path / "run").count("messages") == 8

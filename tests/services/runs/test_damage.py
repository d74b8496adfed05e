"""A run folder whose parts can be opened but make no sense: one line, never a traceback."""

import json
import random
import re
import resource
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import pytest
import zstandard

from actors.league import League
from services.config import standard
from services.errors import HanseError
from services.runs import Run, RunStore, branch, export, list_runs, unpack_state
from services.runs.report_data import collect
from services.runs.troubles import troubles
from tests.services.runs.report_runs import small_run
from tests.services.runs.samples import manifest, play, written
from tests.services.runs.test_bad_input import refusal_of, refused_by_all

AGENT = {"state": b"\xc0", "number": 3, "entries": 4, "wakes": [1440]}
LEAGUE = {"agents": {"exchange": AGENT}, "counters": {"agent_errors": 0}, "seconds": 1.5}


def change(folder: Path, statement: str, *values: Any) -> None:
    with sqlite3.connect(folder / "run.db") as connection:
        connection.execute(statement, values)
    connection.close()


@pytest.mark.parametrize("key", ["pid", "state", "result", "format"])
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "is of another shape"),
        ("1.5", "is of another shape"),
    ],
    ids=["half", "deep", "list", "number"],
)
def test_a_fact_that_makes_no_sense(tmp_path: Path, key: str, text: str, complaint: str) -> None:
    folder = written(tmp_path / "run")
    change(folder, "UPDATE facts SET value = ? WHERE key = ?", text, key)
    sentence = (
        f"{folder / 'run.db'}: damaged (its fact {key!r} {complaint}); restore the folder from a"
        " copy, or run its configuration again: same seed, same run"
    )
    assert refused_by_all(folder) == sentence
    [listed] = list_runs(tmp_path)
    assert (listed.state, listed.error) == ("damaged", sentence)


@pytest.mark.parametrize(
    "holder",
    [
        {"pid": 1},
        {"pid": "1", "started": "", "token": ""},
        {"pid": 10**30, "started": "", "token": ""},
        {"pid": 0, "started": "", "token": ""},
    ],
)
def test_a_writer_that_is_none(tmp_path: Path, holder: dict[str, Any]) -> None:
    folder = written(tmp_path / "run")
    change(folder, "UPDATE facts SET value = ? WHERE key = 'pid'", json.dumps(holder))
    for action in (lambda: Run(folder).state, lambda: RunStore.open(folder)):
        assert "damaged (its fact 'pid' is of another shape)" in refusal_of(action)


@pytest.mark.parametrize("column", ["events", "ledger"])
def test_a_number_of_rows_that_is_none(tmp_path: Path, column: str) -> None:
    folder = written(tmp_path / "run")
    change(folder, f"UPDATE checkpoints SET {column} = x'ff' WHERE day = 2")
    for action in (lambda: Run(folder).verify(), lambda: RunStore.open(folder)):
        assert f"{folder / 'run.db'}: damaged (" in refusal_of(action)


@pytest.mark.parametrize("column", ["log_sha256", "messages"])
def test_a_mark_that_is_none(tmp_path: Path, column: str) -> None:
    folder = written(tmp_path / "run")
    change(folder, f"UPDATE checkpoints SET {column} = x'ff' WHERE day = 2")
    for action in (lambda: Run(folder).day, lambda: Run(folder).marks()):
        assert f"{folder / 'run.db'}: damaged (the digests of day 2" in refusal_of(action)
    assert "the checkpoint of day 2 is damaged" in refusal_of(lambda: Run(folder).checkpoint())


def test_a_state_that_a_league_saved_is_given_back(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    packed = zstandard.compress(msgpack.packb(LEAGUE))
    change(folder, "UPDATE checkpoints SET state = ? WHERE day = 2", packed)
    checkpoint = Run(folder).checkpoint()
    assert checkpoint is not None
    assert unpack_state(checkpoint, folder) == LEAGUE


@pytest.mark.parametrize(
    "state",
    [
        b"",
        b"junk that is much longer than one number",
        b"\x91" * 5000,
        msgpack.packb([1, 2]),
        msgpack.packb({"agents": {}}),
        msgpack.packb({**LEAGUE, "agents": [AGENT]}),
        msgpack.packb({**LEAGUE, "agents": {"exchange": {**AGENT, "state": "text"}}}),
        msgpack.packb({**LEAGUE, "agents": {"exchange": {"state": b""}}}),
        msgpack.packb({**LEAGUE, "counters": {"agent_errors": "many"}}),
    ],
)
def test_a_checkpoint_that_holds_something_else(tmp_path: Path, state: bytes) -> None:
    folder = written(tmp_path / "run")
    change(folder, "UPDATE checkpoints SET state = ? WHERE day = 2", zstandard.compress(state))
    checkpoint = Run(folder).checkpoint()
    assert checkpoint is not None
    line = refusal_of(lambda: unpack_state(checkpoint, folder))
    assert line.startswith(f"{folder}: the checkpoint of day 2 is damaged (")
    assert line.endswith(f"hanse branch {folder} --day 1")
    target = tmp_path / "branch"
    assert line == refusal_of(lambda: branch(folder, 2, target, refit=lambda saved: saved))
    assert not target.exists()


def test_an_agents_own_state_that_a_branch_cannot_change(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    packed = zstandard.compress(msgpack.packb(LEAGUE))
    change(folder, "UPDATE checkpoints SET state = ? WHERE day = 0", packed)

    def refit(state: bytes) -> bytes:
        raise KeyError("observing")

    assert refusal_of(lambda: branch(folder, 0, tmp_path / "branch", refit=refit)) == (
        f"{folder}: the checkpoint of day 0 is damaged (an agent cannot load what it saved:"
        " KeyError: 'observing'); run its configuration again: same seed, same run"
    )


def test_a_checkpoint_of_text(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    change(folder, "UPDATE checkpoints SET state = 'text' WHERE day = 2")
    assert "the checkpoint of day 2 is damaged (" in refusal_of(lambda: Run(folder).checkpoint())


PACKED = zstandard.compress(msgpack.packb(LEAGUE))
# A frame's head: its magic number, the flags (one segment, a size of eight bytes), the size.
HUGE = PACKED[:4] + b"\xe0" + (2**45).to_bytes(8, "little") + PACKED[6:]
LONG_AGO = PACKED[:4] + b"\x00\xff" + PACKED[6:]  # it claims to look back 3.75 TB


@pytest.mark.parametrize(
    "state",
    [
        b"",
        b"junk",
        PACKED[:3],
        PACKED[:9],
        PACKED[:-1],
        PACKED + b"\0",
        PACKED + PACKED,
        HUGE,
        LONG_AGO,
        zlib.compress(msgpack.packb(LEAGUE)),
    ],
    ids=["none", "junk", "3", "9", "all but 1", "1 more", "twice", "huge", "long ago", "zlib"],
)
def test_a_state_that_cannot_be_unpacked(tmp_path: Path, state: bytes) -> None:
    folder = written(tmp_path / "run")
    change(folder, "UPDATE checkpoints SET state = ? WHERE day = 2", state)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for action in (lambda: Run(folder).checkpoint(), lambda: branch(folder, 2, tmp_path / "to")):
        line = refusal_of(action)
        assert line.startswith(f"{folder}: the checkpoint of day 2 is damaged (")
        assert line.endswith(
            f"go on from an earlier day, for example with: hanse branch {folder} --day 1"
        )
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 100_000  # kilobytes


def test_a_byte_of_a_state_that_was_changed(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    [(state,)] = sqlite3.connect(folder / "run.db").execute(
        "SELECT state FROM checkpoints WHERE day = 2"
    )
    for place in range(len(state)):
        broken = bytes([*state[:place], state[place] ^ 1, *state[place + 1 :]])
        change(folder, "UPDATE checkpoints SET state = ? WHERE day = 2", broken)
        assert "the checkpoint of day 2 is damaged (" in refusal_of(
            lambda: Run(folder).checkpoint()
        )


def test_a_large_state_comes_back_as_it_was(tmp_path: Path) -> None:
    state = random.Random(1).randbytes(3_000_000) + bytes(30_000_000)
    with RunStore.create(tmp_path / "run", manifest()) as store:
        store.end_day(0, state)
    found = Run(tmp_path / "run").checkpoint()
    assert found is not None and found.state == state


@pytest.mark.parametrize("day", [10**20, -(10**20), 2**63])
def test_a_day_that_no_run_has(tmp_path: Path, day: int) -> None:
    folder = written(tmp_path / "run")
    line = refusal_of(lambda: branch(folder, day, tmp_path / "branch"))
    assert line == f"{folder}: there is no checkpoint of day {day}; it has those of days 0 to 2"


def test_a_run_that_has_lost_its_checkpoints_is_played_again(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    digest = Run(folder).log_sha256
    change(folder, "DELETE FROM checkpoints")
    with RunStore.open(folder) as store:
        play(store, range(3))
    assert Run(folder).log_sha256 == digest
    assert Run(folder).verify()


@pytest.mark.parametrize("body", ["{", "[]", "null", b"\xff\x00"])
def test_an_answer_in_the_journal_that_is_none(tmp_path: Path, body: str | bytes) -> None:
    folder = written(tmp_path / "run")
    change(folder, "INSERT INTO journal VALUES (4320, 0, 'farmer_A', 'human', ?)", body)
    with RunStore.open(folder) as store:
        line = refusal_of(lambda: store.journal_since(0))
    assert line.startswith(f"{folder / 'run.db'}: damaged (journal: a body is not a JSON object);")


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, '{"name": "\\ud800"}'],
    ids=["lists", "tables", "half a character"],
)
def test_a_manifest_that_cannot_be_taken_in(tmp_path: Path, text: str) -> None:
    folder = written(tmp_path / "run")
    (folder / "manifest.json").write_text(text)
    line = refused_by_all(folder)
    assert line.startswith(f"{folder / 'manifest.json'}: not JSON (")
    assert line.endswith("restore the file from a copy")


def test_a_folder_of_an_impossible_name() -> None:
    assert "cannot be opened (File name too long)" in refusal_of(lambda: Run("x" * 5000))


def test_whatever_is_wrong_with_one_run_the_others_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "bad")
    written(tmp_path / "good")
    real = Run.__init__

    def failing(self: Run, folder: Path) -> None:
        real(self, folder)
        if folder.name == "bad":
            raise ZeroDivisionError("a thing\nthat nobody thought of")

    monkeypatch.setattr(Run, "__init__", failing)
    good, bad = list_runs(tmp_path)
    assert (good.state, bad.state) == ("resumable", "damaged")
    assert bad.error == f"{tmp_path / 'bad'}: ZeroDivisionError: a thing that nobody thought of"


READERS: list[Callable[[Path], object]] = [
    lambda folder: Run(folder).metrics(),
    lambda folder: export(folder, folder.parent / "out", "csv"),
]


@pytest.mark.parametrize("body", ["{", "[]", "nul", b"\xff\x00"])
@pytest.mark.parametrize("read", READERS, ids=["frame", "export"])
def test_figures_that_are_none(
    tmp_path: Path, read: Callable[[Path], object], body: str | bytes
) -> None:
    pytest.importorskip("pandas")
    folder = written(tmp_path / "run")
    change(folder, "UPDATE metrics SET body = ? WHERE day = 1", body)
    line = refusal_of(lambda: read(folder))
    assert line.startswith(f"{folder / 'run.db'}: damaged (metrics: a body is not a JSON object);")
    assert not list((tmp_path / "out").glob("*"))


def test_events_that_are_none_are_named_by_a_frame(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    folder = written(tmp_path / "run")
    change(folder, "UPDATE events SET body = '{' WHERE minute >= 1440")
    assert "events: a body is not a JSON object" in refusal_of(lambda: Run(folder).actions())
    assert troubles(Run(folder)) == []


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("body", ["{", "[]", "null", '{"day": "x", "role": 5}', b"\xff\x00"])
def test_a_report_leaves_out_what_it_cannot_read_and_says_so(
    tmp_path: Path, body: str | bytes, finished: bool
) -> None:
    folder = small_run(tmp_path / "run", finished=finished)
    before = collect(Run(folder), folder)
    assert not before["notes"]
    change(folder, "UPDATE events SET body = ? WHERE kind IN ('deal', 'action')", body)
    change(folder, "UPDATE metrics SET body = ? WHERE day >= 1", body)
    count = sum(
        Run(folder).count(table, where)
        for table, where in (("events", "kind IN ('deal', 'action')"), ("metrics", "day >= 1"))
    )
    after = collect(Run(folder), folder)
    assert after["notes"] == [
        f"The run's database is damaged: {count} of its events, letters and figures cannot be read"
        " and are left out."
    ]
    assert after["commands"] == []
    assert after["incidents"]["counts"]["lost"] == before["incidents"]["counts"]["lost"]


def test_a_letter_that_cannot_be_read_is_left_out_too(tmp_path: Path) -> None:
    folder = small_run(tmp_path / "run")
    change(folder, "UPDATE messages SET body = '{' WHERE type = 'letter'")
    page = collect(Run(folder), folder)
    assert page["messages"]["letters"] == []
    assert re.match(r"The run's database is damaged: 1 of its events, letters", page["notes"][0])


def dead_process() -> int:
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize("inside", [True, False])
def test_what_a_dead_process_left_of_a_folder_is_cleared_away(tmp_path: Path, inside: bool) -> None:
    target = tmp_path / "run"
    place = target if inside else tmp_path
    left = place / f".run.{dead_process()}"
    left.mkdir(parents=True)
    (left / "run.db").write_bytes(b"half a database")
    assert Run(written(target)).verify()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert sorted(path.name for path in target.iterdir()) == ["manifest.json", "run.db"]


def test_so_is_a_database_whose_manifest_was_still_to_come(tmp_path: Path) -> None:
    target = tmp_path / "run"
    (target / f".run.{dead_process()}").mkdir(parents=True)
    (target / "run.db").write_bytes(b"a database")
    assert Run(written(target)).verify()


def test_what_a_living_process_is_making_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "run"
    making = target / ".run.1"
    making.mkdir(parents=True)
    with pytest.raises(HanseError, match="the folder is not empty"):
        written(target)
    assert making.is_dir()


def test_nor_is_anything_else_touched(tmp_path: Path) -> None:
    target = tmp_path / "run"
    for name in (".run.notes", ".other.999999999", "run.999999999"):
        (target / name).mkdir(parents=True)
    with pytest.raises(HanseError, match="the folder is not empty"):
        written(target)
    assert len(list(target.iterdir())) == 3


@pytest.mark.parametrize("saved", [b"\x01", b"\xc1", b"", b"\x80"])
def test_a_league_does_not_go_on_from_an_exchange_that_is_junk(
    tmp_path: Path, saved: bytes
) -> None:
    folder = tmp_path / "run"
    run = standard().with_overrides(days=3, placement="inline")
    with League.create(run, folder) as league:
        league.run(until_day=1)
    checkpoint = Run(folder).checkpoint()
    assert checkpoint is not None
    state = unpack_state(checkpoint, folder)
    state["agents"]["exchange"]["state"] = saved
    packed = zstandard.compress(msgpack.packb(state))
    change(folder, "UPDATE checkpoints SET state = ? WHERE day = 1", packed)
    line = refusal_of(lambda: League.resume(folder))
    assert f"{folder}: the checkpoint of day 1 is damaged (an agent cannot load what it sav" in line
    assert line.endswith(f"hanse branch {folder} --day 0")
    assert Run(folder).state == "resumable"

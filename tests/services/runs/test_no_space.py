"""A full disk stops a run after its last whole day, and the run goes on once there is space."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from services.errors import HanseError
from services.runs import Run, RunStore
from tests.services.runs.processes import ROOT
from tests.services.runs.samples import manifest, play, state_of, written

DAYS, MESSAGES = 12, 150


def test_a_day_that_does_not_fit_is_written_once_there_is_space(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with RunStore.create(folder, manifest()) as store:
        play(store, range(5), MESSAGES)
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(HanseError) as refusal:
            play(store, range(5, 6), MESSAGES)
        assert str(refusal.value) == (
            f"{folder / 'run.db'}: the disk is full; free some space, then continue with:"
            f" hanse resume {folder}"
        )
        assert (store.day, Run(folder).day, Run(folder).verify()) == (4, 4, True)
        store._connection.execute("PRAGMA max_page_count = 1000000")
        store.end_day(5, state_of(5))  # the rows of the day were kept
    assert Run(folder).marks() == Run(written(tmp_path / "whole", 6, MESSAGES)).marks()


SCRIPT = """
import sys
from pathlib import Path
from services.errors import HanseError
from services.runs import Run, RunStore, branch, export
from tests.services.runs.samples import manifest, play

disk, days, messages = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
ballast = disk / "ballast"
def fill(leave):
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(65536)): pass
        except OSError: pass
        file.truncate(max(0, file.tell() - leave))

fill(0)
try:
    RunStore.create(disk / "run", manifest())
except HanseError as error:
    print("create:", error, (disk / "run").exists())
fill(600_000)
store = RunStore.create(disk / "run", manifest())
try:
    play(store, range(days), messages)
except HanseError as error:
    print("end_day:", error)
day = store.day
store.close()
run = Run(disk / "run")
print("intact:", 0 < day < days, run.day == day, run.state, run.verify())
for what in (lambda: branch(disk / "run", day, disk / "branch"),
             lambda: export(disk / "run", disk / "out", "csv")):
    try:
        what()
    except HanseError as error:
        print("copy:", error)
print("left over:", sorted(path.name for path in disk.rglob("*") if path.parent.name != "run"))
ballast.unlink()
with RunStore.open(disk / "run") as store:
    play(store, range(day + 1, days), messages)
print("digest:", run.log_sha256, run.verify())
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs a small file system of its own")
def test_a_run_on_a_disk_that_really_is_full_continues_after_space_was_made(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    mount = f"mount -t tmpfs -o size=4m none {disk}"
    python = [sys.executable, "-c", SCRIPT, str(disk), str(DAYS), str(MESSAGES)]
    try_mount = ["unshare", *as_root, "--mount", "sh", "-c"]
    if subprocess.run([*try_mount, mount], capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a small file system")
    done = subprocess.run(
        [*try_mount, f'{mount} && exec "$@"', "sh", *python],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == (  # and nothing half made is left
        f"create: {disk / 'run' / 'run.db'}: the disk is full; free some space, then try again"
        " False"
    )
    assert lines[1] == (
        f"end_day: {disk / 'run' / 'run.db'}: the disk is full; free some space, then continue"
        f" with: hanse resume {disk / 'run'}"
    )
    assert lines[2] == "intact: True True resumable True"
    assert lines[3:6] == [
        f"copy: {disk / 'branch' / 'run.db'}: the disk is full; free some space, then try again",
        f"copy: {disk / 'out'}: cannot be written (No space left on device); free some space, mend"
        " its permissions, or choose another folder",
        "left over: ['ballast', 'out', 'run']",
    ]
    whole = Run(written(tmp_path / "whole", DAYS, MESSAGES))
    assert lines[-1] == f"digest: {whole.log_sha256} True"

"""Arguments that no system call takes, and what a killed process left, are answered in a line."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.services.cli.conftest import Command
from tests.services.runs.samples import written


@pytest.mark.parametrize("command", ["resume", "report", "export", "branch"])
def test_a_run_whose_name_is_too_long(hanse: Command, command: str) -> None:
    more: dict[str, list[object]] = {"branch": ["--day", 1], "export": ["--to", "csv"]}
    line = hanse(command, "x" * 5000, *more.get(command, [])).refusal
    assert line == (
        f"hanse: {'x' * 77}...: cannot be opened (File name too long); list the runs with:"
        " hanse runs"
    )


def test_a_day_that_no_run_has(hanse: Command, tmp_path: Path) -> None:
    written(tmp_path / "run")
    line = hanse("branch", "run", "--day", "99999999999999999999", "--no-start").refusal
    assert line.startswith("hanse: run: there is no checkpoint of day 99999999999999999999; it has")


def test_a_sweep_that_has_no_place(hanse: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    line = hanse("sweep", "--seeds", "0-3", "--out", "file/sweep").refusal
    assert line == ("hanse: file/sweep: cannot be made: Not a directory; choose another with --out")


def test_a_run_goes_where_one_was_killed_before_its_first_day(
    hanse: Command, league: object, tmp_path: Path
) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    (tmp_path / "run" / f".run.{process.pid}").mkdir(parents=True)
    assert hanse("run", "--out", "run", "-q").code == 0
    assert not list((tmp_path / "run").glob(".*"))

"""Starting processes that write runs."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def start_writing(folder: Path, days: int, *more: str) -> "subprocess.Popen[str]":
    """Starts a writer and waits until it has the run."""
    module = "tests.services.runs.writing_process"
    process = subprocess.Popen(
        [sys.executable, "-m", module, str(folder), str(days), *more],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def kill(process: "subprocess.Popen[str]") -> list[int]:
    """Kills a writer (SIGKILL) and returns the days that it has said to be written."""
    process.kill()
    said, _ = process.communicate()
    return [int(line) for line in said.split()]

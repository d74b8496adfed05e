"""Plays a league on a cluster's head, or on one machine, and tells what it took.

``python cluster_program.py FILE`` needs nothing but Hanse. The file holds a run file's values as
JSON, and how many days are not looked at. The program plays these, says ``ready``, waits until
there is a file ``go`` beside it, plays the others, says what it has measured as a line of JSON, and
waits until ``go`` is gone.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from actors.league import League
from services.config import RunConfig

POLL_SECONDS = 0.002


class Stopwatch:
    """Adds up what a function takes: seconds on the wall, and CPU seconds of its thread."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self.wall = 0.0
        self.cpu = 0.0

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Calls the function."""
        wall, cpu = time.perf_counter(), time.thread_time()
        try:
            return self._function(*arguments, **named)
        finally:
            self.wall += time.perf_counter() - wall
            self.cpu += time.thread_time() - cpu


def play(values: dict[str, Any], first_days: int, here: Path) -> dict[str, Any]:
    """Plays a league; what the days after the first took.

    Args:
        values: What is run.
        first_days: How many days are not looked at.
        here: Where the run's folder is made, and ``go`` is looked for.
    """
    config = RunConfig.parse(values, "bench")
    with (
        tempfile.TemporaryDirectory(dir=here) as folder,
        League.create(config, Path(folder) / "run") as league,
    ):
        messages = league.run(until_day=first_days - 1).messages
        hosts: Any = league.hosts
        writer: Any = league._writer
        ends = hosts.end_day = Stopwatch(hosts.end_day)
        writes = writer._write = Stopwatch(writer._write)
        before = dict(vars(hosts.pace))
        print("ready", flush=True)
        _await(here / "go", there=True)
        wall, thread, process = time.perf_counter(), time.thread_time(), time.process_time()
        result = league.run()
        told = {
            "days": config.days - first_days,
            "messages": result.messages - messages,
            "log_sha256": result.log_sha256,
            "hosts": result.hosts,
            "wall": time.perf_counter() - wall,
            "thread": time.thread_time() - thread,
            "process": time.process_time() - process,
            "ends": ends.wall,
            "ends_cpu": ends.cpu,
            "writes_cpu": writes.cpu,
            "pace": {key: value - before[key] for key, value in vars(hosts.pace).items()},
        }
        print(json.dumps(told), flush=True)
        _await(here / "go", there=False)
    return told


def _await(file: Path, *, there: bool) -> None:
    while file.exists() != there:
        time.sleep(POLL_SECONDS)


def main() -> None:
    """Joins the cluster if ``RAY_ADDRESS`` names one, and plays."""
    here = Path.cwd()
    given = json.loads(Path(sys.argv[1]).read_text())
    if "RAY_ADDRESS" in os.environ:
        from services.cli.cluster_head import join

        project = here / "project"
        project.mkdir(exist_ok=True)
        join(project)
    play(given["values"], given["first_days"], here)


if __name__ == "__main__":
    main()

"""A process that writes a run until it is done or killed: python writing_process.py FOLDER DAYS.

It says ``ready`` when it is the writer, and then each day once it is written. With a third word it
also reads its own run after every day, as metrics and exporters do.
"""

import sys
from pathlib import Path

from services.runs import Run, RunStore
from tests.services.runs.samples import manifest, play

MESSAGES = 150

if __name__ == "__main__":
    folder, days = Path(sys.argv[1]), int(sys.argv[2])
    exists = (folder / "manifest.json").exists()
    with RunStore.open(folder) if exists else RunStore.create(folder, manifest()) as store:
        print("ready", flush=True)
        last = store.day
        for day in range(0 if last is None else last + 1, days):
            play(store, range(day, day + 1), MESSAGES)
            if len(sys.argv) > 3:
                assert Run(folder).day == day
            print(day, flush=True)
        if days == 0:
            sys.stdin.read()  # holds the run until it is told to stop

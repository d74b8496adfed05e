"""The file ``status.json`` in a run folder: where a running league is, for ``hanse doctor``."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FILE = "status.json"
EVERY_SECONDS = 1.0

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # Windows has none


class StatusFile:
    """Rewrites the file about once a second while a league runs, and removes it afterwards."""

    def __init__(self, folder: Path, describe: Callable[[], dict[str, Any]]) -> None:
        self._path = folder / FILE
        self._describe = describe
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begins to write."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="league-status", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends writing and removes the file. May be repeated."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _run(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            # A full disk or a host that is just dying must not end the run.
            with contextlib.suppress(Exception):
                self._write()

    def _write(self) -> None:
        now = time.time()
        status = {"pid": os.getpid(), "updated": now, **self._describe()}
        for entry in status["waiting_for"]:
            entry["since"] = now - entry.pop("seconds")
        partial = self._path.with_suffix(".partial")
        partial.unlink(missing_ok=True)
        # Made anew: what others may have put there, such as a link to a file, is not written to.
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o666)
        with open(handle, "w", encoding="utf-8") as file:
            json.dump(status, file)
        os.replace(partial, self._path)

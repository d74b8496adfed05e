"""What the leagues of these tests come to in one process."""

from __future__ import annotations

from pathlib import Path

from actors.league import League
from services.config import load


class Inline:
    """Runs in one process, each once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, str] = {}

    def digest(self, run_file: str) -> str:
        """The hash of the event log of a run file's text, run inline."""
        if run_file not in self._known:
            file = self._folder / f"{len(self._known)}.toml"
            file.write_text(run_file)
            config = load(file).with_overrides(source="test", placement="inline")
            with League.create(config, file.with_suffix("")) as league:
                self._known[run_file] = league.run().log_sha256
        return self._known[run_file]

"""Commands are run in a folder of their own, in this process or in one of theirs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from services.cli.main import run_command
from tests.services.cli.fake_league import League


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document on stdout."""
        return json.loads(self.out)

    @property
    def refusal(self) -> str:
        """The one line of a command that refused its input."""
        assert self.code == 2
        assert self.out == ""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


Command = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def hanse(capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs a command in this process."""

    def run(*arguments: object) -> Outcome:
        capfd.readouterr()
        code = run_command([str(argument) for argument in arguments])
        return Outcome(code, *capfd.readouterr())

    return run


@pytest.fixture
def hanse_process() -> Command:
    """Runs a command as a user does, in a process of its own."""

    def run(*arguments: object) -> Outcome:
        command = [sys.executable, "-m", "services.cli.main", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def league(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[League]]:
    """A league without agents, in place of the real one, in this process."""
    module = ModuleType("actors.league")
    module.League = League  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "actors.league", module)
    yield League
    League.interrupt_in_day = None
    League.refuse = None

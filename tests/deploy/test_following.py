"""What a run says is shown once and whole, also when the connection drops in between."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from services.cluster import Unreachable, following
from services.cluster.cluster_file import ClusterFile
from services.cluster.following import follow
from services.errors import HanseError


class Head:
    """A head whose log is a file here, and whose connection drops after some bytes."""

    def __init__(self, log: Path, drops: list[int], silent: int = 0) -> None:
        nowhere = Path("nowhere")
        self.cluster = ClusterFile(
            Path("my hosts.yaml"), "mine", "h1", (), "root", nowhere, nowhere, 6379
        )
        self._log, self._drops, self._silent = log, drops, silent

    def exit_code(self, name: str) -> int | None:
        if self._silent:
            self._silent -= 1
            raise Unreachable("h1: does not answer")
        return None if self._drops else 0

    def follow(self, name: str, read: int) -> subprocess.Popen[bytes]:
        most = f"| head -c {self._drops.pop(0)}" if self._drops else ""
        words = f"tail -c +{read + 1} {self._log} {most}"
        return subprocess.Popen(["sh", "-c", words], stdout=subprocess.PIPE)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "_PAUSE_SECONDS", 0.0)


def seen(head: Any) -> tuple[int, bytes, list[str]]:
    shown: list[bytes] = []
    told: list[str] = []
    code = follow(head, "run", shown.append, told.append)
    return code, b"".join(shown), told


def test_nothing_is_shown_twice_or_left_out(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"day {day}\n" for day in range(50)))
    code, shown, told = seen(Head(log, drops=[7, 100]))
    assert (code, told) == (0, [])
    assert shown == log.read_bytes()


def test_a_lost_connection_is_told_once_and_found_again(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("day 0\n")
    code, shown, told = seen(Head(tmp_path / "log", drops=[3], silent=3))
    assert (code, shown) == (0, b"day 0\n")
    assert len(told) == 2
    assert "the league goes on" in told[0]
    assert told[1] == "connected again"


def test_a_connection_that_stays_away_says_how_to_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "PATIENCE_SECONDS", 0.0)
    (tmp_path / "log").write_text("")
    with pytest.raises(HanseError, match=r"hanse cluster attach 'my hosts\.yaml' run"):
        seen(Head(tmp_path / "log", drops=[], silent=99))

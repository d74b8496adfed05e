"""Ray's gcs_server is known by its command line, and is started again as it was."""

from __future__ import annotations

import shutil
import socket
from itertools import pairwise
from pathlib import Path

import pytest

from services.cluster import gcs_keeper
from services.cluster.gcs_keeper import Gcs, answers, found, is_needed, watch

GCS = "/v/site-packages/ray/core/src/ray/gcs/gcs_server"
RAYLET = "/v/site-packages/ray/core/src/ray/raylet/raylet"
SESSION = "session_2026_1"


def process(processes: Path, number: int, *words: str) -> None:
    folder = processes / str(number)
    folder.mkdir()
    (folder / "cmdline").write_text("".join(f"{word}\0" for word in words))
    (folder / "environ").write_text("RAY_REDIS_ADDRESS=127.0.0.1:6399\0A=b=c\0")


def test_it_is_found_with_its_arguments_and_its_environment(tmp_path: Path) -> None:
    process(tmp_path, 7, "tail", "-f", GCS)
    process(tmp_path, 8, GCS, "--redis_address=127.0.0.1", f"--session-name={SESSION}")
    gcs = found(tmp_path)
    assert gcs is not None
    assert gcs.words[1:] == ("--redis_address=127.0.0.1", f"--session-name={SESSION}")
    assert gcs.environment == {"RAY_REDIS_ADDRESS": "127.0.0.1:6399", "A": "b=c"}
    assert (gcs.lasting, gcs.session) == (True, SESSION)


def gcs_of(processes: Path, number: int, session: str, *words: str) -> None:
    process(processes, number, GCS, f"--session-name={session}", *words)


def test_that_of_the_cluster_is_told_from_a_local_one_by_its_port(tmp_path: Path) -> None:
    gcs_of(tmp_path, 7, "local", "--redis_address=", "--gcs_server_port=50123")
    gcs_of(tmp_path, 8, "cluster", "--redis_address=127.0.0.1", "--gcs_server_port=6379")
    known = found(tmp_path, port="6379")
    assert known is not None and known.session == "cluster"
    shutil.rmtree(tmp_path / "8")
    assert found(tmp_path, port="6379") is None


def test_without_a_port_one_with_a_redis_is_followed_by_its_session(tmp_path: Path) -> None:
    gcs_of(tmp_path, 7, "local", "--redis_address=")
    gcs_of(tmp_path, 8, "cluster", "--redis_address=127.0.0.1")
    known = found(tmp_path)
    assert known is not None and known.session == "cluster"
    shutil.rmtree(tmp_path / "8")
    assert found(tmp_path, session=known.session) is None


def test_a_dead_process_that_nobody_has_buried_yet_is_none(tmp_path: Path) -> None:
    process(tmp_path, 8)
    assert found(tmp_path) is None


@pytest.mark.parametrize("words", [(GCS,), (GCS, "--redis_address=")])
def test_without_a_redis_its_table_is_lost_with_it(words: tuple[str, ...]) -> None:
    assert not Gcs(words, {}).lasting


def test_it_is_needed_as_long_as_the_rest_of_its_ray_lives(tmp_path: Path) -> None:
    gcs = Gcs((GCS, f"--session-name={SESSION}"), {})
    process(tmp_path, 8, RAYLET, "--session-name=another")
    assert not is_needed(gcs, tmp_path)
    process(tmp_path, 9, RAYLET, f"--session-name={SESSION}")
    assert is_needed(gcs, tmp_path)


class Enough(Exception):
    """Ends a watch."""


class Watched:
    """A watch over one that is lost at once, with a clock of its own.

    Args:
        monkeypatch: Puts this in the place of the system.
        lives: For how many seconds each one that is started lives; it answers after one second.
        redis: The address of its Redis.
        needed: Whether the rest of its Ray lives.
        error: What comes of a start.
    """

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        lives: float = 1e9,
        redis: str = "127.0.0.1",
        needed: bool = True,
        error: OSError | None = None,
    ) -> None:
        self.gcs = Gcs((GCS, f"--redis_address={redis}", f"--session-name={SESSION}"), {})
        self.now = 0.0
        self.starts: list[float] = []
        self.told: list[str] = []
        self._lives = lives
        self._error = error
        self._until = 0.1
        self._end = 0.0
        monkeypatch.setattr(gcs_keeper, "found", self._found)
        monkeypatch.setattr(gcs_keeper, "is_needed", lambda gcs: needed)
        monkeypatch.setattr(gcs_keeper, "start", self._start)
        monkeypatch.setattr(gcs_keeper, "answers", lambda gcs: self.now - self.starts[-1] >= 1)
        monkeypatch.setattr(gcs_keeper, "time", self)

    def during(self, seconds: float, lock: Path) -> Watched:
        """Watches for so long."""
        self._end = self.now + seconds
        with pytest.raises(Enough):
            watch(self.told.append, lock, "h1:6379")
        return self

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.now >= self._end:
            raise Enough

    def _found(self, port: str, session: str) -> Gcs | None:
        assert port == "6379"
        return self.gcs if self.now < self._until else None

    def _start(self, gcs: Gcs) -> None:
        self.starts.append(self.now)
        if self._error is not None:
            raise self._error
        self._until = self.now + self._lives


@pytest.mark.parametrize(
    ("redis", "needed", "starts"), [("127.0.0.1", True, 1), ("", True, 0), ("127.0.0.1", False, 0)]
)
def test_it_is_started_again_when_it_is_lost_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, redis: str, needed: bool, starts: int
) -> None:
    watched = Watched(monkeypatch, redis=redis, needed=needed).during(60, tmp_path / "lock")
    assert (len(watched.starts), len(watched.told)) == (starts, starts)


def test_one_that_ends_at_once_is_started_less_and_less_often_and_not_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(monkeypatch, lives=0.6).during(300, tmp_path / "lock")
    pauses = [later - earlier for earlier, later in pairwise(watched.starts)]
    assert 5 < len(watched.starts) < 15
    assert pauses == sorted(pauses) and pauses[-1] == 60
    assert watched.told == []


def test_it_is_told_of_again_when_one_that_had_stayed_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(monkeypatch, lives=30).during(92, tmp_path / "lock")
    assert [later - earlier for earlier, later in pairwise(watched.starts)] == [30, 30, 30]
    assert len(watched.told) == len(watched.starts)


def test_it_answers_where_its_command_line_says() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        words = (GCS, "--node-ip-address=127.0.0.1", f"--gcs_server_port={server.getsockname()[1]}")
        assert answers(Gcs(words, {}))
    assert not answers(Gcs(words, {}))
    assert not answers(Gcs((GCS,), {}))


def test_one_that_cannot_be_started_is_told_of_once_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = FileNotFoundError(2, "No such file or directory", GCS)
    watched = Watched(monkeypatch, error=gone).during(60, tmp_path / "lock")
    assert len(watched.starts) > 3
    [line] = watched.told
    assert "cannot be started again" in line and GCS in line


def test_a_lock_that_cannot_be_made_ends_no_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(monkeypatch).during(60, tmp_path / "no" / "lock")
    assert watched.starts == []
    assert len(watched.told) == 1

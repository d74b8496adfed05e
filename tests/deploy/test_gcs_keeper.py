"""Ray's gcs_server is known by its command line, and is started again as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.cluster import gcs_keeper
from services.cluster.gcs_keeper import Gcs, found, is_needed, watch

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


@pytest.mark.parametrize(
    ("redis", "needed", "starts"), [("127.0.0.1", True, 1), ("", True, 0), ("127.0.0.1", False, 0)]
)
def test_it_is_started_again_when_it_is_lost_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, redis: str, needed: bool, starts: int
) -> None:
    gcs = Gcs((GCS, f"--redis_address={redis}"), {})
    seen = [gcs, None, None]
    started: list[Gcs] = []
    told: list[str] = []

    def pause(seconds: float) -> None:
        if started or not seen:
            raise Enough

    monkeypatch.setattr(gcs_keeper, "found", lambda: seen.pop(0) if seen else None)
    monkeypatch.setattr(gcs_keeper, "is_needed", lambda lost: needed)
    monkeypatch.setattr(gcs_keeper, "start", started.append)
    monkeypatch.setattr(gcs_keeper.time, "sleep", pause)
    with pytest.raises(Enough):
        watch(told.append, tmp_path / "lock")
    assert (len(started), len(told)) == (starts, starts)

"""The file that says where a running league is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from actors import status
from actors.status import StatusFile


@pytest.fixture
def file(tmp_path: Path) -> StatusFile:
    waiting = [{"agent": "roaster_A", "seconds": 2.0}]
    return StatusFile(
        tmp_path, lambda: {"minute": 7, "waiting_for": [dict(entry) for entry in waiting]}
    )


def test_it_says_who_writes_and_since_when_an_agent_thinks(
    tmp_path: Path, file: StatusFile
) -> None:
    file._write()
    told = json.loads((tmp_path / status.FILE).read_text())
    assert (told["pid"], told["minute"]) == (os.getpid(), 7)
    assert told["updated"] - told["waiting_for"][0]["since"] == pytest.approx(2.0)
    assert [path.name for path in tmp_path.iterdir()] == [status.FILE]


def test_a_link_in_its_place_is_not_followed(tmp_path: Path, file: StatusFile) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("mine")
    (tmp_path / "status.partial").symlink_to(precious)
    (tmp_path / status.FILE).symlink_to(precious)
    file._write()
    assert precious.read_text() == "mine"
    assert not (tmp_path / status.FILE).is_symlink()
    assert json.loads((tmp_path / status.FILE).read_text())["minute"] == 7


def test_what_was_left_half_written_is_no_hindrance(tmp_path: Path, file: StatusFile) -> None:
    (tmp_path / "status.partial").write_text("{")
    file._write()
    assert json.loads((tmp_path / status.FILE).read_text())["minute"] == 7

"""Files to and from hosts, over rsync."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from services.cluster.ssh import VANISHED_TRIES, Ssh
from services.errors import HanseError

GONE = 'file has vanished: "/root/runs/a/run.db-shm"'


class Rsync(Ssh):
    """Ends with one code after the other."""

    def __init__(self, *codes: int) -> None:
        super().__init__("root", Path("key"))
        self.codes = list(codes)

    def _checked(self, *_: Any) -> subprocess.CompletedProcess[str]:
        code = self.codes.pop(0)
        return subprocess.CompletedProcess([], code, "", GONE if code else "")


def test_a_file_that_vanished_meanwhile_is_no_reason_to_give_up(tmp_path: Path) -> None:
    rsync = Rsync(24, 0, 24, 24, 0)
    rsync.fetch("h1", "runs/a", tmp_path)
    assert rsync.codes == []


def test_files_that_vanish_again_and_again_are_said(tmp_path: Path) -> None:
    rsync = Rsync(*[24] * VANISHED_TRIES)
    with pytest.raises(HanseError, match="h1: files cannot be copied: file has vanished"):
        rsync.fetch("h1", "runs/a", tmp_path)
    assert rsync.codes == []


def test_any_other_failure_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(HanseError, match="h1: files cannot be copied"):
        Rsync(23).fetch("h1", "runs/a", tmp_path)

"""A file is there whole or not at all; what is no ordinary file is left what it is."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from services.whole_file import whole


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("old")
    with pytest.raises(RuntimeError), whole(file) as partial:
        partial.write_text("half")
        raise RuntimeError
    assert file.read_text() == "old" and os.listdir(tmp_path) == ["page.html"]
    with whole(file) as partial:
        partial.write_text("new")
    assert file.read_text() == "new" and os.listdir(tmp_path) == ["page.html"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with whole(tmp_path / "link") as partial:
        partial.write_text("new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    with whole(tmp_path / "pipe") as partial, partial.open("w") as file:
        file.write("all of it")
    reader.join(timeout=10)
    assert read == ["all of it"] and (tmp_path / "pipe").is_fifo()

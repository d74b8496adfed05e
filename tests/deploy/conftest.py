"""A host that is a folder here: its `ssh` runs what is asked for in it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from services.cluster import ClusterFile, Ssh
from services.cluster.on_head import Head

_SSH = """#!{python}
import os, sys
words = sys.argv[1:]
while words[0].startswith("-"):
    words = words[2 if words[0] in ("-i", "-o", "-l") else 1 :]
os.chdir("{home}")
os.environ["HOME"] = "{home}"
os.execv("/bin/sh", ["sh", "-c", " ".join(words[1:])])
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of the user on every host."""
    (tmp_path / "home").mkdir()
    (tmp_path / "bin").mkdir()
    ssh = tmp_path / "bin" / "ssh"
    ssh.write_text(_SSH.format(python=sys.executable, home=tmp_path / "home"))
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", str(ssh.parent), prepend=":")
    return tmp_path / "home"


@pytest.fixture
def head(home: Path) -> Head:
    """The head of a cluster."""
    key, token = home.parent / "key", home.parent / "token"
    whole = ClusterFile(Path("hosts.yaml"), "c", "h1", ("h2",), "hanse", key, token, 6379)
    return Head(whole, Ssh("hanse", key))


@pytest.fixture
def there(head: Head, home: Path) -> Path:
    """The folder of the run ``r`` on the head."""
    folder = home / head.run_folder("r")
    folder.mkdir(parents=True)
    return folder

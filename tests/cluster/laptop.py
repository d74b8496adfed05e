"""The user's machine: types commands, and has a cluster file and run files."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.cluster.hosts import PROJECT, Host, Hosts

HANSE = "python -m services.cli.main"


class Laptop:
    """The laptop among the hosts; its home is the folder in which commands are typed."""

    def __init__(self, hosts: Hosts) -> None:
        self.hosts = hosts
        self.host: Host = hosts.laptop
        self.cluster_file("hosts.yaml")

    @property
    def home(self) -> Path:
        """Its home, as seen from here."""
        return self.host.home

    def cluster_file(self, name: str, **changes: str) -> None:
        """Writes deploy/local.yaml with the addresses of the hosts, and with changes to words."""
        head, *workers = (host.address for host in self.hosts.cluster)
        words = {
            "192.168.1.10 ": f"{head} ",
            "192.168.1.11, 192.168.1.12": ", ".join(workers),
            "ssh_user: hanse ": "ssh_user: root ",
            **changes,
        }
        text = (PROJECT / "deploy" / "local.yaml").read_text()
        for old, new in words.items():
            assert old in text, old
            text = text.replace(old, new)
        (self.home / name).write_text(text)

    def write(self, name: str, text: str) -> None:
        """Writes a file of the user's."""
        (self.home / name).write_text(text)

    def hanse(
        self, words: str, *, check: bool = True, timeout: float = 300
    ) -> subprocess.CompletedProcess[str]:
        """Types a command and waits for its end."""
        return self.host.ssh(f"{HANSE} {words}", check=check, timeout=timeout)

    def result(self, words: str) -> dict[str, Any]:
        """The JSON document of a command."""
        document: dict[str, Any] = json.loads(self.hanse(f"{words} --json --quiet").stdout)
        return document

    def refused(self, words: str) -> str:
        """The one line with which a command refuses."""
        done = self.hanse(words, check=False)
        assert done.returncode == 2, done.stdout + done.stderr
        return [line for line in done.stderr.splitlines() if line.startswith("hanse: ")][-1]

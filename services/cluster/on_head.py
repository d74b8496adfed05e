"""What Hanse has on the head of a cluster: its code, and a folder for each run."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from pathlib import Path
from typing import Any, Final

from services.cluster.asking import PYTHON
from services.cluster.cluster_file import ClusterFile
from services.cluster.ssh import Ssh
from services.errors import HanseError

PACKAGES: Final = ("actors", "services", "policies", "monitors")
"""What Hanse consists of: hosts get it from here, so that all run the same."""
PROGRAM: Final = "services.cli.cluster_head"
"""What runs on the head."""
_ROOT: Final = Path(__file__).resolve().parents[2]
_UNWANTED: Final = ("__pycache__", "*.pyc")


class Head:
    """The head of a cluster. Paths there are relative to the user's home.

    Args:
        cluster: The cluster.
        ssh: The way to it.
    """

    def __init__(self, cluster: ClusterFile, ssh: Ssh) -> None:
        self.cluster = cluster
        self.ssh = ssh
        self.folder = f".hanse/{cluster.name}"
        self.code = f"{self.folder}/code/{code_digest()}"

    def run_folder(self, name: str) -> str:
        """The folder of a run there."""
        return f"{self.folder}/runs/{name}"

    def send_code(self) -> None:
        """Copies Hanse's code there, unless it is there already.

        Raises:
            HanseError: the head does not answer, or has no room.
        """
        there = self._run(f"test -e {self.code}/complete")
        if there.returncode == 0:
            return
        self.ssh.send(
            self.cluster.head, [_ROOT / package for package in PACKAGES], self.code, _UNWANTED
        )
        self._run(f"touch {self.code}/complete")

    def command(self, *arguments: str) -> str:
        """The shell command that starts Hanse's program there."""
        cluster = self.cluster
        environment = (
            f'PYTHONPATH="$HOME/{self.code}" RAY_AUTH_MODE=token RAY_USAGE_STATS_ENABLED=0'
            f" RAY_ADDRESS={cluster.head}:{cluster.port}"
        )
        return f'{PYTHON} {environment} exec "$python" -m {PROGRAM} {shlex.join(arguments)}'

    def ask(self, *arguments: str, timeout: float = 60) -> Any:
        """Runs Hanse's program there; what it answers.

        Raises:
            HanseError: the head does not answer, or the program says what is wrong.
        """
        self.send_code()
        done = self._run(self.command(*arguments), timeout=timeout)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise HanseError(f"{self.cluster.head}: {lines[-1].removeprefix('hanse: ')}")
        return json.loads(done.stdout.splitlines()[-1])

    def start(self, name: str, project: Path, files: list[Path], config: dict[str, Any]) -> None:
        """Starts a run that goes on there by itself, whether anybody looks or not.

        Args:
            name: Its name.
            project: The folder that its files are in.
            files: The files that it needs besides Hanse, below ``project``.
            config: What is run.

        Raises:
            HanseError: there is a run of this name already, or something cannot be copied.
        """
        self.send_code()
        folder = self.run_folder(name)
        made = self._run(f"mkdir -p {self.folder}/runs && mkdir {folder}")
        if made.returncode != 0:
            raise HanseError(
                f"{self.cluster.head}: there is a run {name} on the cluster already; choose another"
                f" name with --out, or bring that one back: hanse cluster attach"
                f" {self.cluster.path} {name}"
            )
        try:
            self._send_project(folder, project, files)
            self._give(f"{folder}/project/config.json", json.dumps(config))
            keep = self.command("keep", name)
            # A session of its own: neither the end of this connection nor a Ctrl-C here reaches it.
            self._run(
                f"setsid nohup bash -c {shlex.quote(keep)} </dev/null >/dev/null 2>{folder}/log &"
                f" echo $! >{folder}/pid"
            )
        except BaseException:
            self._run(f"rm -rf {folder}")
            raise

    def follow(self, name: str, read: int) -> subprocess.Popen[bytes]:
        """Begins to read the log of a run; ends soon after the run.

        Args:
            name: The run.
            read: How many bytes of it are known already.
        """
        folder = self.run_folder(name)
        # What comes between the last look and the end of the run is still read.
        tail = f"tail -c +{read + 1} -f --pid=$(cat {folder}/pid) {folder}/log"
        words = self.ssh.words(self.cluster.head, f"exec {tail}")
        return subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def exit_code(self, name: str) -> int | None:
        """How a run has ended; ``None`` while it goes on.

        Raises:
            HanseError: there is no such run, or it was ended without a word.
        """
        folder = self.run_folder(name)
        done = self._run(
            f"cat {folder}/code 2>/dev/null && exit; test -e {folder}/pid || exit 3;"
            f" kill -0 $(cat {folder}/pid) 2>/dev/null || exit 4"
        )
        if done.returncode == 3:
            raise HanseError(
                f"{self.cluster.head}: there is no run {name} on the cluster; list them with:"
                f" hanse cluster status {self.cluster.path}"
            )
        if done.returncode == 4:
            return -1
        return int(done.stdout) if done.stdout.strip() else None

    def log(self, name: str) -> str:
        """What a run has said so far."""
        return self._run(f"cat {self.run_folder(name)}/log").stdout

    def fetch(self, name: str, folder: Path) -> None:
        """Brings a run's folder here, and removes it there when it is whole here."""
        self.ssh.fetch(self.cluster.head, f"{self.run_folder(name)}/project/runs/{name}", folder)

    def has_days(self, name: str) -> bool:
        """Whether a run has come so far as to have a folder of its own."""
        manifest = f"{self.run_folder(name)}/project/runs/{name}/manifest.json"
        return self._run(f"test -e {manifest}").returncode == 0

    def end(self, name: str) -> None:
        """Ends a run; what it has written is as after a crash.

        Raises:
            HanseError: it does not end.
        """
        pid = f"$(cat {self.run_folder(name)}/pid)"
        # It leads a session of its own, and with it a process group.
        gone = (
            f"for i in $(seq 50); do pgrep -g {pid} >/dev/null || exit 0; sleep 0.2; done; exit 1"
        )
        done = self._run(f"kill -- -{pid}; {gone}")
        if done.returncode != 0:
            raise HanseError(f"{self.cluster.head}: {name} does not end; try again")

    def forget(self, name: str) -> None:
        """Removes a run there."""
        self._run(f"rm -rf {self.run_folder(name)}")

    def _send_project(self, folder: str, project: Path, files: list[Path]) -> None:
        self._run(f"mkdir {folder}/project")
        if files:
            self.ssh.send_project(self.cluster.head, project, files, f"{folder}/project")

    def _give(self, there: str, text: str) -> None:
        done = self.ssh.run(self.cluster.head, f"cat > {there}", given=text)
        if done.returncode != 0:
            raise HanseError(f"{self.cluster.head}: {done.stderr.strip()}")

    def _run(self, command: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        return self.ssh.run(self.cluster.head, command, timeout=timeout)


def code_digest() -> str:
    """The first hexadecimal digits of the SHA-256 of all files that hosts get."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        for file in sorted((_ROOT / package).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(f"{file.relative_to(_ROOT)}\0".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]

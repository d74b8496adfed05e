"""What Hanse has on the head of a cluster: its code, and a folder for each run."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import subprocess
from pathlib import Path
from shlex import quote
from typing import Any, Final

from services.cluster.asking import PYTHON
from services.cluster.cluster_file import ClusterFile
from services.cluster.run_name import checked
from services.cluster.ssh import Ssh
from services.errors import HanseError

PACKAGES: Final = ("actors", "services", "policies", "monitors")
"""What Hanse consists of: hosts get it from here, so that all run the same."""
PROGRAM: Final = "services.cli.cluster_head"
"""What runs on the head."""
_ROOT: Final = Path(__file__).resolve().parents[2]
_UNWANTED: Final = ("__pycache__", "*.pyc")
_STARTED: Final = (
    "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null):"
    "$(sed 's/.*) //' /proc/$p/stat 2>/dev/null | cut -d ' ' -f 20)"
)
"""Shell words that say when process ``$p`` has started, as :mod:`services.runs.process` does."""
_COMMAND: Final = re.compile(r"(hanse cluster \w+) (?:CLUSTER_)?FILE\b")
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")
"""What a run's id looks like. It becomes part of paths and of shell commands; it may hold two dots
together, as the name in a run file may."""
_UNUSED_MINUTES: Final = 60
"""Code that nobody has asked for so long, and that no process uses, is removed."""
_BEING_STARTED: Final = 3
_GOES_ON: Final = 4
_FINISHED: Final = 5
"""Exit codes of the shell lines that start a run again."""


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
        """The folder of a run there.

        Raises:
            HanseError: there can be no run of this name.
        """
        return f"{self.folder}/runs/{checked(name)}"

    def names(self) -> set[str]:
        """The names of all runs there."""
        return set(self._run(f"ls {quote(self.folder)}/runs 2>/dev/null").stdout.split())

    def send_code(self) -> None:
        """Copies Hanse's code there, unless it is there already; then old code there is removed.

        Raises:
            HanseError: the head does not answer, or has no room.
        """
        complete = f"{quote(self.code)}/complete"
        there = self._run(f"test -e {complete} && touch {complete} {quote(self.code)}")
        if there.returncode == 0:
            return
        self.ssh.send(
            self.cluster.head, [_ROOT / package for package in PACKAGES], self.code, _UNWANTED
        )
        self._run(f"touch {complete}")
        self._run(
            f"for old in $(find {quote(self.folder)}/code -mindepth 1 -maxdepth 1 -type d"
            f" -mmin +{_UNUSED_MINUTES} ! -name {code_digest()}); do"
            # What a run was started with stands in the environment of its processes.
            ' grep -qsF "$old" /proc/[0-9]*/environ || rm -rf "$old"; done'
        )

    def command(self, *arguments: str) -> str:
        """The shell command that starts Hanse's program there."""
        cluster = self.cluster
        environment = (
            f'PYTHONPATH="$HOME/{self.code}" {cluster.ray_variables}'
            f" RAY_ADDRESS={quote(f'{cluster.head}:{cluster.port}')}"
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
            said = self.with_file(lines[-1].removeprefix("hanse: "))
            raise HanseError(f"{self.cluster.head}: {said}")
        try:
            return json.loads(done.stdout.splitlines()[-1])
        except (ValueError, IndexError, RecursionError):
            raise HanseError(
                f"{self.cluster.head}: Hanse's program there gives no answer; what it was asked:"
                f" {arguments[0]}; try again"
            ) from None

    def with_file(self, text: str) -> str:
        """What a program there has said, with the cluster file's name, which it does not know."""
        return _COMMAND.sub(lambda found: f"{found[1]} {self.cluster.typed}", text)

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
        made = self._run(f"mkdir -p {quote(self.folder)}/runs && mkdir {quote(folder)}")
        if made.returncode != 0:
            raise HanseError(
                f"{self.cluster.head}: there is a run {name} on the cluster already; choose another"
                f" name with --out, or bring that one back: hanse cluster attach"
                f" {self.cluster.typed} {name}"
            )
        try:
            self._send_project(folder, project, files)
            self._give(f"{folder}/project/config.json", json.dumps(config))
            self._run(self._launch(name))
        except BaseException:
            self._run(f"rm -rf {quote(folder)}")
            raise

    def resume(self, name: str) -> int:
        """Goes on with a run that has stopped, from its last whole day.

        Returns:
            How many bytes it had said before.

        Raises:
            HanseError: there is no such run, it goes on already, or it has finished.
        """
        self.send_code()
        self.exit_code(name)
        folder = quote(self.run_folder(name))
        done = self._run(
            # Of two who ask for it at the same time, one starts it.
            f"exec 9>{folder}/lock; flock -n 9 || exit {_BEING_STARTED};"
            f" {{ {_lives(folder)}; }} && exit {_GOES_ON};"
            f' [ "$(cat {folder}/code 2>/dev/null)" = 0 ] && exit {_FINISHED};'
            f" rm -f {folder}/code; stat -c %s {folder}/log || exit 1; {self._launch(name)}"
        )
        attach = f"hanse cluster attach {self.cluster.typed} {name}"
        match done.returncode:
            case 0:
                return int(done.stdout.split()[-1])
            case code if code in (_BEING_STARTED, _GOES_ON):
                raise HanseError(f"{name}: goes on already; come back to it with: {attach}")
            case code if code == _FINISHED:
                raise HanseError(f"{name}: has finished already; bring it here: {attach}")
        reason = (done.stderr.strip().splitlines() or ["no reason is given"])[-1]
        raise HanseError(f"{self.cluster.head}: {name} cannot be started again: {reason}")

    def _launch(self, name: str) -> str:
        """Shell words that start a run which goes on by itself, and write its process down."""
        folder = quote(self.run_folder(name))
        keep = quote(self.command("keep", name))
        return (
            # A session of its own: neither the end of this connection nor a Ctrl-C here reaches it.
            f"setsid nohup bash -c {keep} </dev/null >/dev/null 2>>{folder}/log 9>&- &"
            f" p=$!; echo $p {_STARTED} >{folder}/pid.new; mv {folder}/pid.new {folder}/pid"
        )

    def follow(self, name: str, read: int) -> subprocess.Popen[bytes]:
        """Begins to read the log of a run; ends soon after the run.

        Args:
            name: The run.
            read: How many bytes of it are known already.
        """
        folder = quote(self.run_folder(name))
        # What comes between the last look and the end of the run is still read.
        tail = f'exec tail -c +{read + 1} ${{p:+-f "--pid=$p"}} {folder}/log'
        words = self.ssh.words(self.cluster.head, f"{_lives(folder)} || p=; {tail}")
        return subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def exit_code(self, name: str) -> int | None:
        """How a run has ended; ``None`` while it goes on.

        Raises:
            HanseError: there is no such run, or it was ended without a word.
        """
        folder = quote(self.run_folder(name))
        done = self._run(
            f"lives() {{ {_lives(folder)}; }}; if test -e {folder}/pid;"
            # It may end between two looks; what it leaves is looked at again then.
            f" then cat {folder}/code 2>/dev/null || {{ lives && echo running; }} ||"
            f" cat {folder}/code 2>/dev/null || echo gone; else echo none; fi"
        )
        said = (done.stdout.splitlines() or [""])[-1].strip()
        if said == "none":
            raise HanseError(
                f"{self.cluster.head}: there is no run {name} on the cluster; list them with:"
                f" hanse cluster status {self.cluster.typed}"
            )
        if said == "running":
            return None
        if said == "gone":
            return -1
        if said.isascii() and said.isdecimal() and len(said) <= 3:
            return int(said)
        raise HanseError(
            f"{self.cluster.head}: does not say how {name} stands, but {said[:80]!r}; look there:"
            f" ~/{self.run_folder(name)}"
        )

    def log(self, name: str) -> str:
        """What a run has said so far."""
        return self._run(f"cat {quote(self.run_folder(name))}/log").stdout

    def fetch(self, name: str, folder: Path) -> None:
        """Brings a run's folder here, and removes it there when it is whole here."""
        self.ssh.fetch(self.cluster.head, f"{self.run_folder(name)}/project/runs/{name}", folder)

    def has_days(self, name: str) -> bool:
        """Whether a run has come so far as to have a folder of its own."""
        manifest = f"{self.run_folder(name)}/project/runs/{name}/manifest.json"
        return self._run(f"test -e {quote(manifest)}").returncode == 0

    def run_id(self, name: str) -> str | None:
        """The id of a run that has days, by which other machines know it.

        ``None`` if its manifest is cut off, or names none that could be a run's.
        """
        manifest = f"{self.run_folder(name)}/project/runs/{name}/manifest.json"
        try:
            found = json.loads(self._run(f"cat {quote(manifest)}").stdout)["id"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        return found if isinstance(found, str) and _ID.fullmatch(found) else None

    def end(self, name: str) -> None:
        """Ends a run; what it has written is as after a crash.

        Raises:
            HanseError: it does not end.
        """
        # It leads a session of its own, and with it a process group.
        gone = 'for i in $(seq 50); do pgrep -g "$p" >/dev/null || exit 0; sleep 0.2; done; exit 1'
        lives = _lives(quote(self.run_folder(name)))
        done = self._run(f'{lives} || exit 0; kill -- "-$p"; {gone}')
        if done.returncode != 0:
            raise HanseError(f"{self.cluster.head}: {name} does not end; try again")

    def forget(self, name: str) -> None:
        """Removes a run there."""
        self._run(f"rm -rf {quote(self.run_folder(name))}")

    def _send_project(self, folder: str, project: Path, files: list[Path]) -> None:
        self._run(f"mkdir {quote(folder)}/project")
        if files:
            self.ssh.send_project(self.cluster.head, project, files, f"{folder}/project")

    def _give(self, there: str, text: str) -> None:
        done = self.ssh.run(self.cluster.head, f"cat > {quote(there)}", given=text)
        if done.returncode != 0:
            raise HanseError(f"{self.cluster.head}: {done.stderr.strip()}")

    def _run(self, command: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        return self.ssh.run(self.cluster.head, command, timeout=timeout)


def _lives(folder: str) -> str:
    """A shell command that succeeds if a run's process lives, whose number is in ``$p`` then.

    Numbers are used again: a stranger's process that has this one now started at another time.
    """
    alive = "grep -q '^State:[[:space:]]*[^ZX[:space:]]' /proc/$p/status 2>/dev/null"
    return (
        f"{{ p=; read -r p s <{folder}/pid; }} 2>/dev/null;"
        f' {{ [ "${{p:-0}}" -gt 1 ] && {alive} && [ "$s" = "{_STARTED}" ]; }} 2>/dev/null'
    )


def code_digest() -> str:
    """The first hexadecimal digits of the SHA-256 of all files that hosts get."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        for file in sorted((_ROOT / package).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(f"{file.relative_to(_ROOT)}\0".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]

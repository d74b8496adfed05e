"""Commands on hosts and files to and from them, over the system's own ssh and rsync."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

from services.errors import HanseError

CONNECT_SECONDS: Final = 8
_FAILED: Final = 255
"""The exit code with which ssh says that it was ssh that failed."""
VANISHED_TRIES: Final = 3
_VANISHED: Final = 24
"""The exit code with which rsync says that a file was gone before it was copied."""
_ALIVE: Final = ("-o", "ServerAliveInterval=3", "-o", "ServerAliveCountMax=4")
_SILENT: Final = ("timed out", "No route", "refused", "unreachable", "not resolve", "not known",
                  "closed by", "reset by", "Broken pipe", "not responding")  # fmt: skip
_T = TypeVar("_T")


class Unreachable(HanseError):
    """A host did not answer, or let nobody in; the message says which and what to do."""


class Ssh:
    """One user's way to hosts.

    Args:
        user: Who logs in.
        key: With which private key.
    """

    def __init__(self, user: str, key: Path) -> None:
        self.user = user
        self.key = key

    def words(self, host: str, command: str) -> list[str]:
        """The ssh command line that runs a command in a login shell of a host."""
        # A profile may print a greeting, which is no part of the answer.
        login = f"exec >&3 3>&-; {command}"
        shell = f"bash -lc {shlex.quote(login)} 3>&1 >/dev/null"
        return [*self._ssh(), "--", f"{self.user}@{host}", shell]

    def run(
        self, host: str, command: str, *, given: str | None = None, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command in a login shell of a host.

        Args:
            host: Where.
            command: What; its exit code is for the caller to look at.
            given: What it reads.
            timeout: Seconds after which the host counts as one that does not answer.

        Raises:
            Unreachable: the host does not answer or lets nobody in.
        """
        return self._checked(host, self.words(host, command), given, timeout)

    def send(
        self, host: str, here: Iterable[Path], there: str, excluded: Sequence[str] = ()
    ) -> None:
        """Copies files and folders into a folder of a host, which is made.

        Raises:
            HanseError: the host does not answer, or cannot take them.
        """
        words = ["rsync", "-a", *(f"--exclude={pattern}" for pattern in excluded)]
        words += ["--rsync-path", f"mkdir -p {shlex.quote(there)} && rsync"]
        words += ["-e", shlex.join(self._ssh()), "--", *map(str, here)]
        self._copied(host, [*words, f"{self.user}@{host}:{there}/"])

    def send_project(self, host: str, root: Path, files: Iterable[Path], there: str) -> None:
        """Copies files below a folder into one of a host, each to the same place below it.

        Raises:
            HanseError: the host does not answer, or cannot take them.
        """
        # Without ./ a name that begins with # or ; would be taken for a remark.
        names = "".join(f"./{file.relative_to(root)}\0" for file in files)
        # What a link leads to goes, as the link would lead nowhere there.
        words = ["rsync", "-aL", "--files-from=-", "--from0", "-e", shlex.join(self._ssh())]
        self._copied(host, [*words, "--", f"{root}/", f"{self.user}@{host}:{there}/"], names)

    def fetch(self, host: str, there: str, here: Path) -> None:
        """Copies what is in a folder of a host into one of this machine: files and folders alone.

        The manifest comes last: if it is here, all is. What only its owner may read there, only its
        owner may read here.

        Raises:
            HanseError: the host does not answer, or has no such folder.
        """
        words = ["rsync", "-rt", "--no-links", "--no-devices", "--no-specials"]
        words += ["--chmod=Du=rwx,Dgo-w,Fu=rw,Fgo-wx", "-e", shlex.join(self._ssh())]
        places = ["--", f"{self.user}@{host}:{there}/", f"{here.absolute()}/"]
        self._copied(host, [*words, "--exclude=/manifest.json", *places])
        self._copied(host, [*words, *places])

    def on_all(
        self, hosts: Sequence[str], ask: Callable[[str], _T]
    ) -> tuple[dict[str, _T], list[str]]:
        """Asks all hosts at once; the answers, and what is wrong with those that gave none."""
        answers: dict[str, _T] = {}
        problems: list[str] = []
        with ThreadPoolExecutor(max_workers=16) as pool:
            asked = [(host, pool.submit(ask, host)) for host in hosts]
            for host, answer in asked:
                try:
                    answers[host] = answer.result()
                except HanseError as error:
                    problems.append(str(error))
        return answers, problems

    def _ssh(self) -> list[str]:
        options = ["-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT_SECONDS}", *_ALIVE]
        options += ["-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=accept-new"]
        return ["ssh", "-i", str(self.key), *options]

    def _copied(self, host: str, words: list[str], given: str | None = None) -> None:
        for _ in range(VANISHED_TRIES):
            done = self._checked(host, words, given, 600)
            if done.returncode != _VANISHED:
                break  # else whoever looked at a run there has just closed its database
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            # rsync closes with a line about itself; the reason stands before it.
            reason = lines[0] if lines else f"rsync ended with {done.returncode}"
            raise HanseError(f"{host}: files cannot be copied: {reason}")

    def _checked(
        self, host: str, words: list[str], given: str | None, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        source: Any = {"stdin": subprocess.DEVNULL}
        if given is not None:
            source = {"input": given.encode()}
        try:
            said = subprocess.run(
                words, capture_output=True, timeout=timeout, check=False, **source
            )
        except FileNotFoundError:
            raise HanseError(
                f"{words[0]} is not installed here; install OpenSSH's client and rsync"
            ) from None
        except subprocess.TimeoutExpired:
            raise Unreachable(
                f"{host}: has not answered for {timeout:.0f} s; look at it, then try again"
            ) from None
        output, problems = (text.decode(errors="replace") for text in (said.stdout, said.stderr))
        done = subprocess.CompletedProcess(words, said.returncode, output, printable(problems))
        if done.returncode == _FAILED or "Permission denied (publickey" in done.stderr:
            raise Unreachable(self.reason(host, done.stderr))
        return done

    def reason(self, host: str, said: str) -> str:
        """One line about why a host could not be reached, and what to do.

        Args:
            host: Which.
            said: What ssh said.
        """
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        last = lines[-1] if lines else "ssh gives no reason"
        by_hand = f"try: ssh -i {self.key} {self.user}@{host}"
        if "HOST IDENTIFICATION HAS CHANGED" in said or "verification failed" in said:
            return (
                f"{host}: has another host key than before; if it was set up anew:"
                f" ssh-keygen -R {host}"
            )
        if "Permission denied" in said:
            return (
                f"{host}: does not take the key {self.key} for {self.user}; check auth in the"
                f" cluster file and ~{self.user}/.ssh/authorized_keys there; {by_hand}"
            )
        if any(word in said for word in _SILENT):
            return (
                f"{host}: does not answer ({last}); is it on, and is its address right? {by_hand}"
            )
        return f"{host}: {last}; {by_hand}"


def printable(text: str) -> str:
    """A text without what steers a terminal; its lines stay."""
    return "".join(letter for letter in text if letter.isprintable() or letter == "\n")

"""Asking every host of a cluster what it has."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter

from services.cluster import checks
from services.cluster.checks import Facts
from services.cluster.cluster_file import ClusterFile
from services.cluster.ssh import Ssh
from services.errors import HanseError

_T = TypeVar("_T")
NO_RAY: Final = 41
"""The exit code of :data:`PYTHON` on a host whose login shell finds no Ray."""
PYTHON: Final = (
    f'ray=$(command -v ray) || exit {NO_RAY}; python="$(dirname "$ray")/python";'
    ' [ -x "$python" ] || python="$(sed -n "1s/^#!//p" "$ray")"; '
)
"""Shell lines that set ``$python`` to the Python that `ray` belongs to."""


def ask(ssh: Ssh, host: str) -> Facts:
    """What a host has.

    Raises:
        HanseError: it does not answer so that it can be understood, or has no Ray.
    """
    asked = time.time()
    answer = on_host(ssh, host, "facts")
    answered = time.time()
    return understood(host, lambda: Facts.parse(answer, asked, answered))


def end_all(ssh: Ssh, host: str) -> list[str]:
    """Ends all processes of Ray and of leagues on a host; those that are left, ``pid command``.

    Raises:
        HanseError: it does not answer so that it can be understood, or has no Ray.
    """
    left = on_host(ssh, host, "end")
    return understood(host, lambda: TypeAdapter(list[str]).validate_python(left, strict=True))


def understood(host: str, parse: Callable[[], _T]) -> _T:
    """What a host's answer says.

    Args:
        host: Whose it is.
        parse: Reads it.

    Raises:
        HanseError: it is not what was asked for.
    """
    try:
        return parse()
    except (ValueError, KeyError, TypeError, AttributeError):
        raise HanseError(
            f"{host}: its answer is not what was asked for; see that nothing makes its Python print"
            " a line of its own (a sitecustomize module)"
        ) from None


def on_host(ssh: Ssh, host: str, action: str, script: str = "on_host.py") -> Any:
    """What a host answers to an action of :mod:`services.cluster.on_host`.

    Args:
        ssh: The way to it.
        host: Which.
        action: What it is to do.
        script: The file beside this one that does it there.

    Raises:
        HanseError: it does not answer, or has no Ray.
    """
    program = (Path(__file__).parent / script).read_text()
    done = ssh.run(host, f'{PYTHON} exec "$python" - {action}', given=program)
    if done.returncode == NO_RAY:
        raise HanseError(
            f"{host}: a login shell of {ssh.user} finds no `ray`; pip install -r requirements.lock"
            " there, and put the folder of `ray` on PATH in ~/.bash_profile"
        )
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise HanseError(f"{host}: its Python does not run: {last}") from None


def ask_all(ssh: Ssh, hosts: Sequence[str]) -> tuple[dict[str, Facts], list[str]]:
    """What each host has, and what is wrong with those that do not say."""
    return ssh.on_all(hosts, lambda host: ask(ssh, host))


def faults(
    cluster: ClusterFile, ssh: Ssh, hosts: Sequence[str]
) -> tuple[dict[str, Facts], list[str]]:
    """What each host has, and what has to be mended; hosts that do not answer come alone."""
    facts, found = ask_all(ssh, hosts)
    if not found:
        found = [str(one) for one in checks.findings(facts, cluster.head, version("ray"))]
    return facts, found


def full_disks(cluster: ClusterFile, ssh: Ssh) -> list[str]:
    """Full disks, each in a line with its host and the remedy; silent hosts are let be."""
    facts, _ = ask_all(ssh, cluster.hosts)
    found = checks.findings(facts, cluster.head, version("ray"))
    return [str(one) for one in found if one.aspect == "disk"]


def check(cluster: ClusterFile, ssh: Ssh) -> dict[str, Facts]:
    """What each host has, if all is as a cluster needs it.

    Raises:
        HanseError: what has to be mended, on all hosts.
    """
    facts, found = faults(cluster, ssh, cluster.hosts)
    if found:
        raise HanseError(f"{cluster.path}: {'; '.join(found)}")
    return facts

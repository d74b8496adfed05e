"""Is this container well? Its health check: exit code 0 if so, else 1 and a line that says why not.

A Ray node's own agent answers on loopback for all of its Ray; where none listens (`hanse run` in a
container of its own), the machine must be one on which Hanse can run.
"""

from __future__ import annotations

import socket
import sys
import urllib.error
import urllib.request
from typing import Final

AGENT_PORT: Final = 52365
"""Where a Ray node's agent answers, unless `ray start` is told another."""
_SECONDS: Final = 5.0


def trouble_of_node(port: int) -> str | None:
    """What the Ray node behind this port says is wrong with it; ``None`` if it is well."""
    loopback = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        loopback.open(f"http://127.0.0.1:{port}/api/healthz", timeout=_SECONDS).close()
    except urllib.error.HTTPError as error:
        return f"Ray's agent says: {error.code} {error.read(200).decode(errors='replace')}"
    except OSError as error:
        return f"Ray's agent does not answer: {error}"
    return None


def trouble_of_machine() -> str | None:
    """What keeps Hanse from running here; ``None`` if nothing does."""
    from services.cli.health import check_machine

    failed = [check for check in check_machine(start_ray=False) if check.state == "failed"]
    return "; ".join(f"{check.name}: {check.found}; {check.remedy}" for check in failed) or None


def is_node(port: int) -> bool:
    """Whether a Ray node's agent listens here."""
    with socket.socket() as probe:
        probe.settimeout(_SECONDS)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def main(port: int = AGENT_PORT) -> int:
    """Says what is wrong, if anything is; the exit code."""
    trouble = trouble_of_node(port) if is_node(port) else trouble_of_machine()
    if trouble is not None:
        print(trouble)
    return 0 if trouble is None else 1


if __name__ == "__main__":
    sys.exit(main())

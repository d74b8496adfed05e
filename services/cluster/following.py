"""Following a run on a cluster from the user's machine, also when the connection drops."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from services.cluster.on_head import Head
from services.cluster.ssh import Unreachable
from services.errors import HanseError

PATIENCE_SECONDS: Final = 60.0
"""For how long a lost connection is tried again before the run is left to itself."""
_PAUSE_SECONDS: Final = 2.0


def follow(
    head: Head,
    name: str,
    show: Callable[[bytes], None],
    tell: Callable[[str], None],
    known: int = 0,
) -> int:
    """Shows what a run says until it has ended; its exit code, -1 if it was ended from outside.

    Args:
        head: The head of the cluster.
        name: The run.
        show: Is given what the run says, as it comes; nothing twice, nothing left out.
        tell: Is told when the connection is lost, and found again.
        known: How many bytes of what it says are not shown.

    Raises:
        HanseError: there is no such run, or the connection stays away; the run goes on then.
    """
    read = known
    lost: float | None = None
    while True:
        try:
            code = head.exit_code(name)
            if lost is not None:
                tell("connected again")
            lost = None
        except Unreachable as error:
            if lost is None:
                lost = time.monotonic()
                tell(f"{error}; the league goes on, trying again ...")
            if time.monotonic() - lost > PATIENCE_SECONDS:
                raise HanseError(
                    f"{head.cluster.head}: has not answered for {PATIENCE_SECONDS:.0f} s; if it"
                    f" runs, the league goes on there; come back to it with: hanse cluster attach"
                    f" {head.cluster.typed} {name}"
                ) from None
            time.sleep(_PAUSE_SECONDS)
            continue
        read += _stream(head, name, read, show)
        if code is not None:
            return code


def _stream(head: Head, name: str, read: int, show: Callable[[bytes], None]) -> int:
    """Shows what is new until the run ends or the connection does; how many bytes it was."""
    tail = head.follow(name, read)
    assert tail.stdout is not None
    came = 0
    try:
        while chunk := tail.stdout.read1(65536):  # type: ignore[attr-defined]
            came += len(chunk)
            show(chunk)
        tail.wait()
    finally:
        tail.kill()
        tail.wait()
    return came

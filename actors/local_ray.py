"""Starting Ray on this machine: on loopback only, for its user alone, and safe against a Ctrl-C."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from services.errors import HanseError

OBJECT_STORE_BYTES: Final = 200_000_000
"""Mail, a day's log and results pass through it; a thousand firms' day is some ten megabytes."""
_LOOPBACK_ONLY: Final = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Ray's own switch. Unset, Ray on Linux listens on every interface, whatever node address it is
given; set to 0 it stays on loopback, as it does by default on Windows and macOS."""

_MODE: Final = "RAY_AUTH_MODE"
_TOKEN: Final = "RAY_AUTH_TOKEN"


def start_ray(processors: int | None = None, *, local: bool = False) -> bool:
    """Starts Ray on this machine unless it runs already; tells whether it did.

    A cluster that ``RAY_ADDRESS`` names is joined instead.

    Args:
        processors: How many tasks may run at the same time; by default one for each core.
        local: Start Ray here also when ``RAY_ADDRESS`` names a cluster.

    Raises:
        HanseError: Ray cannot start.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    cluster = None if local else os.environ.get("RAY_ADDRESS")
    if cluster is None:
        _keep_to_loopback()
        _keep_to_this_process()
    import ray

    if ray.is_initialized():
        return False
    options: dict[str, Any] = {"address": cluster}
    if cluster is None:
        options = {
            "address": "local",
            "num_cpus": processors,
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE_BYTES,
            "_node_ip_address": "127.0.0.1",
        }
    try:
        with _interrupt_deferred():
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise HanseError(
            f"Ray cannot start: {reason}; check with: hanse doctor, or run without it:"
            " --placement inline"
        ) from error
    return True


@contextmanager
def local_ray(processors: int) -> Iterator[Any]:
    """Starts Ray, hands out its module, stops it again.

    A cluster that ``RAY_ADDRESS`` names is not used: the tasks write into folders of this machine.

    Args:
        processors: How many tasks may run at the same time.
    """
    started = start_ray(processors, local=True)
    import ray

    try:
        yield ray
    finally:
        if started:
            ray.shutdown()


def _keep_to_loopback() -> None:
    os.environ[_LOOPBACK_ONLY] = "0"
    constants = sys.modules.get("ray._private.ray_constants")
    if constants is not None:  # Ray was imported before and has read the switch already.
        constants.ENABLE_RAY_CLUSTER = False  # type: ignore[attr-defined]


def _keep_to_this_process() -> None:
    """Gives Ray a token that nobody else has, unless the user has said what is to be.

    Loopback is open to every user of the machine. Ray asks for a token by itself, but one that it
    keeps in the user's home as the umask has it, for others to read; an environment is its owner's.
    """
    if not any(os.environ.get(name) for name in (_MODE, _TOKEN, f"{_TOKEN}_PATH")):
        os.environ[_TOKEN] = secrets.token_hex(32)


@contextmanager
def _interrupt_deferred() -> Iterator[None]:
    """Lets a Ctrl-C wait until the block is left; a second one does not.

    Ray's native part can crash the process when its start is broken off in the middle.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = False

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal came
        if came:
            raise KeyboardInterrupt
        came = True

    before = signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt

"""Starting Ray on this machine: on loopback only, quietly, and safe against an early Ctrl-C."""

from __future__ import annotations

import logging
import os
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

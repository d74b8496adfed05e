"""Ray on this machine, for commands that run tasks of their own."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from services.errors import HanseError

_OBJECT_STORE_BYTES = 100 * 2**20
"""Tasks pass configurations and results, a few kilobytes each."""


@contextmanager
def local_ray(processors: int) -> Iterator[Any]:
    """Start Ray, hand out its module, stop it again.

    A cluster that RAY_ADDRESS names is not used: the tasks write into folders of this machine.

    Args:
        processors: how many tasks may run at the same time.
    """
    import ray

    try:
        with _interrupt_deferred():
            _start(ray, processors)
        yield ray
    finally:
        ray.shutdown()


def _start(ray: Any, processors: int) -> None:
    try:
        ray.init(
            address="local",
            num_cpus=processors,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            object_store_memory=_OBJECT_STORE_BYTES,
            _node_ip_address="127.0.0.1",  # no name has to be looked up
        )
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise HanseError(f"Ray cannot start: {reason}; check with: hanse doctor") from error


@contextmanager
def _interrupt_deferred() -> Iterator[None]:
    """Let a Ctrl-C wait until the block is left; a second one does not.

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

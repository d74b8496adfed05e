"""Ray on this machine, for commands that run tasks of their own."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
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
    try:
        yield ray
    finally:
        ray.shutdown()

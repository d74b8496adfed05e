"""One Ray for all tests of a session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def ray_session() -> Iterator[None]:
    """Ray on this machine, started once and ended after the last test that needs it."""
    ray = pytest.importorskip("ray")
    from actors.local_ray import start_ray

    started = start_ray()
    yield
    if started:
        ray.shutdown()

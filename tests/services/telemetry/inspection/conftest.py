"""The play, once for all tests that only read it."""

from __future__ import annotations

import pytest

from services.telemetry.reader import TraceReader
from tests.services.telemetry.inspection.play import played


@pytest.fixture(scope="session")
def play(tmp_path_factory: pytest.TempPathFactory) -> TraceReader:
    return played(tmp_path_factory.mktemp("play") / "run")


@pytest.fixture(scope="session")
def cheaper(tmp_path_factory: pytest.TempPathFactory) -> TraceReader:
    """The play with a lower price from day 3 on."""
    return played(tmp_path_factory.mktemp("cheaper") / "run", last_ask=3.0)


@pytest.fixture(scope="session")
def two_towns(tmp_path_factory: pytest.TempPathFactory) -> TraceReader:
    """The play in two towns at once."""
    return played(tmp_path_factory.mktemp("towns") / "run", towns=("Luebeck", "Visby"))

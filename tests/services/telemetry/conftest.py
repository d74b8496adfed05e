"""What several tests of tracing stand on."""

from __future__ import annotations

import pytest

from services.runs.manifest import Manifest
from tests.services.telemetry.made_spans import coffee


@pytest.fixture
def manifest() -> Manifest:
    return coffee()

"""The speed of the environments is measured by a command of its own."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("gymnasium")

from policies.environments.speed import main, shares


def test_the_command_prints_rates_and_shares(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--envs", "2", "--seconds", "0.3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["economy"]["commands"] > told["economy"]["days"] > 0
    assert told["turn"]["steps"] > told["day"]["steps"] > 0
    for cadence in ("turn", "day"):  # every step is a call, and the others call, too
        assert told[cadence]["commands"] > told[cadence]["own"] > told[cadence]["steps"]
    assert told["league"]["decisions"] > 0


def test_shares_are_of_the_whole() -> None:
    assert sum(shares("day", 0.1).values()) == pytest.approx(1.0)

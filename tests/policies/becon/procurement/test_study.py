"""The league study: every arm meets the same course, and the claim can fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("safetensors", reason="a policy needs safetensors: make rl")

from policies.becon.procurement.study import ARMS, REGIMES, REPORTED, TUNING, Cell, run_study
from policies.becon.procurement.table import Table, described
from tests.policies.becon.procurement.untrained import written


def cell(arm: str, regime: str, seed: int, regret: float, violation: float) -> Cell:
    gate = {"severe": 0.9, "moderate": 0.6}.get(regime, 0.05)
    figures = (0.0, 0.5, 0.1, 0.0, 0.0, gate, gate, 0.0)
    return Cell(arm, regime, seed, regret, violation, *figures, log_sha256="")


def cells(becon: float) -> list[Cell]:
    regrets = {"oracle": 0.0, "exposed": 0.05, "history": 0.04, "becon": becon}
    return [
        cell(arm, regime, seed, regret + 0.001 * (seed % 3), regret)
        for arm, regret in regrets.items()
        for regime in REGIMES
        for seed in REPORTED[:4]
    ]


def table(found: list[Cell]) -> Table:
    return Table.of(found, 90, "p", 0.5, 1.0)


def test_the_claim_holds_where_becon_loses_less_than_either() -> None:
    assert table(cells(0.01)).passed


def test_the_claim_fails_where_one_rival_loses_less() -> None:
    found = table(cells(0.045))
    assert not found.passed
    missed = [check.name for check in found.demands if not check.passed]
    assert missed == ["safe regret: becon less history", "violations %: becon less history"]


def test_a_gate_that_trusts_the_belief_where_the_line_is_clean_fails_it() -> None:
    found = [
        replace(c, gate_w=0.4) if (c.arm, c.regime) == ("becon", "clean") else c
        for c in cells(0.01)
    ]
    assert [c.name for c in table(found).demands if not c.passed] == ["gate_w, clean line"]


def test_tuning_seeds_are_called_so_and_are_none_of_the_reported() -> None:
    assert not set(TUNING) & set(REPORTED)
    assert "TUNED" in described(TUNING)
    assert "held out" in described(REPORTED)


def test_whole_leagues_are_played_and_a_stopped_study_goes_on(tmp_path: Path) -> None:
    policy = written(tmp_path / "policy")
    arms = ("oracle", "base_stock")
    found = run_study(policy, [7], arms=arms, days=8, keep=tmp_path / "kept")
    assert [(c.arm, c.regime) for c in found] == [(a, r) for a in arms for r in REGIMES]
    assert all(c.safe_regret == 0.0 for c in found if c.arm == "oracle")
    # Who knows nothing of the budget breaks it; who keeps to the truth does not.
    assert sum(c.violation for c in found if c.arm == "base_stock") > 0
    assert sum(c.violation for c in found if c.arm == "oracle") == 0
    again = run_study(policy, [7], arms=arms, days=8, keep=tmp_path / "kept")
    assert [c.log_sha256 for c in again] == [c.log_sha256 for c in found]


def test_arms_differ_in_nothing_but_the_source_and_what_is_held_back() -> None:
    assert {key for arm in ARMS.values() for key in arm.keys} == {"source", "kappa"}

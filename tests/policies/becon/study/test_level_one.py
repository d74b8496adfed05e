from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="BECON needs torch: make rl")

import torch

from policies.becon.study.level_one import (
    METHODS,
    QUICK,
    LevelOne,
    Method,
    record_evidence,
    run_level_one,
    train_estimator,
)
from policies.becon.study.level_one_table import HOLDING_BACK, NOTE, Table, demands
from policies.becon.study.seeds import LEVEL_ONE, LEVEL_TWO, TUNING, described
from policies.environments.tradeoff_desk import CORRUPTIONS

SMALL = replace(
    QUICK,
    updates=10,
    sequences=16,
    gate_updates=100,
    line_updates=60,
    gate_episodes=12,
    episodes=40,
)


@pytest.fixture(scope="module")
def study() -> LevelOne:
    return run_level_one(0, SMALL)


def test_even_a_small_study_shows_that_gates_beat_either_source(study: LevelOne) -> None:
    least = min(study.mean_regret("exposed"), study.mean_regret("history"))
    assert study.mean_regret("becon") <= 0.85 * least


def test_nobody_beats_the_oracle(study: LevelOne) -> None:
    for regime in study.regimes.values():
        best = min(cell.safe_regret for cell in regime.cells.values())
        assert best == regime.cells["oracle"].safe_regret


def test_gates_trust_a_clean_line_and_distrust_a_bad_one(study: LevelOne) -> None:
    assert study.regimes["clean"].gate_w < 0.2
    assert study.regimes["severe"].gate_w > 0.6


def test_a_belief_without_feedback_falls_back_to_the_descriptor(study: LevelOne) -> None:
    regime = study.regimes["no_feedback"]
    assert regime.gate_w < 0.3
    assert regime.cells["becon"].safe_regret < 0.6 * regime.cells["history"].safe_regret


def test_a_line_that_is_only_late_is_found_out_by_what_it_does_not_explain(
    study: LevelOne,
) -> None:
    assert study.late.gate_w > study.regimes["clean"].gate_w + 0.03
    assert study.late.cells["becon"].safe_regret < study.late.cells["exposed"].safe_regret


def test_holding_back_spares_violations(study: LevelOne) -> None:
    for name in ("moderate", "severe"):
        cells = study.regimes[name].cells
        assert cells["becon_safe"].violation < cells["becon"].violation


def test_the_same_seed_gives_the_same_estimator_and_evidence() -> None:
    tiny = replace(SMALL, updates=2, gate_episodes=3)
    (one, losses), (other, again) = train_estimator(1, tiny), train_estimator(1, tiny)
    assert losses == again
    made = [record_evidence(each, "severe", [1, 2], tiny).belief for each in (one, other)]
    assert torch.equal(*made)


def test_the_table_has_a_row_for_each_method_and_regime_and_the_note_beside(
    study: LevelOne,
) -> None:
    table = Table.of([study])
    assert len(table.rows) == len(METHODS) * (len(CORRUPTIONS) + 1)
    severe = next(r for r in table.rows if (r.regime, r.method) == ("severe", "exposed"))
    assert severe.note == NOTE["severe"]["exposed"] == (0.152, 24.9)
    assert severe.safe_regret.mean == study.regimes["severe"].cells["exposed"].safe_regret
    assert Table.model_validate_json(table.model_dump_json()).rows[0].method == "oracle"


def test_a_study_that_finds_the_contrary_misses_its_demands(study: LevelOne) -> None:
    turned = {
        name: replace(
            regime,
            gate_w=1.0 - regime.gate_w,
            cells={**regime.cells, "becon": regime.cells["exposed"]},
        )
        for name, regime in study.regimes.items()
    }
    missed = {each.name for each in demands([replace(study, regimes=turned)]) if not each.passed}
    assert "(a) BECON / better of exposed, history" in missed
    assert "(c) g_w clean" in missed
    assert "(c) g_w severe" in missed


@pytest.mark.parametrize(("method", "counts"), [("becon_safe", True), ("becon_note", False)])
def test_cutting_violations_is_asked_of_our_way_to_hold_back_and_the_note_s_is_shown_beside_it(
    study: LevelOne, method: Method, counts: bool
) -> None:
    turned = {
        name: replace(regime, cells={**regime.cells, method: regime.cells["becon"]})
        for name, regime in study.regimes.items()
    }
    table = Table.of([replace(study, regimes=turned)])
    name = f"(d) severe: violations cut by {HOLDING_BACK[method]}"
    check = next(each for each in table.checks if each.name == name)
    assert not check.passed
    assert check.counts is counts
    asked = [each for each in table.checks if each.counts]
    assert table.passed == all(each.passed for each in asked)


def test_seeds_that_are_reported_are_none_of_those_that_were_tuned_on() -> None:
    assert not set(TUNING) & {*LEVEL_ONE, *LEVEL_TWO}
    assert "tuning" in described(TUNING)
    assert "tuning" not in described(LEVEL_ONE)

"""The studies of the note, section 5, small; ``python -m policies.concave`` has all of them."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from policies.concave import __main__ as command
from policies.concave.ascent import AscentSettings, ascend
from policies.concave.estimator import PlugIn
from policies.concave.objective import Objective
from policies.concave.softmax import SoftmaxTask
from policies.concave.study import bias, learning
from policies.concave.study.demands import Demand, demands
from policies.concave.study.learning import LearningRow, climb, pulls, run_bandit
from policies.concave.study.table import Study
from policies.concave.tabular import bandit


@cache
def rows_of_bias() -> list[bias.BiasRow]:
    return bias.run_bias(6000, 32_000)


@cache
def rows_of_learning() -> list[LearningRow]:
    return run_bandit(16, (500, 1500))


def test_the_fixed_policy_has_the_notes_derivative() -> None:
    world, policy = bias.fixed_world()
    J = world.expected(policy)
    assert bias.utilities(J)["shortfall"].grad(J)[1] == pytest.approx(0.91)


def test_plug_in_is_off_by_less_and_less_and_multi_level_is_not() -> None:
    found = {row.batch: row for row in rows_of_bias() if row.utility == "shortfall"}
    assert found[1].bias == pytest.approx(0.70, abs=0.1)
    assert found[1].deviation == pytest.approx(2.0, rel=0.1)
    biases = [found[batch].bias for batch in (1, 2, 4, 8)]
    assert biases == sorted(biases, reverse=True)
    assert found[8].bias > 3 * found[8].error
    assert abs(found[0].bias) < 3 * found[0].error
    assert found[0].deviation == pytest.approx(1.8, rel=0.15)
    assert found[0].trajectories == pytest.approx(9, rel=0.15)


def test_a_second_order_smooth_utility_does_not_need_it() -> None:
    found = {row.batch: row for row in rows_of_bias() if row.utility == "log"}
    assert found[1].bias == pytest.approx(0.016, abs=0.004)
    assert abs(found[8].bias) < 0.006
    assert abs(found[0].bias) < 0.006


def test_on_the_bandit_plug_in_stalls_and_multi_level_goes_on() -> None:
    gap = {(row.batch, row.iterations): row.gap for row in rows_of_learning()}
    assert gap[1, 1500] == pytest.approx(0.143, abs=0.003)
    assert gap[4, 1500] == pytest.approx(0.0167, abs=0.007)
    assert gap[11, 1500] > 0.8 * gap[11, 500]
    assert gap[0, 1500] < 0.6 * gap[0, 500]
    # The honest remark: early on its variance makes it worse than plug-in at the same cost.
    assert gap[0, 500] > gap[11, 500]


def test_multi_level_on_the_bandit_is_as_dear_as_plug_in_with_eleven() -> None:
    spent = {row.batch: row.trajectories for row in rows_of_learning()}
    assert spent[0] == pytest.approx(spent[11], rel=0.15)


def test_runs_at_once_follow_the_rule_of_the_loop() -> None:
    """A plug-in batch so large that nothing is random: the path of the exact gradient."""
    world = bandit(np.array(learning.ARMS), noise=0.0)
    f = learning.SHORTFALL
    path, _ = climb(
        world, f, pulls, batch=20_000, levels=1, iterations=30, runs=2, rate=0.2, seed=0
    )
    objective = Objective(f, estimator=PlugIn(20_000))
    settings = AscentSettings(iterations=30, divergence=None)
    made = ascend(SoftmaxTask(world), objective, settings)
    assert path.mean(axis=1) == pytest.approx(f.value(np.array(made.expected)), abs=0.01)
    assert path[-1, 0] - path[0, 0] > 0.07


def test_with_logarithms_both_reach_the_same() -> None:
    rows = learning.run_log(runs=4, iterations=150)
    found = [each for each in demands(rows_of_bias(), rows) if each.name.startswith("(e)")]
    assert [each.value for each in found] == [pytest.approx(1.0, abs=0.1)]


def test_a_demand_is_met_within_its_bounds_only() -> None:
    assert Demand("x", 0.5, least=0.4, most=0.6).met
    assert not Demand("x", 0.3, least=0.4).met
    assert not Demand("x", 0.7, most=0.6).met
    assert not Demand("x", math.nan, most=0.6).met
    assert Demand("x", 0.5, 0.4, 0.6).asked == "0.4 to 0.6"


def learned(batch: int, iterations: int, gap: float) -> LearningRow:
    return LearningRow("bandit", 0.2, str(batch), batch, iterations, gap, 0.0, 1.0, 1)


def test_a_stall_that_is_none_and_a_gain_that_is_none_are_missed() -> None:
    rows = [learned(11, 4000, 0.002), learned(11, 20_000, 0.001)]
    rows += [learned(0, 4000, 0.001), learned(0, 20_000, 0.0007)]
    found = {each.name[:3]: each.met for each in demands(rows_of_bias(), rows)[:3]}
    assert found == {"(a)": False, "(b)": False}


def test_the_table_of_the_command_is_written_as_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [row for row in rows_of_learning() if row.iterations == 500]
    asked = [Demand("(c) x", 0.1, most=0.5), Demand("(e) y", 2.0, most=1.1)]
    study = Study(True, rows_of_bias(), few, asked, "here", 1.0)
    monkeypatch.setattr(command, "run_study", lambda quick, progress: study)
    app = typer.Typer()
    app.command()(command.main)
    result = CliRunner().invoke(app, ["--quick", "--json", str(tmp_path / "x.json")])
    assert result.exit_code == 1
    assert "MISSED" in result.output and "Run once, 1 CPU seconds on here." in result.output
    written = json.loads((tmp_path / "x.json").read_text())
    assert [each["met"] for each in written["demands"]] == [True, False]
    assert written["bias"][0]["estimator"] == "plug-in 1"


def test_what_a_verdict_in_brackets_means_is_said_under_the_table() -> None:
    def verdicts(*rows: Demand) -> Any:
        return Study(True, [], [], list(rows), "here", 1.0).rich()[-1]

    asked, shown = Demand("x", 2.0, most=1.1), Demand("y", 2.0, most=1.1, counts=False)
    assert verdicts(asked).caption is None
    both = verdicts(asked, shown)
    assert list(both.columns[-1].cells) == ["MISSED", "(MISSED)"]
    assert "In brackets" in both.caption

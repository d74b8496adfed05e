from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from policies.balanced.baselines import BASELINES
from policies.balanced.study import (
    NOTED,
    OURS,
    Row,
    Table,
    demands_of_rules,
    three_against_one,
)


def rows(ours: float, skewed: float) -> dict[str, Row]:
    made = {}
    for rule in NOTED:
        worst = ours if rule.startswith("balanced") else 1.0
        other = skewed if rule.startswith("balanced") else 1.0
        made[rule] = Row(
            rule=rule,
            equal_worst=worst,
            equal_mean=0.3,
            skewed_worst=other,
            skewed_mean=0.3,
            equal_spread=0.1,
        )
    return made


@pytest.mark.parametrize(
    ("ours", "skewed", "expected"),
    [
        (0.6, 0.6, [True, True, True, True]),
        (0.61, 0.61, [False, False, True, True]),
        (0.5, 0.500002, [True, True, False, False]),
    ],
)
def test_demands_are_met_or_missed_at_their_bounds(
    ours: float, skewed: float, expected: list[bool]
) -> None:
    assert [check.passed for check in demands_of_rules(rows(ours, skewed))] == expected


def test_the_table_shows_every_rule_beside_the_note() -> None:
    table = Table(
        rows=tuple(rows(0.5, 0.5).values()),
        opposed=three_against_one(draws=2),
        checks=tuple(demands_of_rules(rows(0.5, 0.5))),
        seeds=1,
        cpu_seconds=1.0,
    )
    console = Console(width=160, file=StringIO())
    console.print(table.rich())
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(rule in shown for rule in NOTED)
    assert "0.50 (0.36)" in shown
    assert table.passed


def test_no_rule_is_left_out_of_the_study() -> None:
    assert set(NOTED) == {*BASELINES, *OURS}

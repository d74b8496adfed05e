"""The numbers that a training goes on with: each within what it can be."""

from __future__ import annotations

from typing import Any

import pytest

from policies.training.choice import Verdict
from policies.training.kept_numbers import KeptNumbers, kept_numbers
from policies.training.settings import TrainingConfig

CONFIG = TrainingConfig.parse({"lagrangian": {"enabled": True, "start": 2.0, "most": 4.0}}, "file")
SAVED = {
    "iteration": 3,
    "best": -7.5,
    "best_excess": 0.1,
    "prices": {"roaster": 4.0},
    "acting_costs": {"roaster": 1.0},
}


def test_numbers_come_back_as_they_were_kept() -> None:
    expected = KeptNumbers(3, Verdict(-7.5, 0.1), {"roaster": 4.0}, {"roaster": 1.0})
    assert kept_numbers(SAVED, ["roaster"], CONFIG) == expected


def test_a_checkpoint_of_before_prices_were_kept_begins_at_the_first_price() -> None:
    found = kept_numbers({"iteration": 0, "best": None}, ["roaster"], CONFIG)
    assert found == KeptNumbers(0, None, {"roaster": 2.0}, {})


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("prices", {"roaster": 4.1}, r"prices: roaster: 4\.1; allowed: 0 to 4"),
        ("prices", {"roaster": -1.0}, "prices: roaster: -1; allowed: 0 to 4"),
        ("prices", {"roaster": float("nan")}, "prices: roaster: nan; allowed: 0 to 4"),
        ("acting_costs", {"roaster": float("nan")}, "acting_costs: roaster: nan; allowed: 0 to 1"),
        ("acting_costs", {"roaster": 1.5}, r"acting_costs: roaster: 1\.5; allowed: 0 to 1"),
        ("best", float("nan"), "best: nan; allowed: a finite number"),
        ("best_excess", float("inf"), "best_excess: inf; allowed: 0 to 1"),
    ],
)
def test_a_number_that_cannot_be_is_named_with_what_is_allowed(
    key: str, value: Any, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        kept_numbers({**SAVED, key: value}, ["roaster"], CONFIG)

"""The (s, S) rule: at or below the reorder point, order up to the level."""

from __future__ import annotations

import pytest

from policies.base_stock import BaseStock
from services.errors import HanseError


@pytest.mark.parametrize(
    ("position", "ordered"),
    [(100, 0), (75, 0), (61, 0), (60, 15), (59, 16), (1, 74), (0, 75), (-10, 85)],
)
def test_above_the_reorder_point_nothing_is_ordered_and_else_up_to_the_level(
    position: int, ordered: int
) -> None:
    assert BaseStock(reorder_at=60, up_to=75).order(position) == ordered


@pytest.mark.parametrize(("position", "ordered"), [(61, 0), (60, 15), (46, 29), (45, 30), (0, 30)])
def test_an_order_is_never_larger_than_the_most(position: int, ordered: int) -> None:
    assert BaseStock(reorder_at=60, up_to=75, most=30).order(position) == ordered


def test_after_an_order_has_arrived_nothing_more_is_ordered() -> None:
    rule = BaseStock(reorder_at=3, up_to=10)
    for position in range(-5, 12):
        assert rule.order(position + rule.order(position)) == 0


@pytest.mark.parametrize("up_to", [5, 4, -1])
def test_a_level_that_is_not_above_the_reorder_point_is_refused(up_to: int) -> None:
    with pytest.raises(HanseError, match=rf"up_to = {up_to} must be above reorder_at = 5"):
        BaseStock(reorder_at=5, up_to=up_to)

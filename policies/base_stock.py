"""The (s, S) base-stock rule, the classical yardstick of inventory control.

When the inventory position (on hand plus on order) has fallen to ``s`` or below, order up to ``S``
(Scarf 1960; optimal for a fixed cost of ordering and convex holding and shortage costs).
"""

from __future__ import annotations

from dataclasses import dataclass

from services.errors import HanseError


@dataclass(frozen=True, slots=True)
class BaseStock:
    """Order ``up_to - position`` when ``position <= reorder_at``; at most ``most`` at a time."""

    reorder_at: int
    up_to: int
    most: int | None = None

    def __post_init__(self) -> None:
        if self.up_to <= self.reorder_at:
            raise HanseError(
                f"a base-stock rule orders up to more than it reorders at:"
                f" up_to = {self.up_to} must be above reorder_at = {self.reorder_at}"
            )

    def order(self, position: int) -> int:
        """Kilograms to order at this inventory position."""
        if position > self.reorder_at:
            return 0
        qty = self.up_to - position
        return qty if self.most is None else min(qty, self.most)

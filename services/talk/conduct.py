"""How much what a firm expects of prices moves what it does.

Each is an exponent of the expected factor: at 0 it would not matter, at 1 in proportion. Sellers
are slow to change what they ask (sticky prices), buyers are quick to hold back, and stocks are run
down before prices fall, or filled before they rise. What is expected within a tenth of the normal
price moves nothing, and all is bounded, so that an honest league trades as if nobody talked.
"""

from __future__ import annotations

from typing import Final

ASK: Final = 0.4
BID: Final = 1.0
STOCK: Final = 2.0
SHELF: Final = 1.0
RESERVE: Final = 1.35
"""A buyer pays at most this times what it expects of the price."""
DEAD_BAND: Final = 0.1
STEP: Final = 0.05
LEAST: Final = 0.5
MOST: Final = 1.8


def effect(view: float) -> float:
    """The factor that a firm acts on when it expects ``view``: in steps, bounded, 1 if near it."""
    if abs(view - 1.0) < DEAD_BAND:
        return 1.0
    return min(MOST, max(LEAST, round(round(view / STEP) * STEP, 2)))

"""Attack by talk: a firm tells its neighbours that prices are about to collapse."""

from __future__ import annotations

from actors.injections.rumour import Rumour
from services.talk.payloads import MarketNote


class PriceRumour(Rumour):
    """The origin's notes to its neighbours tell the story."""

    payloads = (MarketNote,)

"""Two buyers who want the same goods: on each of two days their bids exceed what ann lists.

* Day 0: ann lists 40 kg (L1); bob and cid bid for all of it; ann tries to accept both bids.
* Day 1: ann lists 35 kg (L2); bob and cid bid for 30 kg each; ann tries to accept both.
"""

from __future__ import annotations

from pathlib import Path

from actors.league import League
from actors.strategies import DailyPlan, Plan
from services.config import FirmConfig
from services.economy import commands as c
from services.runs import Run
from services.telemetry.reader import TraceReader
from tests.services.telemetry.inspection.play import GREEN, config

LISTED = (40, 35)
WANTED = (40, 30)


class Lister(DailyPlan):
    """Lists in the morning; accepts every bid later, the newest first."""

    def day(self) -> Plan:
        if self.today < len(LISTED):
            yield c.PostListing(item_id=GREEN, qty=LISTED[self.today], asking_price=4.0)
            yield c.ViewTrialBalance()
            yield c.ViewTrialBalance()
            rows = (yield c.ViewOffers(direction="incoming")).data.rows  # type: ignore[union-attr]
            for offer in sorted(rows, key=lambda row: row.buyer, reverse=True):
                yield c.AcceptOffer(offer_id=offer.id)


class Bidder(DailyPlan):
    """Bids for the first listing that it sees."""

    def day(self) -> Plan:
        if self.today < len(WANTED):
            yield c.ViewTrialBalance()
            for row in (yield c.ViewListings(item_id=GREEN)).data.rows:  # type: ignore[union-attr]
                yield c.MakeOffer(listing_id=row.id, offered_price=4.0, qty=WANTED[self.today])


def rivalry(folder: Path) -> TraceReader:
    """These two days, on a run's folder."""
    firms = [
        FirmConfig(
            name=name,
            role=role,  # type: ignore[arg-type]
            strategy=f"{__name__}:{strategy}",
            stock={GREEN: 80} if name == "ann" else {},
        )
        for name, role, strategy in (
            ("ann", "farmer", "Lister"),
            ("bob", "roaster", "Bidder"),
            ("cid", "roaster", "Bidder"),
        )
    ]
    with League.create(config(days=3).model_copy(update={"firms": firms}), folder) as league:
        league.run()
    return TraceReader(Run(folder))

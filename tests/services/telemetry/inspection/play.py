"""A short play in which every question has a known answer: three firms, six days.

Ann grows coffee, bob roasts it, cid sells it.

* Day 0: ann lists 60 kg at 4.00 (L1); bob bids 3.90 for 30 kg, to be paid within a day (O1); ann
  accepts (D1).
* Day 1: the goods arrive, due on day 2 (I1). Bob roasts all of them and writes to cid. Ann lists
  the rest at 4.50 (L2), cid bids 2.00 for some (O2), which ann leaves unanswered.
* Day 2: bob lists what he has roasted (L3), and is refused a bid on L1, which L2 has replaced. Cid
  buys all of it (O3, D2): bob has none left.
* Day 3: ann lists the rest at 3.50 (L4).
* Day 4: bob looks at his bills and pays I1, two days late.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actors.league import League
from actors.strategies import DailyPlan, Plan
from services.config import EconomyConfig, FirmConfig, RunConfig
from services.economy import commands as c
from services.runs import Run
from services.telemetry.reader import TraceReader

GREEN, ROASTED = "green_coffee_kg", "roasted_coffee_kg"
STOCK: dict[str, dict[str, int]] = {"ann": {GREEN: 60}, "bob": {}, "cid": {}}


class Ann(DailyPlan):
    """A farmer who accepts fair bids."""

    def __init__(self, firm: str, role: str, last_ask: float = 3.5) -> None:
        super().__init__(firm, role)
        self.asks = {0: 4.0, 1: 4.5, 3: last_ask}

    def day(self) -> Plan:
        if self.today in self.asks:
            stock = (yield c.ViewTrialBalance()).data.stock[GREEN]  # type: ignore[union-attr]
            yield c.PostListing(item_id=GREEN, qty=stock, asking_price=self.asks[self.today])

    def news(self) -> Plan:
        for offer in (yield c.ViewOffers(direction="incoming")).data.rows:  # type: ignore[union-attr]
            if offer.price >= 3.9:
                yield c.AcceptOffer(offer_id=offer.id)


class Bob(DailyPlan):
    """A roaster who roasts once and pays late."""

    def day(self) -> Plan:
        if self.today == 0:
            yield c.ViewTrialBalance()
            yield c.ViewPayables()
            for row in (yield c.ViewListings(item_id=GREEN)).data.rows:  # type: ignore[union-attr]
                yield c.MakeOffer(
                    listing_id=row.id, offered_price=3.9, qty=30, payment_terms_days=1
                )
        if self.today == 1:
            yield c.Roast(green_item_id=GREEN, qty_kg=30)
            yield c.SendMessage(recipient="cid", title="[red]soon", body="coffee is on its way")
        if self.today == 2:
            stock = (yield c.ViewTrialBalance()).data.stock[ROASTED]  # type: ignore[union-attr]
            yield c.PostListing(item_id=ROASTED, qty=stock, asking_price=12.0)
            yield c.MakeOffer(listing_id="L1", offered_price=4.0, qty=5)
        if self.today == 4:
            yield c.ViewPayables()
            yield c.PayInvoice(invoice_id="I1")

    def news(self) -> Plan:
        for offer in (yield c.ViewOffers(direction="incoming")).data.rows:  # type: ignore[union-attr]
            yield c.AcceptOffer(offer_id=offer.id)


class Cid(DailyPlan):
    """A retailer who bids too little for green coffee, and buys all that is roasted."""

    def day(self) -> Plan:
        item = {1: GREEN, 2: ROASTED}.get(self.today)
        if item is not None:
            yield c.ViewTrialBalance()
            yield c.ViewPayables()
            for row in (yield c.ViewListings(item_id=item)).data.rows:  # type: ignore[union-attr]
                price, qty = (2.0, 3) if item == GREEN else (12.0, row.qty)
                yield c.MakeOffer(listing_id=row.id, offered_price=price, qty=qty)


def config(last_ask: float = 3.5, towns: tuple[str, ...] = (), days: int = 6) -> RunConfig:
    """The play, in each of some towns; there the firms bear the town's name, too."""
    cast = (("ann", "farmer"), ("bob", "roaster"), ("cid", "retailer"))
    firms = [
        FirmConfig(
            name=f"{name}_{town}" if town else name,
            role=role,  # type: ignore[arg-type]
            town=town or None,
            strategy=f"{__name__}:{name.capitalize()}",
            stock=STOCK[name],
            options={"last_ask": last_ask} if name == "ann" else {},
        )
        for town in towns or ("",)
        for name, role in cast
    ]
    calm = EconomyConfig(loss_probability=0.0, delay_probability=0.0, spoilage_per_day=0.0)
    more: dict[str, Any] = {"towns": [{"name": town} for town in towns]} if towns else {}
    return RunConfig(days=days, placement="inline", firms=firms, economy=calm, **more)


def played(folder: Path, **how: Any) -> TraceReader:
    """The play, on a run's folder."""
    with League.create(config(**how), folder) as league:
        league.run()
    return TraceReader(Run(folder))

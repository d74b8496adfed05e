"""What a firm has looked at when it decides: the very objects that a strategy in a league gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from services.economy.commands import (
    Command,
    ViewListings,
    ViewOffers,
    ViewPayables,
    ViewTrialBalance,
)
from services.economy.observation import Observation
from services.economy.results import (
    InvoiceRow,
    InvoicesView,
    Listing,
    ListingsView,
    Offer,
    OffersView,
    Result,
    TrialBalance,
)

LOOKS: Final[tuple[Command, ...]] = (
    ViewTrialBalance(),
    ViewPayables(limit=40),
    ViewOffers(),
    ViewListings(only_others=False),
)
"""The calls with which every firm begins its day; what ages fastest comes last.

They are equally many for every role, so that all firms decide at the same minute of a day.
"""


class FirmView(NamedTuple):
    """A firm's knowledge at the time of a decision; dollars and kilograms.

    Parts that a firm has not been told (a turn was lost) are empty.
    """

    firm: str
    role: str
    day: int
    observation: Observation | None = None
    """What came with the morning's turn."""
    books: TrialBalance | None = None
    payables: tuple[InvoiceRow, ...] = ()
    """Open invoices to pay, by due day."""
    offers: tuple[Offer, ...] = ()
    """Pending bids, received and made."""
    listings: tuple[Listing, ...] = ()
    """Open listings of all firms, the own ones too."""


def view_of(
    firm: str,
    role: str,
    day: int,
    observation: Observation | None,
    results: Sequence[Result | None],
) -> FirmView:
    """The view after the day's looks.

    Args:
        firm: The firm's name.
        role: farmer, roaster or retailer.
        day: The day.
        observation: What came with the morning's turn, if anything did.
        results: The outcome of each of :data:`LOOKS`; ``None`` for one that was lost.
    """
    books, payables, offers, listings = (None if r is None else r.data for r in results)
    return FirmView(
        firm=firm,
        role=role,
        day=day,
        observation=observation,
        books=books if isinstance(books, TrialBalance) else None,
        payables=payables.rows if isinstance(payables, InvoicesView) else (),
        offers=offers.rows if isinstance(offers, OffersView) else (),
        listings=listings.rows if isinstance(listings, ListingsView) else (),
    )

"""Two rule books: the original's behaviour to the cent, and ours with its defects mended.

Each field is one decision on which the two differ; ``W1`` to ``W15`` are the weaknesses listed in
the note on CoffeeBench (arXiv 2606.16613). ``services/economy/RULES.md`` tells the same as a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from services.errors import HanseError

RulesName = Literal["hanse", "coffeebench"]


@dataclass(frozen=True, slots=True)
class Rules:
    """One rule book. The defaults are the mended rules."""

    name: RulesName = "hanse"

    shuffled_dispatch: bool = True
    """W2: calls of one bucket are applied in a seeded random order, not always farmer_A first."""
    calls_per_day: int | None = 20
    """W3: a hard limit of tool calls a firm and day; ``None``: nominal only."""
    extra_turns: bool = False
    """W3: an external wake gives a firm that has already acted a second turn in the same minute."""
    named_random_streams: bool = True
    """Luck is drawn by purpose (day and item; seller, buyer and their n-th deal), so that one
    firm's decisions do not change another's luck and a short run is a prefix of a long one."""
    full_recent_window: bool = True
    """W4: the observation's "since yesterday" shows yesterday, also to a firm that was active."""
    income_frozen_at_bankruptcy: bool = True
    """W5: no entry reaches the income of a bankrupt firm any more."""
    bankruptcies_together: bool = True
    """Fairness: who is insolvent in the same minute is declared bankrupt together, so that nobody's
    score is frozen with claims on another of them, and the order of the firms does not matter."""
    early_stop_finishes_day: bool = True
    """W6: a run that stops early closes its last day and reports it as the final day."""
    bankruptcy_ends_trade: bool = True
    """W7: listings close, pending offers lapse, goods on their way to the bankrupt firm return."""
    returns_at_original_cost: bool = True
    """W8: returned goods come back at the cost at which they left, so that both books balance."""
    refunds_never_negative: bool = True
    """W8: what a seller cannot refund now, it owes (a new invoice on the seller)."""
    delays_roll_once: bool = True
    """W9: a delayed shipment arrives the day after for certain."""
    loss_is_announced: bool = True
    """W9: both sides are told of a loss or a delay, and the deal shows it."""
    fee_on_unpaid_balance: bool = True
    """W10: the late fee is taken on what is unpaid, not on the original amount."""
    numbers_checked: bool = True
    """W12: prices are ``min_price`` to ``max_price``, terms 0 to ``max_terms_days``."""
    weighted_price_index: bool = True
    """W13: consumers see the share-weighted mean price, so no shop can price a rival to death."""
    honest_listings: bool = True
    """W14: a new listing of an item replaces the seller's older ones and takes over their bids; no
    listing offers more than the seller holds; listings and offers expire."""
    extended_commands: bool = True
    """W14: ``cancel_listing``, ``reject_offer`` and part payment exist."""
    credit_limited: bool = True
    """W14: a buyer's open payables and purchases under way stay within ``credit_limit``."""
    restocking_fee: float = 0.1
    """W14: the share of the price that a buyer who sends goods back does not get back."""
    credit_of_whole_deal: bool = True
    """Exploit: the credit for returned goods is rounded on all that came back of a deal, not on
    each call, so that many small returns give no more than one large one."""
    stock_written_down: bool = True
    """W14: stock that cost more than consumers pay for what becomes of it is written down, every
    evening, at its owner's bankruptcy and after the last delivery."""
    demand_hidden: bool = True
    """Leak: ``view_consumer_sales`` shows a shop its own sales only, not the market's size."""
    yield_of_whole_day: bool = True
    """Exploit: the yield is rounded on a day's roasting as a whole, not on each call, so that many
    small roasts make no more than one large one."""

    min_price: float = 0.01
    max_price: float = 10_000.0
    max_terms_days: int = 60
    listing_days: int = 7
    """Days after which a listing or a pending offer lapses."""
    credit_limit: float = 15_000.0


HANSE = Rules()
COFFEEBENCH = Rules(
    name="coffeebench",
    shuffled_dispatch=False,
    calls_per_day=None,
    extra_turns=True,
    named_random_streams=False,
    full_recent_window=False,
    income_frozen_at_bankruptcy=False,
    bankruptcies_together=False,
    early_stop_finishes_day=False,
    bankruptcy_ends_trade=False,
    returns_at_original_cost=False,
    refunds_never_negative=False,
    delays_roll_once=False,
    loss_is_announced=False,
    fee_on_unpaid_balance=False,
    numbers_checked=False,
    weighted_price_index=False,
    honest_listings=False,
    extended_commands=False,
    credit_limited=False,
    restocking_fee=0.0,
    credit_of_whole_deal=False,
    stock_written_down=False,
    demand_hidden=False,
    yield_of_whole_day=False,
)


def rules_named(name: str) -> Rules:
    """The rule book of that name.

    Raises:
        HanseError: there is no such rule book.
    """
    for rules in (HANSE, COFFEEBENCH):
        if rules.name == name:
            return rules
    raise HanseError(f"rules {name!r} do not exist; allowed: hanse, coffeebench")

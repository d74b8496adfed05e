"""Firms that talk and believe: the scripted firm of its role, which hears what others say.

Every working hour it writes notes to its neighbours, writes on its town's board and reads it, asks
the forecaster, and asks its suppliers how its orders stand. What it comes to believe moves what it
asks, bids, grows, stocks and charges, so a wrong belief costs money; too many requests cost it
turns. With nothing to believe it trades as the scripted firm does, to the cent.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING, Any, Final

from actors.measures import Advisory
from actors.strategies.scripted import (
    BID_SHARE,
    Scripted,
    ScriptedFarmer,
    ScriptedRetailer,
    ScriptedRoaster,
)
from actors.strategies.strategy import Plan
from services.economy import commands as c
from services.economy.catalogue import GREEN, GREEN_SPECIALTY, ROASTED, ROASTED_SPECIALTY
from services.economy.generator import STANDARD_ASKS
from services.economy.results import Listing
from services.messages import MINUTES_PER_DAY, Channel, Message
from services.talk.conduct import ASK, BID, RESERVE, SHELF, STOCK, effect
from services.talk.hours import FIRST_HOUR, next_hour
from services.talk.load import CAPACITY, UNITS, Load
from services.talk.mind import Mind, Temper
from services.talk.payloads import (
    BoardRead,
    BoardView,
    BoardWrite,
    Forecast,
    ForecastRequest,
    MarketNote,
    StatusReply,
    StatusRequest,
    told,
)

if TYPE_CHECKING:
    from actors.context import Context
    from actors.exchange import Turn

NOTES: Final = 0.55
"""Notes to each neighbour in an hour (note, section 10.1; so are the other rates)."""
ENTRIES: Final = 0.25
QUESTIONS: Final = 0.20
ENQUIRIES: Final = 0.45
REPEATS: Final = 0.8
"""The same for requests that have not been answered well."""
SHARE: Final = 0.85
"""How much of what it says a full conviction takes up."""
LOST: Final = 0.9
"""The chance of a turn to come to nothing while there is more work than the firm can do."""
_TELLING: Final = 0.1
"""Beliefs are recorded when they have moved by so much, on a logarithmic scale."""
_NORMAL: Final = STANDARD_ASKS["farmer"] | STANDARD_ASKS["roaster"]
_BUSY = c.ViewTrialBalance()
_BOARD_READ = BoardRead()


class Informed(Scripted):
    """What all informed firms share; a base besides that of the scripted firm of a role.

    Args:
        firm: The firm's name.
        role: farmer, roaster or retailer.
        neighbours: Whom it writes notes to.
        board: The board that it writes on and reads; empty: none.
        forecaster: Whom it asks for forecasts; empty: nobody.
        suppliers: Whom it asks how its orders stand.
        trust: From 0 (nobody convinces it) to 1.
        adoption: How easily it is convinced.
        rate: How much it talks, as a multiple of the usual.
        capacity: The work that it can do in an hour; an ordinary request takes one unit.
        options: Those of the scripted firm.
    """

    def __init__(
        self,
        firm: str,
        role: str,
        neighbours: Sequence[str] = (),
        board: str = "",
        forecaster: str = "",
        suppliers: Sequence[str] = (),
        trust: float = 0.8,
        adoption: float = 0.8,
        rate: float = 1.0,
        capacity: float = CAPACITY,
        **options: Any,
    ) -> None:
        super().__init__(firm, role, **options)
        for name, value, most in (
            ("trust", trust, 1),
            ("adoption", adoption, 1),
            ("rate", rate, 10),
            ("capacity", capacity, 1_000_000),
        ):
            if not 0 <= value <= most:
                raise TypeError(f"{name}: {value} does not fit; allowed: 0 to {most}")
        self.neighbours = tuple(neighbours)
        self.board = board
        self.forecaster = forecaster
        self.suppliers = tuple(suppliers)
        self.rate = rate
        self.mind = Mind(trust, Temper(adoption=adoption))
        self.work = Load(capacity)
        self.loudness = 1.0
        """How much more than usual it talks for the time being."""
        self.openness = 1.0
        """How much more easily than usual it is convinced for the time being."""
        self.share = SHARE
        """How much of what it says a full conviction takes up."""
        self._normal_asks = dict(self.asks)
        self._told: dict[str, float] = {}
        """The beliefs recorded last, where they are not 1."""
        self._was_overloaded = False
        self._lost: Turn | None = None
        """The last turn while turns are lost, with all that the plan has not been told."""

    # ---- talking ---------------------------------------------------------------------------------

    def contacts(self) -> dict[str, tuple[Channel, ...]]:
        """Neighbours, board, forecaster, suppliers; and who asks how their orders stand hears."""
        found: dict[str, tuple[Channel, ...]] = {}
        for channel, names in (
            ("comm", self.neighbours),
            ("mem", (self.board,) if self.board else ()),
            ("tool", (self.forecaster,) if self.forecaster else ()),
            ("exec", self.suppliers),
        ):
            for name in names:
                found[name] = (*found.get(name, ()), channel)  # type: ignore[arg-type]
        return found

    def be_normal(self) -> None:
        """Undoes what was done to it for the time being."""
        self.share, self.loudness, self.openness = SHARE, 1.0, 1.0

    def start(self, context: Context) -> None:
        """Asks to be woken for the first working hour."""
        context.wake_at(FIRST_HOUR * 60)

    def wake(self, context: Context) -> None:
        """A working hour: talks, reads, asks."""
        rng = context.rng("talk")
        self.work.hour(context.now % MINUTES_PER_DAY == FIRST_HOUR * 60)
        self.mind.hour(rng)
        self._note_beliefs(context)
        self._note_overload(context)
        much = self.rate * self.loudness
        for neighbour in self.neighbours:
            for _ in range(_times(NOTES * much, rng.random())):
                context.send(neighbour, told(MarketNote, self.mind.compose(rng, self.share)))
        if self.board:
            for _ in range(_times(ENTRIES * much, rng.random())):
                context.send(self.board, told(BoardWrite, self.mind.compose(rng, self.share)))
            for _ in range(_times(ENTRIES * much, rng.random())):
                context.send(self.board, _BOARD_READ)
        if self.forecaster:
            for _ in range(_times(QUESTIONS * much, rng.random())):
                context.send(
                    self.forecaster, told(ForecastRequest, self.mind.compose(rng, self.share))
                )
        for supplier in self.suppliers:
            self._enquire(supplier, much, context)
        context.wake_at(next_hour(context.now))

    def _enquire(self, supplier: str, much: float, context: Context) -> None:
        rng, attempt = context.rng("talk"), self.work.open.get(supplier, 0)
        # Who is in the mood to ask more does not insist more on what is open.
        often = REPEATS * self.rate if attempt else ENQUIRIES * much
        for _ in range(_times(often, rng.random())):
            figures = self.work.figures(rng)
            request = StatusRequest.trusted(**figures, attempt=attempt, units=UNITS[attempt])
            context.send(supplier, request)

    def heard(self, message: Message, context: Context) -> None:
        """Takes in what others say, answers those who ask, and heeds advisories.

        Told that something false is about, it believes nothing that it was only told since, and
        asks nobody again what was not answered well, for if it is a storm that would feed it.
        """
        payload = message.payload
        if isinstance(payload, MarketNote | BoardView | Forecast):
            rng = context.rng("listen")
            if self.mind.listen(payload.heard(), rng, self.openness, context.now):
                self._note_beliefs(context)
        elif isinstance(payload, StatusRequest):
            rng = context.rng("listen")
            good = self.work.asked(payload.units, rng)
            self._note_overload(context)
            reply = StatusReply.trusted(
                **self.work.figures(rng), ok=good, attempt=payload.attempt, units=payload.units
            )
            context.reply(message, reply)
        elif isinstance(payload, StatusReply):
            if payload.ok or context.now >= self.mind.wary_until:
                self.work.answered(message.sender, payload.ok)
        elif isinstance(payload, Advisory):
            # Whoever else was told the same may have repeated it in this hour before being warned.
            self.mind.doubt(payload.since, max(payload.until, next_hour(context.now)))
            self.work.open.clear()
            self._note_beliefs(context)
        else:
            super().heard(message, context)

    def _note_beliefs(self, context: Context) -> None:
        """Records what it believes of prices where that has moved, and acts on it from now on."""
        if not (self.mind.convictions or self._told):
            return
        views = self.mind.views()
        moved = False
        for item in views or dict(self._told):
            view = views.get(item, 1.0)
            if abs(log(view / self._told.get(item, 1.0))) < _TELLING and views:
                continue
            moved = True
            context.record("belief", self.firm, {"item": item, "factor": round(view, 3)})
            if views:
                self._told[item] = view
            else:
                del self._told[item]
        if moved:
            self._reprice()

    def _note_overload(self, context: Context) -> None:
        now = self.work.overloaded
        if now != self._was_overloaded:
            self._was_overloaded = now
            kind = "overloaded" if now else "recovered"
            context.record(kind, self.firm, {"load": round(self.work.share, 3)})

    # ---- trading ---------------------------------------------------------------------------------

    def expects(self, item: str) -> float:
        """The price that it goes by, as a multiple of the normal one: 1 unless it is sure."""
        return effect(self._told.get(item, 1.0))

    def _reprice(self) -> None:
        self.asks = {
            item: round(ask * self.expects(item) ** ASK, 2)
            for item, ask in self._normal_asks.items()
        }

    def bid_for(self, listing: Listing) -> float:
        """Less if it expects prices to fall, and never more than it thinks the goods worth."""
        expected = self.expects(listing.item)
        bid: float = BID_SHARE * listing.asking_price * min(1.0, expected) ** BID
        worth = RESERVE * _NORMAL.get(listing.item, listing.asking_price) * expected
        return round(min(bid, worth), 2)

    def buy(self, listings: tuple[Listing, ...], item: str, want: int) -> Plan:
        """Stocks up before prices rise, and runs its stock down before they fall."""
        more = self.expects(item) ** STOCK - 1.0
        if more:
            want += round(self.stock_target(item) * more)
        yield from super().buy(listings, item, want)

    def stock_target(self, item: str) -> int:
        """The stock that it keeps in normal times, kilograms."""
        return {GREEN: 75, GREEN_SPECIALTY: 20, ROASTED: 45, ROASTED_SPECIALTY: 10}.get(item, 0)

    def decide(self, turn: Turn, context: Context) -> c.Command:
        """As the scripted firm; while it has too much work, most turns come to nothing."""
        if self._lost is not None and self._lost.day == turn.day:
            # The result is that of a lost turn; the plan is told its own when it goes on.
            kept = {"result": self._lost.result, "reason": turn.reason or self._lost.reason}
            turn = turn.model_copy(update=kept)
        if self.work.overloaded and context.rng("work").random() < LOST:
            self._lost = turn
            return _BUSY
        self._lost = None
        return super().decide(turn, context)

    # ---- memory ----------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Its mind, its work, and what the scripted firm remembers."""
        return {
            "scripted": super().save(),
            "mind": self.mind.save(),
            "work": self.work.save(),
            "told": self._told,
            "overloaded": self._was_overloaded,
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Goes on from :meth:`save`."""
        if saved["scripted"] is not None:
            super().load(saved["scripted"])
        self.mind.load(saved["mind"])
        self.work.load(saved["work"])
        self._told = dict(saved["told"])
        self._was_overloaded = saved["overloaded"]
        self._reprice()


class InformedFarmer(Informed, ScriptedFarmer):
    """Grows less when it expects prices to fall, more when it expects them to rise."""

    def ceilings(self) -> tuple[tuple[str, int, int], ...]:
        """The reference farmer's, by what it expects."""
        return tuple(
            (item, daily, round(ceiling * min(1.5, self.expects(item) ** STOCK)))
            for item, daily, ceiling in super().ceilings()
        )


class InformedRoaster(Informed, ScriptedRoaster):
    """Roasts as the reference roaster does; buys and sells by what it expects."""


class InformedRetailer(Informed, ScriptedRetailer):
    """Charges consumers by what it expects."""

    def shelf_prices(self, festival: bool) -> tuple[float, float]:
        """The reference retailer's, by what it expects."""
        roasted, specialty = super().shelf_prices(festival)
        return (
            round(roasted * self.expects(ROASTED) ** SHELF, 2),
            round(specialty * self.expects(ROASTED_SPECIALTY) ** SHELF, 2),
        )


INFORMED: Final[dict[str, type[Informed]]] = {
    "farmer": InformedFarmer,
    "roaster": InformedRoaster,
    "retailer": InformedRetailer,
}
"""The informed firm of each role."""


def informed(firm: str, role: str, **options: Any) -> Informed:
    """The informed firm of a role."""
    return INFORMED[role](firm, role, **options)


def _times(rate: float, draw: float) -> int:
    """How often something of this rate happens in an hour, for a number drawn from [0, 1)."""
    whole = int(rate)
    return whole + (draw < rate - whole)

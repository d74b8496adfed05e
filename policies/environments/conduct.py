"""A firm's day, turn by turn: look, have the levers set, carry out what follows, answer bids.

An environment and an actor drive the same object::

    conduct = Conduct("roaster_A", "roaster", setup)
    command = conduct.turn(turn)            # of a league, or of an episode
    if command is None:                     # the looks are done: it is for the policy to decide
        observation = layout.encode(conduct.view)
        mask = actions.mask(conduct.mirror)
        command = conduct.choose(actions.values(policy(observation, mask)))
"""

from __future__ import annotations

from typing import Any, Final, Literal, Protocol

from policies.environments.checks import known_role
from policies.environments.deciding import LISTINGS, Levers, answer, decide
from policies.environments.mirror import Mirror
from policies.environments.view import LOOKS, FirmView, view_of
from services.economy.commands import Command, MakeOffer, ViewOffers, WaitForNextDay
from services.economy.observation import Observation
from services.economy.results import ListingsView, OffersView, Result
from services.economy.setup import TownSetup
from services.errors import HanseError

Cadence = Literal["day", "turn"]
RETRIES: Final = 2
"""Bids a day that are made anew because their listing had gone."""
CADENCES: Final[tuple[Cadence, ...]] = ("day", "turn")

_WAIT: Final = WaitForNextDay()
_BIDS: Final = ViewOffers(direction="incoming")
_BIDS_SEEN: Final = next(n for n, look in enumerate(LOOKS) if isinstance(look, ViewOffers))


class TurnLike(Protocol):
    """What a turn tells a firm; ``actors.exchange.Turn`` is one."""

    @property
    def day(self) -> int:
        """The day."""

    @property
    def reason(self) -> str | None:
        """What has happened, if anything has."""

    @property
    def result(self) -> Result | None:
        """The outcome of the firm's last command."""

    @property
    def observation(self) -> Observation | None:
        """What the firm is told when something has happened."""


class Conduct:
    """Answers a firm's turns with commands, and asks for levers when it is time to decide.

    Args:
        firm: The firm's name.
        role: farmer, roaster or retailer.
        setup: The town's rules, catalogue and numbers.
        cadence: ``day``: levers are set once a day, after the looks. ``turn``: anew for every
            command after that.
    """

    def __init__(self, firm: str, role: str, setup: TownSetup, cadence: Cadence = "day") -> None:
        if cadence not in CADENCES:
            raise HanseError(
                f"cadence: there is no cadence {cadence!r}; allowed: {', '.join(CADENCES)}"
            )
        self.firm = firm
        self.role = known_role(role)
        self.setup = setup
        self.cadence = cadence
        self.view: FirmView | None = None
        """What the last decision was, or the pending one is, made on."""
        self.mirror: Mirror | None = None
        """The same as a town in which commands can be tried."""
        self._day = -1
        self._observation: Observation | None = None
        self._seen: list[Result | None] = []
        self._looking = False
        self._asked_for_bids = False
        self._looks_again = False
        self._lost_bids = False
        self._sent: Command | None = None
        self._retries = 0
        self._news = False
        self._queue: list[Command] = []
        self._levers: Levers = {}

    def turn(self, turn: TurnLike) -> Command | None:
        """The command with which the firm answers a turn; ``None``: :meth:`choose` gives it."""
        result = turn.result
        if turn.reason is not None:
            if turn.day != self._day:
                return self._begin(turn)
            # A bid that has come before the look at bids is no news any more.
            if not self._looking or len(self._seen) >= _BIDS_SEEN:
                told = turn.observation
                self._news = told is None or told.pending_offers_in > 0
        if self._looking:
            self._seen.append(result)
            if len(self._seen) < len(LOOKS):
                return LOOKS[len(self._seen)]
            self._looking = False
            view = view_of(self.firm, self.role, self._day, self._observation, self._seen)
            self.view, self.mirror = view, Mirror(self.setup, view)
            return None
        if self.mirror is None:
            return _WAIT
        self._learn(result)
        if self._asked_for_bids:
            self._asked_for_bids = False
            seen = None if result is None else result.data
            if isinstance(seen, OffersView):
                self.mirror.hear(seen.rows)
                if self.cadence == "day":
                    self._queue += answer(self.mirror, self._levers)
        if self._looks_again:
            self._looks_again = False
            seen = None if result is None else result.data
            self.mirror.see(seen.rows if isinstance(seen, ListingsView) else ())
            if self.cadence == "day":
                self._queue += decide(self.mirror, self._levers)
        if self._queue:
            return self._next()
        if self._news:
            self._news, self._asked_for_bids = False, True
            return _BIDS
        if self._lost_bids and self.cadence == "day":
            self._lost_bids = False
            self._queue = decide(self.mirror, self._levers)
            if self._queue:
                return self._next()
        if self.cadence == "day":
            return _WAIT
        self.view = self.mirror.now()
        return None

    def choose(self, levers: Levers) -> Command:
        """Takes the levers for the pending decision; the command with which the turn is answered.

        Raises:
            HanseError: no decision is pending.
        """
        if self.mirror is None:
            raise HanseError(f"{self.firm}: no decision is pending; answer its turns first")
        self._levers = levers
        self._queue = decide(self.mirror, levers, 1 if self.cadence == "turn" else None)
        return self._next() if self._queue else _WAIT

    def save(self) -> Any:
        """What must outlive a day: nothing."""
        return None

    def _next(self) -> Command:
        self._sent = command = self._queue.pop(0)
        self._looks_again = command is LISTINGS
        return command

    def _learn(self, result: Result | None) -> None:
        """A bid that came too late is taken back in the mirror, and made anew once a day."""
        sent, self._sent = self._sent, None
        if not isinstance(sent, MakeOffer) or result is None or result.ok or self.mirror is None:
            return
        if self._retries < RETRIES:
            self._retries += 1
            self._lost_bids = True
            self.mirror.forget_bid(sent)

    def _begin(self, turn: TurnLike) -> Command:
        self._day = turn.day
        self._observation = turn.observation
        self._seen, self._queue = [], []
        self._looking = True
        self._news = self._asked_for_bids = self._looks_again = self._lost_bids = False
        self._sent, self._retries = None, 0
        self.mirror = None
        return LOOKS[0]

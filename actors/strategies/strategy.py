"""How a firm decides: one command a turn, or a whole day written down as a plan.

A strategy of one's own in a few lines::

    class Patient(DailyPlan):
        def day(self) -> Plan:
            books = yield ViewTrialBalance()
            for item, kg in books.data.stock.items():
                yield PostListing(item_id=item, qty=kg, asking_price=12.0)

Each ``yield`` is one tool call; its value is the call's :class:`~services.economy.results.Result`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from services.economy.commands import Command, WaitForNextDay
from services.economy.results import Result
from services.messages import Channel, Message

if TYPE_CHECKING:
    from actors.context import Context
    from actors.exchange import Turn

_WAIT = WaitForNextDay()
"""Commands cannot be changed, so one of a kind will do."""

Plan = Generator[Command, Result, None]
"""A sequence of commands; each ``yield`` gives the outcome of the command."""


class Strategy:
    """Base of all strategies: answer every turn with one command."""

    observes: ClassVar[bool] = True
    """Whether turns with a reason should carry an observation (it costs time to make one)."""
    untrusted: bool = False
    """Whether the host must guard itself against slow answers; set for users' own strategies."""
    reproducible: bool = True
    """False if the same turn may be answered differently a second time (a person, a model)."""
    needs_terminal: ClassVar[bool] = False
    """Whether the strategy talks to a person in the terminal."""

    def __init__(self, firm: str, role: str, **options: Any) -> None:
        if options:
            names = ", ".join(sorted(options))
            raise TypeError(f"strategy {type(self).__name__} has no option {names}")
        self.firm = firm
        self.role = role

    def start(self, context: Context) -> None:
        """Called once, at minute 0 of a new run; the place for a first ``context.wake_at``."""

    def wake(self, context: Context) -> None:
        """Called at a minute that was asked for with ``context.wake_at``."""

    def contacts(self) -> Mapping[str, Iterable[Channel]] | None:
        """Whom the firm may send messages to, exchanges apart, and on which channels.

        Monitors take it for all that can pass between agents. ``None``: not declared; of a user's
        own strategy it is then taken that it may write to every firm of its town.
        """
        return None

    def decide(self, turn: Turn, context: Context) -> Command:
        """The command with which the firm answers its turn."""
        raise TypeError(f"{type(self).__name__} must define decide (or be a DailyPlan)")

    def heard(self, message: Message, context: Context) -> None:
        """Called for every other message that reaches the firm."""

    def save(self) -> Any:
        """What must survive the end of a day, as plain data."""
        return None

    def load(self, saved: Any) -> None:
        """Takes back what :meth:`save` returned."""


class DailyPlan(Strategy):
    """A strategy written as a day's plan, a generator of commands.

    :meth:`day` starts at the first news of a day; a plan that was not finished is dropped. When it
    is finished and something has happened meanwhile, :meth:`news` runs; then the firm waits.
    Since no plan outlives its day, only :meth:`save` has to remember anything.
    """

    turn: Turn
    context: Context

    def __init__(self, firm: str, role: str, **options: Any) -> None:
        super().__init__(firm, role, **options)
        self._plan: Plan | None = None
        self._started_day = -1
        self._news = False
        self._pending = False

    def day(self) -> Plan:
        """The day's plan."""
        raise TypeError(f"{type(self).__name__} must define day")

    def news(self) -> Plan:
        """What to do about something that happened after the day's plan; nothing by default."""
        return
        yield

    @property
    def today(self) -> int:
        """The current day."""
        return self.turn.day

    def decide(self, turn: Turn, context: Context) -> Command:
        """Takes the next step of the plan that is under way."""
        self.turn, self.context = turn, context
        if turn.reason is not None:
            if turn.day != self._started_day:
                self._started_day = turn.day
                self._plan = self.day()
                self._pending = self._news = False
            else:
                self._news = True
        while True:
            if self._plan is None:
                if not self._news:
                    return _WAIT
                self._news = False
                self._plan = self.news()
                self._pending = False
            outcome: Result | None = None  # where a plan begins
            if self._pending:
                outcome = NOT_CARRIED_OUT if turn.result is None else turn.result
            try:
                command = self._plan.send(outcome)  # type: ignore[arg-type]
            except StopIteration:
                self._plan = None
                continue
            except BaseException:
                self._plan = None
                raise
            self._pending = True
            return command


NOT_CARRIED_OUT = Result(
    command="none",
    ok=False,
    code="no_answer",
    detail="the exchange did not get the command",
)
"""What a plan is told of a command that was lost with a missed turn."""

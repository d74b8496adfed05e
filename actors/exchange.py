"""The exchange of a town: the agent that holds its economy and says whose turn it is."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from actors.agent import Agent, handles
from actors.context import Context
from actors.letters import post_letters
from services.economy.abroad import TownQuote, TradeFill, TradeOrder, TradeRefused
from services.economy.commands import Command
from services.economy.observation import Observation
from services.economy.results import Result, RowsView
from services.economy.setup import TownSetup
from services.economy.town import Town
from services.economy.town import Turn as TownTurn
from services.messages import (
    MINUTES_PER_DAY,
    NOBODY,
    Channel,
    Message,
    Origin,
    Payload,
    filled,
)


class Join(Payload):
    """A firm tells its exchange that it is there."""

    type: Literal["join"] = "join"
    channel: ClassVar[Channel] = "exec"
    observes: bool = True
    """Whether the firm wants an observation with a turn that has a reason."""


class Turn(Payload):
    """It is the recipient's turn: it answers with one command."""

    internal: ClassVar[bool] = True
    type: Literal["turn"] = "turn"
    channel: ClassVar[Channel] = "exec"
    day: int
    minute_of_day: int
    reason: str | None = None
    """What has happened to the firm since its last turn; ``None``: nothing."""
    result: Result | None = None
    """The outcome of the firm's last command, if it has not been told yet."""
    observation: Observation | None = None

    def log_body(self) -> str:
        """Reason and outcome in short; the ``action`` event has the outcome in full."""
        reason = "" if self.reason is None else f'"reason":"{self.reason}"'
        result = self.result
        if result is None:
            return f"{{{reason}}}"
        told = f'"result":"{result.code or "success"}"'
        if isinstance(result.data, RowsView):
            told += f',"rows":{len(result.data.rows)}'  # type: ignore[attr-defined]
        return f"{{{reason},{told}}}" if reason else f"{{{told}}}"


_TURN_FIELDS = set(Turn.model_fields)


class TurnMissed(Payload):
    """A host says on a firm's behalf that it gives no answer this time."""

    internal: ClassVar[bool] = True
    type: Literal["turn_missed"] = "turn_missed"
    channel: ClassVar[Channel] = "exec"
    reason: Literal["error", "timeout", "suspended", "rubbish"]
    detail: str = ""


class Exchange(Agent):
    """One town as an agent.

    It wakes when something is due, sends a :class:`Turn` to every firm whose turn it is, waits
    until all have answered, carries the commands out in the order of dispatch, and goes on.
    """

    essential = True

    def __init__(self, name: str, setup: TownSetup, routers: tuple[str, ...] = ()) -> None:
        super().__init__(name)
        self.setup = setup
        self.town = Town(setup)
        self.routers = routers
        self._observing: set[str] = set()
        self._listen()
        self._asked: dict[str, str] = {}
        self._answers: dict[str, tuple[Command, Origin] | None] = {}
        self._results: dict[str, Result] = {}
        self._causes: dict[str, Origin] = {}
        """For every firm the message from which its next turn comes: its own last command, or that
        by which another firm has brought it news."""
        self._cause = NOBODY
        """The message that is being carried out in the town."""
        self._foreign_today = 0
        self._quoted_day = -1

    def start(self, context: Context) -> None:
        """Books the opening balances and asks to be woken for the first morning."""
        self._tell(context)
        self._sleep(context)

    def wake(self, context: Context) -> None:
        """Goes on with the town at the minute that is due."""
        if not self._asked:
            self._go_on(context)

    @handles(Join)
    def on_join(self, message: Message, context: Context) -> None:
        """Remembers who wants observations."""
        if message.payload.observes:  # type: ignore[attr-defined]
            self._observing.add(message.sender)

    @handles(Command)
    def on_command(self, message: Message, context: Context) -> None:
        """Takes a firm's answer to its turn; anything beyond one answer is refused."""
        self._answer(message, message.payload, context)  # type: ignore[arg-type]

    @handles(TurnMissed)
    def on_turn_missed(self, message: Message, context: Context) -> None:
        """A firm has no answer: it loses the turn."""
        missed = message.payload
        assert isinstance(missed, TurnMissed)
        self._answer(message, missed, context)

    @handles(TradeOrder)
    def on_trade_order(self, message: Message, context: Context) -> None:
        """Sells to another town what is on offer here."""
        order = message.payload
        assert isinstance(order, TradeOrder)
        if not self._routed(message, context):
            return
        self.town.clock(context.now)
        self._foreign_today += 1
        context.reply(message, self.town.abroad.fill(order))
        self._news(context)

    @handles(TradeFill)
    def on_trade_fill(self, message: Message, context: Context) -> None:
        """Settles an order of an own firm that another town has filled."""
        assert isinstance(message.payload, TradeFill)
        if not self._routed(message, context):
            return
        self.town.clock(context.now)
        self.town.abroad.settle(message.payload)
        self._news(context)

    @handles(TradeRefused)
    def on_trade_refused(self, message: Message, context: Context) -> None:
        """Gives the money of an unfilled order back."""
        assert isinstance(message.payload, TradeRefused)
        if not self._routed(message, context):
            return
        self.town.clock(context.now)
        self.town.abroad.give_back(message.payload)
        self._news(context)

    @property
    def waits(self) -> bool:
        """Whether firms still owe an answer to their turn."""
        return bool(self._asked)

    def waiting_for(self) -> dict[str, str]:
        """The firms that still owe an answer to their turn."""
        return {f: turn for f, turn in self._asked.items() if f not in self._answers}

    def quiet(self, context: Context) -> None:
        """Nobody will answer any more in this minute: who has not lost the turn."""
        for firm in self.waiting_for():
            self._note_missed(firm, "rubbish", "no answer", context)
        self._apply_all(context)

    def save(self) -> dict[str, Any]:
        """The town's state, the firms that observe and the outcomes not told yet."""
        return {
            "town": self.town.dump(),
            "observing": sorted(self._observing),
            "results": {f: r.model_dump() for f, r in self._results.items()},
            "causes": self._causes,
            "foreign_today": self._foreign_today,
            "quoted_day": self._quoted_day,
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Goes on from :meth:`save`."""
        self.town = Town.load(self.setup, saved["town"])
        self._listen()
        self._observing = set(saved["observing"])
        self._results = {f: Result.model_validate(r) for f, r in saved["results"].items()}
        self._causes = {firm: Origin(*origin) for firm, origin in saved["causes"].items()}
        self._foreign_today = saved["foreign_today"]
        self._quoted_day = saved["quoted_day"]
        self._asked, self._answers = {}, {}

    def summary(self) -> dict[str, Any]:
        """Every firm's statement and counts."""
        firms = []
        for name, firm in self.town.firms.items():
            firms.append(
                {
                    "firm": name,
                    "town": self.setup.name,
                    "role": firm.role,
                    "stock_kg": firm.on_hand,
                    "messages_sent": firm.messages_sent,
                    "deals": firm.deals,
                    "bankrupt_day": firm.bankrupt_day,
                    "statement": self.town.statement(name).model_dump(),
                }
            )
        return {"firms": firms, "actions": self.town.state.actions}

    def _answer(self, message: Message, answer: Command | TurnMissed, context: Context) -> None:
        firm = message.sender
        turn = self._asked.get(firm)
        if turn is None or turn != message.in_reply_to or firm in self._answers:
            context.record("stray_command", firm, {"message": message.id})
            return
        if isinstance(answer, TurnMissed):
            self._note_missed(firm, answer.reason, answer.detail, context)
        else:
            self._answers[firm] = answer, message.origin
        if len(self._answers) == len(self._asked):
            self._apply_all(context)

    def _note_missed(self, firm: str, reason: str, detail: str, context: Context) -> None:
        body = {"agent": firm, "reason": reason, "detail": detail}
        context.record("turn_missed", firm, body)
        self._answers[firm] = None

    def _apply_all(self, context: Context) -> None:
        asked, answers = self._asked, self._answers
        self._asked, self._answers = {}, {}
        for firm in asked:
            answer = answers[firm]
            if answer is None:
                self.town.skip(firm)
                continue
            command, self._cause = answer
            self._causes.setdefault(firm, self._cause)
            self._results[firm] = self.town.apply(firm, command)
            self._tell(context)
        self._cause = NOBODY
        self._go_on(context)

    def _listen(self) -> None:
        """Notes with whose message, if with anybody's, every piece of news to a firm has come."""
        wake = self.town.world.on_wake
        self._cause = NOBODY

        def heard(firm: str, reason: str) -> None:
            if self._cause.message:
                self._causes[firm] = self._cause
            else:
                self._causes.pop(firm, None)
            wake(firm, reason)

        self.town.world.on_wake = heard

    def _go_on(self, context: Context) -> None:
        """Works off what is due in the town until it is somebody's turn, or nothing is due."""
        town = self.town
        turns: list[TownTurn] = []
        while not turns and (minute := town.next_minute()) is not None and minute <= context.now:
            turns = town.advance(minute)
            if self.routers and town.state.day != self._quoted_day and not town.closed:
                self._quote(context)
        self._tell(context)
        for firm, reason in turns:
            self._ask(firm, reason, context)
        if not turns:
            self._sleep(context)

    def _ask(self, firm: str, reason: str | None, context: Context) -> None:
        observation = None
        if reason is not None and firm in self._observing:
            observation = self.town.observe(firm, reason)
        elif reason is not None:
            self.town.dismiss_notices(firm)
        day, minute_of_day = divmod(context.now, MINUTES_PER_DAY)
        values = {
            "type": "turn",
            "day": day,
            "minute_of_day": minute_of_day,
            "reason": reason,
            "result": self._results.pop(firm, None),
            "observation": observation,
        }
        turn = filled(Turn, values, _TURN_FIELDS)
        origin = self._causes.pop(firm, NOBODY)
        # A new day is nobody's doing, whatever the firm or another did last the day before.
        sent = context.send(firm, turn, origin=NOBODY if reason == "morning" else origin)
        self._asked[firm] = f"{self.name}#{sent.number}"

    def _sleep(self, context: Context) -> None:
        minute = self.town.next_minute()
        if minute is not None:
            context.wake_at(minute)

    def _news(self, context: Context) -> None:
        """Trade abroad may have given a firm a turn, now or sooner than planned."""
        self._tell(context)
        self._cause = NOBODY
        if not self._asked:
            self._go_on(context)

    def _routed(self, message: Message, context: Context) -> bool:
        """Whether trade comes from a router of this town; firms cannot fill their own orders."""
        if message.sender in self.routers:
            self._cause = message.origin
            return True
        context.record("stray_trade", message.sender, {"message": message.id})
        return False

    def _quote(self, context: Context) -> None:
        self._quoted_day = self.town.state.day
        quote: TownQuote = self.town.abroad.quote(self.name, self._foreign_today)
        self._foreign_today = 0
        for router in self.routers:
            context.send(router, quote, origin=NOBODY)

    def _tell(self, context: Context) -> None:
        """Hands over what has happened in the town, with the message that has brought it about."""
        town, origin = self.town, self._cause
        if town.mail.outbox:
            post_letters(town.mail, context, origin)
        if town.abroad.outbox:
            self._post_orders(context, origin)
        if town.world.events or town.world.ledger or town.figures:
            records = town.drain()
            context.record_all(records.events, origin.message)
            if records.ledger:
                context.book_all(records.ledger)
            for day, firm, figures in records.figures:
                context.measure(day, firm, figures)

    def _post_orders(self, context: Context, origin: Origin) -> None:
        for order in self.town.abroad.outbox:
            wish = TradeOrder(
                order=order.id,
                town=self.setup.name,
                reply_to=self.name,
                item=order.item,
                qty=order.qty,
                max_price=order.max_price,
            )
            context.send(self.routers[0], wish, origin=origin)
        self.town.abroad.outbox.clear()

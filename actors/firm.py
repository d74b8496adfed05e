"""A firm: a business that decides through a strategy."""

from __future__ import annotations

from typing import Any

from actors.agent import Agent, handles
from actors.context import Context
from actors.customs import Rubbish
from actors.exchange import Join, Turn
from actors.strategies.strategy import Strategy
from services.economy.commands import Command
from services.messages import Message, Payload


class Firm(Agent):
    """Observation in, command out; what lies between is the strategy's."""

    def __init__(self, name: str, exchange: str, strategy: Strategy) -> None:
        super().__init__(name)
        self.exchange = exchange
        self.strategy = strategy
        self.untrusted = strategy.untrusted
        self.reproducible = strategy.reproducible

    @property
    def foreign(self) -> bool:
        """Whether its strategy is somebody's own code."""
        return not type(self.strategy).__module__.startswith("actors.")

    def start(self, context: Context) -> None:
        """Tells the exchange that the firm is there."""
        context.send(self.exchange, Join(observes=self.strategy.observes))
        self.strategy.start(context)

    def wake(self, context: Context) -> None:
        """Hands the call to the strategy, which has asked for it."""
        self.strategy.wake(context)

    @handles(Turn)
    def on_turn(self, message: Message, context: Context) -> None:
        """Answers a turn with one command.

        Raises:
            Rubbish: the strategy returned something else.
        """
        turn = message.payload
        assert isinstance(turn, Turn)
        command = self.strategy.decide(turn, context)
        if not isinstance(command, Command):
            raise Rubbish(f"{self.name} answered with {type(command).__name__}, not a command")
        context.reply(message, command)

    @handles(Payload)
    def on_other(self, message: Message, context: Context) -> None:
        """Hands everything that is not a turn to the strategy: letters, advice, a user's own."""
        self.strategy.heard(message, context)

    def save(self) -> Any:
        """The strategy's memory."""
        return self.strategy.save()

    def load(self, saved: Any) -> None:
        """Gives the strategy its memory back."""
        self.strategy.load(saved)

"""Gives strategies their turns in tests, without an exchange."""

from __future__ import annotations

from actors.context import Context
from actors.exchange import Turn
from actors.strategies import Strategy
from services.economy.commands import Command
from services.economy.results import Result


class Turns:
    """A strategy at its turns; the clock goes on by half an hour with each."""

    def __init__(self, strategy: Strategy, seed: int = 0) -> None:
        self.strategy = strategy
        self.context = Context(strategy.firm, seed, now=540)

    def next(
        self, reason: str | None = None, result: Result | None = None, *, day: int | None = None
    ) -> Command:
        """What the strategy says when it has a turn."""
        clock = self.context.clock
        if day is not None:
            clock.now = day * 1440 + 540
        turn = Turn(
            day=clock.now // 1440, minute_of_day=clock.now % 1440, reason=reason, result=result
        )
        command = self.strategy.decide(turn, self.context)
        clock.now += 30
        return command


def done(command: str, new_id: str | None = None) -> Result:
    """A command has been carried out."""
    return Result(command=command, ok=True, new_id=new_id)


def refused(command: str, code: str) -> Result:
    """A command has been refused."""
    return Result(command=command, ok=False, code=code, detail="because")

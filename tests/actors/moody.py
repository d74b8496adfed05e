"""A firm as a user might write it on a bad day; named in tests as ``tests.actors.moody:Moody``."""

from __future__ import annotations

from typing import Any

from actors.context import Context
from actors.exchange import Turn
from actors.strategies.random import RandomLegal
from services.economy.commands import Command


class Moody(RandomLegal):
    """Trades at random, but one turn in five it fails or says something that is no command."""

    observes = True

    def decide(self, turn: Turn, context: Context) -> Command:
        command = super().decide(turn, context)
        mood = context.rng("mood").random()
        if mood < 0.1:
            raise RuntimeError("not today")
        answer: Any = "whatever" if mood < 0.2 else command
        return answer  # type: ignore[no-any-return]

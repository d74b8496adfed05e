"""What a host is doing at the moment, for the doctor, for log records and for traces."""

from __future__ import annotations

from time import monotonic

from actors.context import Clock
from services.messages import Message
from services.telemetry.logs import Place


class Occupation:
    """Which agent of a host handles what, and since when.

    Args:
        host: The host's name.
        clock: The host's clock.
    """

    __slots__ = ("_clock", "_host", "_round_began", "handling")

    def __init__(self, host: str, clock: Clock) -> None:
        self._host = host
        self._clock = clock
        self._round_began = 0.0
        self.handling: tuple[str, Message | None] | None = None
        """(agent, message) while a handler runs."""

    def round_begins(self) -> None:
        """From now on the seconds of a round are counted."""
        self._round_began = monotonic()

    def busy_with(self) -> dict[str, object] | None:
        """The agent that is handling something now, what, and the seconds since its round began."""
        now = self.handling
        if now is None:
            return None
        name, message = now
        return {
            "host": self._host,
            "agent": name,
            "message": "" if message is None else f"{message.id} ({message.payload_type})",
            "seconds": monotonic() - self._round_began,
        }

    def whereabouts(self) -> Place:
        """Who does what at the moment, for log records."""
        agent, message = self.handling or (None, None)
        return Place(agent, self._clock.now, None if message is None else message.id)

    def message(self, id: str) -> Message | None:
        """The message that is being handled, if it has that id."""
        _, now = self.handling or (None, None)
        return None if now is None or now.id != id else now

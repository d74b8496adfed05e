"""What a host's agents have sent in a round: logged, and sorted by where it has to go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from actors.context import Clock, Context
from actors.reports import Later, MessageRow
from services.messages import Message


class Outgoing:
    """Takes what agents have sent out of their contexts.

    Args:
        host: The host on which they live.
        directory: For every agent of the league the host on which it lives.
        unwatched: Agents whose mail no monitor looks at; ``None``: there is no monitor.
        undeliverable: Is told of each message to somebody who is not in the league.
    """

    def __init__(
        self,
        host: str,
        directory: Mapping[str, str],
        unwatched: frozenset[str] | None,
        undeliverable: Callable[[Message, Context], None],
    ) -> None:
        self._host = host
        self._directory = directory
        self._unwatched = unwatched
        self._undeliverable = undeliverable
        self.begin()

    def begin(self) -> None:
        """Forgets everything: the host begins anew."""
        self._rows: list[MessageRow] = []
        self._watched: list[MessageRow] = []
        self.later: dict[str, Later] | None = None
        """Silent mail, by host, while it is kept back; ``None``: it goes at once."""

    def sort(
        self, clock: Clock, senders: Iterable[Context], own: list[Message]
    ) -> dict[str, list[Message]]:
        """Takes what has been sent in a round.

        Args:
            clock: The minute and the round.
            senders: The contexts in which something may have been sent, in order.
            own: Where mail for agents of this host is added.

        Returns:
            The mail for other hosts, by host.
        """
        outbound: dict[str, list[Message]] = {}
        minute, round_ = clock.now, clock.round
        directory, here, later = self._directory, self._host, self.later
        put, before = self._rows.append, len(self._rows)
        for context in senders:
            if not context.outbox:
                continue
            name = context.agent
            for m in context.outbox:
                # One look at a model's values is cheaper than one at each of its attributes.
                v = m.__dict__
                payload, recipient = v["payload"], v["recipient"]
                about = v["in_reply_to"], v["cause"], v["trace"], payload.log_body()
                put(
                    (
                        minute,
                        round_,
                        name,
                        v["number"],
                        recipient,
                        v["channel"],
                        payload.type,
                        *about,
                    )
                )
                host = directory.get(recipient)
                if later is not None and payload.silent and host is not None:
                    later.setdefault(host, []).append((round_, m))
                elif host == here:
                    own.append(m)
                elif host is not None:
                    outbound.setdefault(host, []).append(m)
                else:
                    self._undeliverable(m, context)
            context.outbox.clear()
        if self._unwatched is not None:
            skip = self._unwatched
            self._watched += [
                row for row in self._rows[before:] if row[2] not in skip and row[4] not in skip
            ]
        return outbound

    def take_rows(self) -> list[MessageRow]:
        """Hands over, and forgets, the rows of the log since the last time."""
        rows, self._rows = self._rows, []
        return rows

    def take_watched(self) -> list[MessageRow]:
        """The same of those that monitors look at."""
        watched, self._watched = self._watched, []
        return watched

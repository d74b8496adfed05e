"""How fast a league's rounds go: what of their time is work, and what is waiting for calls."""

from __future__ import annotations

from collections.abc import Iterable


class Pace:
    """Adds up the rounds of a league; all times are seconds by the clock on the wall.

    A day that the hosts play apart is one round.
    """

    def __init__(self) -> None:
        self.rounds = 0
        self.calls = 0
        """Hosts that were called, all rounds together."""
        self.seconds = 0.0
        """From the first call of a round to its last answer."""
        self.slowest = 0.0
        """What of it the slowest host was at work; the rest is calls, mail and the cable."""
        self.worked = 0.0
        """What all hosts were at work."""

    def add(self, seconds: float, worked: Iterable[float]) -> None:
        """Adds a round.

        Args:
            seconds: From its first call to its last answer.
            worked: What each host that was called was at work.
        """
        hosts = list(worked)
        self.rounds += 1
        self.calls += len(hosts)
        self.seconds += seconds
        self.slowest += max(hosts, default=0.0)
        self.worked += sum(hosts)

"""The spools of machines that carry no host of a league any more; hosts give theirs themselves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from actors import spool
from actors.spool import Epoch, Spooled

PATIENCE_SECONDS: Final = 30.0
"""For how long a machine is waited for; one that has not answered then counts as lost."""


class RaySpools:
    """Which machines have to be asked besides those with hosts, and what they have.

    Args:
        run: The run's id.
    """

    def __init__(self, run: str) -> None:
        self._run = run
        self._left: set[str] | None = None
        self._asked: list[str] = []
        self._kept = Spooled([], [])

    def new_run(self) -> None:
        """There are no spools but those of hosts that this league has made."""
        if self._left is None:
            self._left = set()

    def moved(self, nodes: Iterable[str]) -> None:
        """Hosts have been on these machines until now."""
        if self._left is not None:
            self._left |= set(nodes)

    def collect(self, epoch: Epoch, living: Iterable[str], used: set[str]) -> list[Spooled]:
        """What the other machines have kept; see :func:`actors.spool.collect`.

        It is held until the next epoch has begun, and given again when this is asked again: by then
        a machine may be lost, and its answers have been used.

        Args:
            epoch: See there.
            living: The ids of the machines that answer.
            used: Those that have hosts, or the run's folder.
        """
        # A league that goes on with a run does not know where its hosts were.
        asked = [node for node in living if node not in used]
        self._asked = asked if self._left is None else [n for n in asked if n in self._left]
        ready, _ = self._on_each(spool.collect, epoch)
        return self.keep(part for part in map(_value, ready) if part is not None)

    def keep(self, parts: Iterable[Spooled]) -> list[Spooled]:
        """Holds what hosts have given, too; returns all that is held."""
        self._kept = spool.merged([self._kept, *parts])
        return [self._kept]

    def begin(self, epoch: Epoch) -> None:
        """An epoch has begun: what was taken is removed over there; does not wait for it."""
        self._kept = Spooled([], [])
        self._left = set()
        if self._asked:
            self._on_each(spool.remove, epoch.ended, wait=False)
        self._asked = []

    def _on_each(
        self, do: Any, argument: object, *, wait: bool = True
    ) -> tuple[list[Any], list[Any]]:
        task = ray.remote(num_cpus=0, max_retries=0)(_there)
        calls = [
            task.options(
                scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)
            ).remote(do, self._run, argument)
            for node in self._asked
        ]
        if not (calls and wait):
            return [], calls
        return ray.wait(calls, num_returns=len(calls), timeout=PATIENCE_SECONDS)  # type: ignore[no-any-return]


def _there(do: Any, run: str, argument: object) -> Any:
    """Does something with a run's spools on the machine where it is called."""
    return do(spool.away(run), argument)


def _value(call: Any) -> Spooled | None:
    try:
        part: Spooled = ray.get(call)
    except RayError:
        return None  # lost as it was asked
    return part

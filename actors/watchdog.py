"""Runs a user's code with a deadline, so that a slow agent costs itself its turn and nobody else.

Each watched agent has a worker thread of its own. When a call does not come back in time the
thread is left to itself (it ends when the call does) and the agent gets a new one.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any


class TooSlow(Exception):
    """A call did not come back within its deadline."""


class _Worker:
    def __init__(self, name: str) -> None:
        self.calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._run, name=f"agent-{name}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while (call := self.calls.get()) is not None:
            call()


class Watchdog:
    """Worker threads for watched agents, made when first needed."""

    def __init__(self) -> None:
        self._workers: dict[str, _Worker] = {}

    def run(self, name: str, seconds: float, call: Callable[[], Any]) -> Any:
        """Runs ``call`` on the agent's thread and waits for at most ``seconds``.

        Raises:
            TooSlow: it did not come back in time.
            Exception: what the call raised; anything beyond that (an exit, an interrupt of its own
                making) as a RuntimeError.
        """
        worker = self._workers.get(name)
        if worker is None:
            worker = self._workers[name] = _Worker(name)
        answers: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

        def work() -> None:
            try:
                answers.put((True, call()))
            except BaseException as error:
                answers.put((False, error))

        worker.calls.put(work)
        try:
            ok, value = answers.get(timeout=seconds)
        except queue.Empty:
            self.abandon(name)
            raise TooSlow(f"no answer within {seconds:g} s") from None
        if ok:
            return value
        if isinstance(value, Exception):
            raise value
        raise RuntimeError(f"raised {type(value).__name__}: {value}") from value

    def abandon(self, name: str) -> None:
        """Lets an agent's thread end by itself after its current call."""
        worker = self._workers.pop(name, None)
        if worker is not None:
            worker.calls.put(None)

    def close(self) -> None:
        """Ends all threads that are idle and waits for them briefly."""
        workers = list(self._workers.values())
        for name in list(self._workers):
            self.abandon(name)
        for worker in workers:
            worker.thread.join(timeout=1.0)

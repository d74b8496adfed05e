"""A league without agents that keeps a real run folder: what the command line shows needs no more.

Its net incomes follow from the seed: the n-th firm (from 1) has earned 100 * n + seed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from services.config import RunConfig
from services.errors import HanseError
from services.runs import FirmResult, Manifest, RunResult, RunStore
from services.telemetry.logs import Place

MESSAGES_A_DAY = 10


class League:
    """As `actors.league.League`."""

    interrupt_in_day: ClassVar[int | None] = None
    """Ctrl-C comes in the middle of this day."""
    refuse: ClassVar[str | None] = None
    """The league cannot be made, for this reason."""

    exported: ClassVar[dict[str, Any]] = {}
    metrics_port = None

    def whereabouts(self) -> Place:
        return Place()

    def trace_of(self, message: str) -> None:
        return None

    def __init__(self, config: RunConfig, store: RunStore, placement: str) -> None:
        self.config = config
        self.store = store
        self.placement = placement

    @classmethod
    def create(cls, config: RunConfig, folder: Path, **_: Any) -> League:
        if cls.refuse:
            raise HanseError(cls.refuse)
        manifest = Manifest.describe(
            config.dump(),
            name=config.name,
            seed=config.seed,
            days=config.days,
            rules=config.rules,
            placement=config.placement,
            hosts=config.hosts,
        )
        return cls(config, RunStore.create(folder, manifest), config.resolved_placement(7))

    @classmethod
    def resume(
        cls, folder: Path, *, placement: str | None = None, hosts: int | None = None
    ) -> League:
        store = RunStore.open(folder)
        config = RunConfig.parse(store.manifest.config, str(folder))
        config = config.with_overrides(placement=placement, hosts=hosts)
        return cls(config, store, config.resolved_placement(7))

    def run(self, on_day: Callable[[Any], None] | None = None) -> RunResult:
        days = self.config.days
        first = 0 if self.store.day is None else self.store.day + 1
        try:
            for day in range(first, days):
                if day == League.interrupt_in_day:
                    raise KeyboardInterrupt
                for firm in self.config.firms:
                    if firm.strategy == "human":
                        print("your turn")
                self.store.append(messages=[self._message(day, n) for n in range(MESSAGES_A_DAY)])
                self.store.end_day(day, b"")
                if on_day is not None:
                    on_day(
                        SimpleNamespace(
                            day=day,
                            days=days,
                            cash={firm.name: 15_200.0 - day for firm in self.config.firms},
                            messages=(day + 1) * MESSAGES_A_DAY,
                            seconds=(day - first + 1) * 0.5,
                        )
                    )
        except KeyboardInterrupt:
            self.store.interrupt()
            raise
        mark = self.store.checkpoint()
        assert mark is not None
        result = RunResult(
            run=str(self.store.folder),
            name=self.config.name,
            seed=self.config.seed,
            days=days,
            rules=self.config.rules,
            placement=self.placement,
            hosts=self.config.hosts,
            log_sha256=mark.log_sha256,
            ledger_sha256=mark.ledger_sha256,
            messages=mark.messages,
            actions=7,
            seconds=days * 0.5,
            firms=[self._firm(number) for number in range(len(self.config.firms))],
            counters={"agent_errors": 0, "turns_missed": 2},
        )
        self.store.finish(result)
        return result

    def _message(self, day: int, number: int) -> tuple[Any, ...]:
        sender = self.config.firms[0].name
        count = day * MESSAGES_A_DAY + number
        body = f'{{"seed":{self.config.seed}}}'
        about = "exchange", "comm", "note", None, None, None, body
        return (day * 1440, 0, sender, count, *about)

    def _firm(self, number: int) -> FirmResult:
        firm = self.config.firms[number]
        return FirmResult(
            firm=firm.name,
            town=self.config.town_of(firm),
            role=firm.role,
            strategy=firm.strategy,
            net_income=100.0 * (number + 1) + self.config.seed,
            revenue=1234.5,
            cash=15_000.0,
            stock_kg=60,
            messages_sent=3,
            deals=4,
            bankrupt_day=3 if firm.strategy == "passive" else None,
        )

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> League:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

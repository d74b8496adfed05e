"""A thousand firms for ninety days, packed on two Ray hosts: memory and messages per second."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from actors.league import League, Progress
from services.config import GenerateConfig, RunConfig
from tests.bench.measuring import Bench
from tests.bench.on_ray import calls_per_second


def bench(table: Bench, firms: int = 1000, days: int = 90, towns: int = 50) -> None:
    """Runs the league once and prints memory on day 10 and at the end, and the throughput."""
    import ray

    from actors.host_actor import resident_bytes
    from actors.local_ray import start_ray

    start_ray()
    try:
        forget, ask = calls_per_second()
        config = RunConfig(
            days=days,
            placement="packed",
            hosts=2,
            generate=GenerateConfig(firms=firms, towns=towns),
        )
        memory: dict[int, float] = {}
        with (
            tempfile.TemporaryDirectory() as folder,
            League.create(config, Path(folder) / "run") as league,
        ):
            hosts: Any = league.hosts

            def on_day(progress: Progress) -> None:
                if progress.day == 10 or progress.day == days - 1 or progress.day % 10 == 0:
                    about = [(m["memory_now"], m["memory_shared"]) for m in hosts.metrics()]
                    own, shared = zip(*about, resident_bytes(), strict=True)
                    memory[progress.day] = (sum(own) + max(shared)) / 1e6
                    print(
                        f"  day {progress.day}: {memory[progress.day]:.0f} MB,"
                        f" {progress.messages / progress.seconds:,.0f} messages/s",
                        flush=True,
                    )

            start = time.perf_counter()
            result = league.run(on_day=on_day)
            wall = time.perf_counter() - start
            cpu = sum(m["cpu_seconds"] for m in hosts.metrics())
            size = sum(f.stat().st_size for f in (Path(folder) / "run").iterdir()) / 1e6
    finally:
        ray.shutdown()
    name = f"{firms} firms"
    first = memory.get(10, next(iter(memory.values())))
    last = memory[max(memory)]
    growth = 100 * (last / first - 1)
    table.add(name, "memory of league and hosts on day 10", first, "MB")
    table.add(name, "growth to the last day", growth, "%", "within 5 %", abs(growth) <= 5)
    most = 100 * (max(mb for day, mb in memory.items() if day >= 10) / first - 1)
    table.add(name, "the most on any day in between", most, "%", "within 5 %", most <= 5)
    if 40 in memory:
        later = 100 * (last / memory[40] - 1)
        table.add(name, "growth from day 40 (30-day invoices have begun to be paid)", later, "%")
    rate = result.messages / wall
    table.add(name, f"{result.messages:,} messages in {wall:.0f} s", rate, "messages/s")
    table.add(name, "hosts' CPU per message", 1e6 * cpu / result.messages, "us")
    table.add(name, "run folder", size, "MB")
    table.add(name, "one Ray call a message, answered", ask, "messages/s")
    table.add(name, "one Ray call a message, sent and forgotten", forget, "messages/s")
    table.add(name, "league over answered calls", rate / ask, "x", ">= 50", rate / ask >= 50)
    table.add(name, "league over forgotten calls", rate / forget, "x")

"""What Ray costs: the default run, an agent's turn, eight seeds at once, one call a message."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from actors.league import League
from services.config import standard
from tests.bench.measuring import Bench

HANSE = [sys.executable, "-m", "services.cli.main"]


def bench_default(table: Bench, times: int) -> None:
    """From the command to the table, one Ray actor for each agent."""
    walls, starts = [], []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            done = subprocess.run(
                [*HANSE, "run", "--placement", "one", "--json", "--out", f"{folder}/run"],
                check=True,
                capture_output=True,
            )
            walls.append(time.perf_counter() - start)
            starts.append(walls[-1] - json.loads(done.stdout)["seconds"])
    goal = "<= 25 s"
    wall = table.add("default", "hanse run --placement one", walls, "s", goal, max(walls) <= 25)
    share = statistics.median(starts) / wall
    table.add(
        "default", "share of it before the first day and after the last", share, "", "<= 0.5",
        share <= 0.5,
    )  # fmt: skip


def bench_turn(table: Bench, times: int) -> None:
    """Wall time that Ray and the league add to an agent's turn."""
    import ray

    from actors.local_ray import start_ray

    start_ray()
    try:
        per_turn: list[float] = []
        config = standard().with_overrides(source="bench", placement="one", days=15)
        for _ in range(times):
            with (
                tempfile.TemporaryDirectory() as folder,
                League.create(config, Path(folder) / "run") as league,
            ):
                hosts: Any = league.hosts
                rounds: list[tuple[float, int]] = []
                work = hosts.work

                def timed(*arguments: Any, work: Any = work, rounds: Any = rounds) -> Any:
                    start = time.perf_counter()
                    reports = work(*arguments)
                    handled = sum(r.handled for r in reports.values())
                    rounds.append((time.perf_counter() - start, handled))
                    return reports

                hosts.work = timed
                league.run()
            # A turn is two messages: the turn itself and its answer.
            per_turn += _per_turn(rounds)
        milliseconds = sorted(1000 * x for x in per_turn)
        half = statistics.median(milliseconds)
        tail = milliseconds[int(0.95 * len(milliseconds))]
        table.add("turn", "wall time of a turn on Ray, p50", half, "ms", "< 5 ms", half < 5)
        table.add("turn", f"the same, p95 of {len(milliseconds)}", tail, "ms")
    finally:
        ray.shutdown()


def _per_turn(rounds: list[tuple[float, int]]) -> list[float]:
    """Seconds a turn, for every group of rounds that ends when its turns are answered."""
    found = []
    seconds, handled = 0.0, 0
    for spent, messages in rounds:
        if messages == 0 and handled:
            found.append(seconds / (handled / 2))
            seconds, handled = 0.0, 0
        seconds += spent
        handled += messages
    if handled:
        found.append(seconds / (handled / 2))
    return found


def bench_sweep(table: Bench, times: int) -> None:
    """Eight seeds of the reference world in parallel, as ``hanse sweep`` runs them."""
    from services.config import RunConfig
    from tests.bench.reference import reference_config

    walls = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "reference.toml"
            config: RunConfig = reference_config()
            firms = "".join(
                f'[[firms]]\nname = "{f.name}"\nrole = "{f.role}"\n' for f in config.firms
            )
            file.write_text(f'rules = "coffeebench"\n{firms}')
            done = subprocess.run(
                [*HANSE, "sweep", str(file), "--seeds", "0-7", "--json", "--out", f"{folder}/out"],
                check=True,
                capture_output=True,
            )
            walls.append(json.loads(done.stdout)["seconds"])
    table.add("sweep", "eight seeds, beyond Ray's start", walls, "s", "<= 4 s", min(walls) <= 4)


def calls_per_second(seconds: float = 2.0) -> tuple[float, float]:
    """One Ray call for each message between two actors: sent and forgotten, and answered."""
    import ray

    class Receiver:
        def take(self, message: dict[str, Any]) -> int:
            return len(message)

    class Sender:
        def forget(self, peer: Any, number: int) -> float:
            start = time.perf_counter()
            refs = [peer.take.remote(_MESSAGE) for _ in range(number)]
            ray.get(refs[-1])
            return number / (time.perf_counter() - start)

        def ask(self, peer: Any, number: int) -> float:
            start = time.perf_counter()
            for _ in range(number):
                ray.get(peer.take.remote(_MESSAGE))
            return number / (time.perf_counter() - start)

    receiver = ray.remote(num_cpus=0)(Receiver).remote()
    sender = ray.remote(num_cpus=0)(Sender).remote()
    ray.get(sender.ask.remote(receiver, 200))
    forget = max(ray.get(sender.forget.remote(receiver, 3000)) for _ in range(3))
    ask = max(ray.get(sender.ask.remote(receiver, int(400 * seconds))) for _ in range(3))
    ray.kill(receiver)
    ray.kill(sender)
    return forget, ask


_MESSAGE = {
    "sender": "farmer_1",
    "number": 17,
    "recipient": "exchange_town_1",
    "channel": "tool",
    "sent_at": 1234,
    "in_reply_to": "exchange_town_1#9",
    "payload": {"type": "view_offers", "direction": "incoming", "status": "pending"},
}

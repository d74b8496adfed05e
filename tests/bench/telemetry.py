"""What tracing costs: CPU with none, with Hanse's own, and with an SDK span for every message."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from actors.agent import Agent, handles
from actors.cast import Cast
from actors.context import Context
from actors.league import League
from actors.tracing import Telemetry
from services.config import GenerateConfig, RunConfig, standard
from services.messages import Message, Text
from services.runs import Run
from services.telemetry.completeness import completeness
from services.telemetry.inspection.find import find
from services.telemetry.inspection.why import why
from services.telemetry.reader import TraceReader
from tests.bench.measuring import Bench

WORKERS = 100
HOURS = 12
DAYS = 3
WORK = (0.0, 50.0, 100.0, 200.0)
SHARES = {100.0: 5.0}
"""By microseconds of work a message: the most that tracing may add, in per cent."""
DEFAULT_SHARE = 15.0


class Worker(Agent):
    """Does some work for every message, and every hour sends five on their way."""

    work = 0

    def start(self, context: Context) -> None:
        """Asks for the first hour."""
        context.wake_at(540)

    def wake(self, context: Context) -> None:
        """Sends, and asks for the next hour."""
        own = int(self.name.rpartition("_")[2])
        for step in range(1, 6):
            context.send(f"worker_{(own + 7 * step) % WORKERS}", Text(text="work"))
        hour = (context.now - 540) // 60 % 24 + 1
        context.wake_at(context.now + (60 if hour < HOURS else 1440 - 60 * (HOURS - 1)))

    @handles(Text)
    def on_text(self, message: Message, context: Context) -> None:
        """Works."""
        total = 0
        for number in range(self.work):
            total += number


class WithSdk(Worker):
    """The same with OpenTelemetry as its documentation has it: extract, a span, inject."""

    tracer: Any = None
    propagator: Any = None

    def handle(self, message: Message, context: Context) -> None:
        """A span around the handler, its context taken from and put into the mail."""
        given = self.propagator.extract({"traceparent": message.trace or ""})
        about = {
            "messaging.system": "hanse",
            "messaging.operation.type": "process",
            "messaging.destination.name": self.name,
            "messaging.message.id": message.id,
            "hanse.day": context.day,
        }
        with self.tracer.start_as_current_span("process", context=given, attributes=about):
            super().handle(message, context)
            header: dict[str, str] = {}
            self.propagator.inject(header)


class Workshop(Cast):
    """Workers, and nobody else."""

    made: type[Worker] = Worker

    def __init__(self, config: RunConfig, source: str = "run file") -> None:
        super().__init__(config, source)
        self.names = sorted(f"worker_{number}" for number in range(WORKERS))
        self.firms, self.towns = [], []

    def make(self, name: str) -> Agent:
        """A worker."""
        return self.made(name)


class WorkshopWithSdk(Workshop):
    """Workers with the SDK."""

    made = WithSdk


def bench(table: Bench, times: int, quick: bool) -> None:
    """CPU ratios side by side, and how fast a big run answers."""
    for microseconds in WORK:
        _bench_work(table, microseconds, times, {"Hanse": (Workshop, True)})
    _bench_default(table, 2 * times)
    # From here on there is OpenTelemetry in this process, and a place for spans in every call.
    _sdk()
    for microseconds in WORK:
        kinds = {"Hanse, own spans possible": (Workshop, True), "SDK": (WorkshopWithSdk, False)}
        _bench_work(table, microseconds, times, kinds)
    _bench_questions(table, 60 if quick else 300)


def _bench_work(
    table: Bench,
    microseconds: float,
    times: int,
    kinds: dict[str, tuple[type[Workshop], bool]],
) -> None:
    Worker.work = int(microseconds / _loop_microseconds())
    config = RunConfig(days=DAYS, placement="inline")
    runs: dict[str, Callable[[], int]] = {"off": lambda: _play(config, Workshop, traced=False)}
    for name, (cast, traced) in kinds.items():
        runs[name] = lambda cast=cast, traced=traced: _play(config, cast, traced=traced)  # type: ignore[misc]
    seconds, messages = _alternate(runs, times)
    what = f"{microseconds:.0f} us of work"
    for name, found in seconds.items():
        each = [1e6 * s / messages for s in found]
        table.add("telemetry", f"{what}: {name}", each, "us CPU a message")
    for name in kinds:
        more = _more(seconds["off"], seconds[name])
        goal = None if name == "SDK" else SHARES.get(microseconds)
        said = "" if goal is None else f"<= {goal:.0f} %"
        met = None if goal is None else statistics.median(more) <= goal
        table.add("telemetry", f"{what}: {name} over off", more, "%", said, met)


def _bench_default(table: Bench, times: int) -> None:
    config = standard().with_overrides(source="bench", placement="inline")
    runs: dict[str, Callable[[], int]] = {
        "off": lambda: _play(config, Cast, traced=False),
        "Hanse": lambda: _play(config, Cast, traced=True),
    }
    seconds, _ = _alternate(runs, times)
    table.add("telemetry", "default run: off", seconds["off"], "CPU s")
    table.add("telemetry", "default run: Hanse", seconds["Hanse"], "CPU s")
    more = _more(seconds["off"], seconds["Hanse"])
    goal = f"<= {DEFAULT_SHARE:.0f} %"
    met = statistics.median(more) <= DEFAULT_SHARE
    table.add("telemetry", "default run: Hanse over off", more, "%", goal, met)


def _bench_questions(table: Bench, firms: int) -> None:
    towns = max(1, firms // 20)
    config = RunConfig(
        days=60, placement="inline", generate=GenerateConfig(firms=firms, towns=towns)
    )
    with tempfile.TemporaryDirectory() as folder:
        run_folder = Path(folder) / "run"
        with League.create(config, run_folder) as league:
            league.run()
        run = Run(run_folder)
        spans = completeness(run).found
        size = sum(file.stat().st_size for file in run_folder.iterdir())
        name = f"a run of {spans:,} spans"
        table.add("telemetry", f"{name}: folder", size / spans, "bytes a span", "<= 250",
                  size / spans <= 250)  # fmt: skip
        chooser = random.Random(1)
        deals = [row[7] for row in run.rows("events", "kind = 'deal'")]
        asked = [_deal(body) for body in chooser.sample(deals, 10)]
        senders = [row[2:4] for row in run.rows("messages", "number % 97 = 0")]
        asked += [f"{who}#{number}" for who, number in chooser.sample(senders, 10)]
        exchanges = [row[2] for row in run.rows("events", "kind = 'deal'")]
        answered = []
        for place, target in enumerate(asked):
            began = time.perf_counter()
            reader = TraceReader(Run(run_folder))
            town = None if "#" in target else exchanges[place]
            why(reader, target, town=town)
            answered.append(time.perf_counter() - began)
        table.add("telemetry", f"{name}: why, 20 questions", answered, "s", "< 1 s, all",
                  max(answered) < 1)  # fmt: skip
        found = []
        for what in ({"agent": "exchange_town_1"}, {"kind": "payment"}, {"text": "D77"}):
            began = time.perf_counter()
            find(Run(run_folder), **what)  # type: ignore[arg-type]
            found.append(time.perf_counter() - began)
        table.add("telemetry", f"{name}: find", found, "s", "< 1 s, all", max(found) < 1)


def _deal(body: str) -> str:
    import json

    return str(json.loads(body)["deal"])


def _play(config: RunConfig, cast: type[Cast], traced: bool) -> int:
    with (
        tempfile.TemporaryDirectory() as folder,
        League.create(
            config, Path(folder) / "run", cast=cast, telemetry=Telemetry(traced=traced)
        ) as league,
    ):
        return league.run(until_day=config.days - 1).messages


def _alternate(
    runs: dict[str, Callable[[], int]], times: int
) -> tuple[dict[str, list[float]], int]:
    """CPU seconds of each, one after the other again and again, so that all see the same noise."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    messages = 0
    for round_ in range(times + 1):
        for name, run in runs.items():
            began = time.process_time()
            messages = run()
            if round_:  # the first is to warm up
                seconds[name].append(time.process_time() - began)
    return seconds, messages


def _more(off: list[float], on: list[float]) -> list[float]:
    """Per cent that each run takes longer than the one beside it."""
    return [100 * (b / a - 1) for a, b in zip(off, on, strict=True)]


def _loop_microseconds() -> float:
    """CPU that one turn of the workers' loop takes."""
    worker = Worker("worker_0")
    message = Message(
        sender="worker_1",
        number=1,
        recipient="worker_0",
        channel="comm",
        sent_at=0,
        payload=Text(text=""),
    )
    turns, Worker.work = Worker.work, 100_000
    found = []
    for _ in range(5):
        began = time.process_time()
        worker.on_text(message, Context("worker_0"))
        found.append(1e6 * (time.process_time() - began) / 100_000)
    Worker.work = turns
    return min(found)


def _sdk() -> None:
    """An SDK as it is set up by the book, with an exporter that throws all away."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import (
        BatchSpanProcessor,
        SpanExporter,
        SpanExportResult,
    )
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    class Nowhere(SpanExporter):
        def export(self, spans: Any) -> SpanExportResult:
            return SpanExportResult.SUCCESS

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Nowhere(), max_queue_size=100_000))
    WithSdk.tracer = provider.get_tracer("bench")
    WithSdk.propagator = TraceContextTextMapPropagator()

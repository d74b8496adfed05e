"""The pipeline: what waits, what is exported, what is dropped, and who is told."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from services.errors import HanseError
from services.telemetry.exporting import (
    Limits,
    Patience,
    Sent,
    SpanPipeline,
    pipeline_from_environment,
)
from services.telemetry.lane import Counts
from services.telemetry.sampling import Sampling
from services.telemetry.span import Span
from tests.services.telemetry.made_spans import RESOURCE, span, spans

_SMALL = Limits(queue=100, batch=10, export_timeout=0.05)


class Kept:
    """A sink that keeps what it gets."""

    name = "kept"
    trouble = ""

    def __init__(self) -> None:
        self.batches: list[list[Span]] = []
        self.closed = False

    def send(self, spans: Sequence[Span], patience: Patience) -> Sent:
        self.batches.append(list(spans))
        return Sent(len(spans), 0)

    def close(self, patience: Patience) -> None:
        self.closed = True

    @property
    def spans(self) -> list[Span]:
        return [span for batch in self.batches for span in batch]


class Held(Kept):
    """A sink that does not come back before it is let go."""

    name = "held"

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.entered = threading.Event()

    def send(self, spans: Sequence[Span], patience: Patience) -> Sent:
        self.entered.set()
        self.go.wait(20)
        return super().send(spans, patience)


class Raising(Kept):
    """A sink that is broken."""

    name = "raising"

    def send(self, spans: Sequence[Span], patience: Patience) -> Sent:
        raise RuntimeError("out of\norder")


def _pipeline(*sinks: Any, **more: Any) -> SpanPipeline:
    return SpanPipeline(sinks, RESOURCE, limits=more.pop("limits", _SMALL), **more)


def test_a_days_spans_arrive_in_their_order_and_are_counted() -> None:
    kept = Kept()
    pipeline = _pipeline(kept)
    pipeline.submit(spans(25))
    pipeline.submit(lambda: iter(spans(25, first=25)))
    assert pipeline.close(10) == {"kept": Counts(exported=50)}
    assert kept.spans == spans(50)
    assert kept.closed


def test_a_batch_is_never_larger_than_the_limit() -> None:
    kept = Kept()
    with _pipeline(kept) as pipeline:
        pipeline.submit(spans(25))
    assert [len(batch) for batch in kept.batches] == [10, 10, 5]


def test_the_function_that_gives_the_spans_is_called_in_the_background() -> None:
    callers: list[threading.Thread] = []

    def derive() -> Iterator[Span]:
        callers.append(threading.current_thread())
        yield span()

    with _pipeline(Kept()) as pipeline:
        pipeline.submit(derive)
    assert callers and callers[0] is not threading.current_thread()


def test_every_sink_gets_every_span() -> None:
    first, second = Kept(), Kept()
    with _pipeline(first, second) as pipeline:
        pipeline.submit(lambda: spans(30))
    assert first.spans == second.spans == spans(30)
    assert list(pipeline.counts()) == ["kept", "kept 2"]


def test_a_raising_sink_fails_for_itself_alone() -> None:
    kept = Kept()
    with _pipeline(Raising(), kept) as pipeline:
        pipeline.submit(spans(30))
    counts = pipeline.counts()
    assert counts["raising"] == Counts(failed=30, reason="RuntimeError: out of order")
    assert counts["kept"] == Counts(exported=30)


def test_a_hanging_sink_holds_up_neither_the_caller_nor_the_others_nor_the_end() -> None:
    held, kept = Held(), Kept()
    pipeline = _pipeline(held, kept)
    began = time.monotonic()
    pipeline.submit(spans(30))
    pipeline.submit(lambda: spans(30), count=30)
    assert time.monotonic() - began < 0.5
    assert held.entered.wait(5)
    counts = pipeline.close(0.3)
    assert time.monotonic() - began < 3
    assert counts["kept"] == Counts(exported=60)
    assert (counts["held"].exported, counts["held"].dropped) == (0, 60)
    held.go.set()


def test_what_a_sink_still_does_after_the_end_changes_no_count() -> None:
    held = Held()
    pipeline = _pipeline(held)
    pipeline.submit(spans(5))
    assert held.entered.wait(5)
    final = pipeline.close(0.05)
    held.go.set()
    while not held.batches:
        time.sleep(0.001)
    time.sleep(0.05)
    assert pipeline.counts() == final == pipeline.close(5)
    assert final["held"].dropped == 5


def test_a_hanging_sink_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    held = Held()
    pipeline = _pipeline(held)
    pipeline.submit(spans(1))
    assert held.entered.wait(5)
    time.sleep(0.1)
    pipeline.submit(spans(1))
    pipeline.submit(spans(1))
    assert caplog.text.count("held has not come back") == 1
    held.go.set()
    pipeline.close(5)


def test_of_spans_in_memory_no_more_wait_than_there_is_room_for() -> None:
    held = Held()
    pipeline = _pipeline(held)
    pipeline.submit(spans(70))
    pipeline.submit(spans(70, first=70))
    assert pipeline.counts()["held"].dropped == 40
    held.go.set()
    counts = pipeline.close(10)["held"]
    assert (counts.exported, counts.dropped) == (100, 40)
    assert held.spans == spans(100)
    assert "more than 100 spans waited" in counts.line("held")


def test_spans_that_are_still_to_be_derived_take_no_room() -> None:
    held = Held()
    pipeline = _pipeline(held)
    for day in range(50):
        pipeline.submit(lambda day=day: spans(10, first=10 * day))  # type: ignore[misc]
    held.go.set()
    assert pipeline.close(10)["held"] == Counts(exported=500)


def test_room_is_free_again_once_the_spans_are_through() -> None:
    kept = Kept()
    pipeline = _pipeline(kept)
    for _ in range(5):
        pipeline.submit(spans(100))
        while pipeline.counts()["kept"].exported % 100 or not kept.batches:
            time.sleep(0.001)
        time.sleep(0.02)
    assert pipeline.close(10)["kept"] == Counts(exported=500)


def test_a_day_that_cannot_be_read_is_told_and_the_next_is_exported() -> None:
    def broken() -> Iterator[Span]:
        yield from spans(10)
        raise HanseError("run.sqlite is damaged")

    kept = Kept()
    with _pipeline(kept) as pipeline:
        pipeline.submit(broken)
        pipeline.submit(broken, count=17)
        pipeline.submit(spans(3))
    counts = pipeline.counts()["kept"]
    assert (counts.exported, counts.dropped, counts.days_dropped) == (23, 7, 1)
    assert "run.sqlite is damaged" in counts.line("kept")


def test_a_drop_is_logged_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    held = Held()
    pipeline = _pipeline(held)
    pipeline.submit(spans(4))
    pipeline.submit(lambda: spans(4))
    assert held.entered.wait(5)
    pipeline.close(0.05)
    assert (
        "held: 0 spans exported, 4 dropped, 1 days not exported whole (there was no time left)"
        in caplog.messages
    )
    held.go.set()


def test_nothing_is_logged_when_all_goes_well(caplog: pytest.LogCaptureFixture) -> None:
    with _pipeline(Kept()) as pipeline:
        pipeline.submit(spans(4))
    assert caplog.messages == []


def test_a_day_that_comes_after_the_end_is_refused_and_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kept = Kept()
    pipeline = _pipeline(kept)
    pipeline.close(5)
    pipeline.submit(spans(4))
    assert kept.spans == []
    assert caplog.messages == ["a day's spans came after the end; they are not exported"]


def test_what_is_not_sampled_is_counted_apart() -> None:
    kept = Kept()
    with _pipeline(kept, sampling=Sampling(ALWAYS_OFF)) as pipeline:
        pipeline.submit(spans(30))
    assert pipeline.counts()["kept"] == Counts(unsampled=30)
    assert pipeline.counts()["kept"].complete


@given(
    days=st.lists(st.tuples(st.integers(0, 40), st.booleans(), st.booleans()), max_size=6),
    answers=st.lists(st.sampled_from(["take", "refuse", "raise", "half"]), max_size=30),
)
def test_every_span_is_accounted_for_whatever_the_sink_does(
    days: list[tuple[int, bool, bool]], answers: list[str]
) -> None:
    class Moody(Kept):
        def send(self, spans: Sequence[Span], patience: Patience) -> Sent:
            mood = answers.pop(0) if answers else "take"
            if mood == "raise":
                raise ValueError("no")
            taken = {"take": len(spans), "refuse": 0, "half": len(spans) // 2}[mood]
            return Sent(taken, 0 if mood == "half" else len(spans) - taken)

    with _pipeline(Moody()) as pipeline:
        for number, lazily, counted in days:
            day: Any = (lambda number=number: iter(spans(number))) if lazily else spans(number)
            pipeline.submit(day, number if counted and lazily else None)
    counts = pipeline.counts()["kept"]
    expected = sum(number for number, _, _ in days)
    assert counts.exported + counts.failed + counts.dropped == expected
    assert counts.days_dropped == 0


# ---- users' exporters and processors -----------------------------------------------------------


def test_any_exporter_of_the_sdk_plugs_in() -> None:
    exporter = InMemorySpanExporter()
    with _pipeline(exporter) as pipeline:
        pipeline.submit(spans(25))
    assert pipeline.counts() == {"InMemorySpanExporter": Counts(exported=25)}
    assert [s.context.span_id for s in exporter.get_finished_spans()] == [
        s.span_id for s in spans(25)
    ]


class Failing(SpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.FAILURE


def test_an_exporter_that_says_it_failed_is_believed() -> None:
    with _pipeline(Failing()) as pipeline:
        pipeline.submit(spans(25))
    assert pipeline.counts()["Failing"].failed == 25


def test_a_batch_processor_with_a_small_queue_of_its_own_loses_nothing() -> None:
    exporter = InMemorySpanExporter()
    processor = BatchSpanProcessor(exporter, max_queue_size=16, max_export_batch_size=16)
    with _pipeline(processor) as pipeline:
        pipeline.submit(spans(100))
    assert len(exporter.get_finished_spans()) == 100


def test_something_that_takes_no_spans_is_refused_in_one_line() -> None:
    with pytest.raises(HanseError, match="object takes no spans; give a SpanExporter"):
        _pipeline(object())


# ---- the environment ---------------------------------------------------------------------------


def test_the_limits_are_opentelemetrys_variables() -> None:
    environ = {
        "OTEL_BSP_MAX_QUEUE_SIZE": "3000",
        "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "30",
        "OTEL_BSP_EXPORT_TIMEOUT": "1500",
    }
    assert Limits.from_environment(environ) == Limits(3000, 30, 1.5)
    assert Limits.from_environment({}) == Limits()


def test_a_small_queue_makes_batches_small_too() -> None:
    assert Limits.from_environment({"OTEL_BSP_MAX_QUEUE_SIZE": "7"}).batch == 7


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"])
def test_a_limit_that_is_no_whole_number_is_refused_in_one_line(value: str) -> None:
    with pytest.raises(HanseError, match=r"^OTEL_BSP_MAX_QUEUE_SIZE=.* is not a whole number"):
        Limits.from_environment({"OTEL_BSP_MAX_QUEUE_SIZE": value})


def test_a_batch_that_exceeds_the_queue_is_refused_in_one_line() -> None:
    environ = {"OTEL_BSP_MAX_QUEUE_SIZE": "5", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "6"}
    with pytest.raises(HanseError, match="BATCH_SIZE=6 exceeds OTEL_BSP_MAX_QUEUE_SIZE=5"):
        Limits.from_environment(environ)


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_TRACES_EXPORTER": "none"},
    ],
)
def test_without_an_endpoint_there_is_no_pipeline(environ: dict[str, str], manifest: Any) -> None:
    assert pipeline_from_environment(manifest, environ) is None


def test_the_caller_is_never_kept_waiting(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    held = Held()
    pipeline = _pipeline(held, Raising(), limits=Limits(queue=10_000))
    days: list[Callable[[], list[Span]]] = [lambda: spans(1000)] * 200
    began = time.thread_time()
    for day in days:
        pipeline.submit(day, 1000)
    assert (time.thread_time() - began) / len(days) < 0.002
    held.go.set()
    pipeline.close(0.1)

"""OTLP over HTTP, against a collector on the loopback."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from services.telemetry.exporting import Limits, SpanPipeline
from services.telemetry.lane import Counts
from services.telemetry.otlp import OtlpSettings, OtlpSink
from services.telemetry.otlp_encoding import request
from services.telemetry.sdk import readable, scope_of
from services.telemetry.span import Span
from tests.services.telemetry.collector import Answer, Collector
from tests.services.telemetry.made_spans import RESOURCE, rich_span, span, spans

_SECRET = "t0ps3cret-value"


def _pipeline(url: str, **settings: Any) -> SpanPipeline:
    sink = OtlpSink(OtlpSettings(f"{url}/v1/traces", **settings), RESOURCE)
    return SpanPipeline([sink], RESOURCE, limits=Limits(batch=100))


def _ids(made: list[Span]) -> list[int]:
    return [s.span_id for s in made]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(done: Callable[[], bool]) -> None:
    ends = time.monotonic() + 20
    while not done():
        assert time.monotonic() < ends
        time.sleep(0.01)


# ---- what is sent ------------------------------------------------------------------------------


def test_the_encoding_is_that_of_the_official_exporter() -> None:
    made = [rich_span(), span(parent_id=None), *spans(20)]
    scope = scope_of(RESOURCE)
    assert request(made, RESOURCE) == encode_spans([readable(s, RESOURCE, scope) for s in made])


@pytest.mark.parametrize("compression", ["gzip", "deflate", "none"])
def test_the_official_classes_read_what_arrives(compression: str) -> None:
    with Collector() as collector:
        with _pipeline(collector.url, compression=compression) as pipeline:
            pipeline.submit([rich_span(), *spans(249)])
        assert pipeline.counts()["otlp"] == Counts(exported=250)
        assert collector.span_ids() == _ids([rich_span(), *spans(249)])
        [first, *_] = collector.requests
    assert first.path == "/v1/traces"
    assert first.headers["Content-Type"] == "application/x-protobuf"
    assert first.headers.get("Content-Encoding", "none") == compression
    [group] = ExportTraceServiceRequest.FromString(first.body).resource_spans
    assert {a.key for a in group.resource.attributes} >= {"service.name", "hanse.seed"}
    made = group.scope_spans[0].spans[0]
    assert made.status.message == "refused: not enough cash"
    assert made.events[0].name == "exception"
    assert len(made.links) == 2


def test_headers_are_sent_decoded() -> None:
    environ = {
        "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer%20{_SECRET}, x-tenant = coffee ",
    }
    with Collector() as collector:
        settings = OtlpSettings.from_environment(
            environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        )
        with SpanPipeline([OtlpSink(settings, RESOURCE)], RESOURCE) as pipeline:
            pipeline.submit(spans(1))
        headers = collector.requests[0].headers
    assert headers["authorization"] == f"Bearer {_SECRET}"
    assert headers["x-tenant"] == "coffee"
    assert _SECRET not in repr(settings)


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{_free_port()}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with Collector() as collector:
        with _pipeline(collector.url) as pipeline:
            pipeline.submit(spans(3))
        assert pipeline.counts()["otlp"] == Counts(exported=3)


# ---- collectors that misbehave -----------------------------------------------------------------


def test_a_collector_that_comes_up_late_gets_everything() -> None:
    port = _free_port()
    pipeline = _pipeline(f"http://127.0.0.1:{port}")
    for day in range(5):
        pipeline.submit(lambda day=day: spans(50, first=50 * day))  # type: ignore[misc]
    time.sleep(0.3)
    assert pipeline.counts()["otlp"] == Counts()
    with Collector(port=port) as collector:
        assert pipeline.close(15)["otlp"].exported == 250
        assert collector.span_ids() == _ids(spans(250))


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_collector_that_is_busy_is_asked_again(status: int) -> None:
    with Collector(Answer(status), Answer(status)) as collector:
        with _pipeline(collector.url) as pipeline:
            pipeline.submit(spans(3))
        assert pipeline.counts()["otlp"] == Counts(exported=3)
        assert len(collector.requests) == 3


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_collector_says_how_long_it_wants_to_be_left_alone(form: str) -> None:
    after = "1" if form == "seconds" else formatdate(time.time() + 2, usegmt=True)
    with Collector(Answer(429, {"Retry-After": after})) as collector:
        pipeline = _pipeline(collector.url)
        began = time.monotonic()
        pipeline.submit(spans(3))
        while pipeline.counts()["otlp"].exported < 3:
            assert time.monotonic() - began < 10
            time.sleep(0.01)
        assert 0.8 <= time.monotonic() - began < 5
        pipeline.close(5)


@pytest.mark.parametrize("status", [301, 400, 401, 404, 413, 500])
def test_what_a_collector_refuses_for_good_has_failed_and_is_not_sent_again(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    with Collector(Answer(status, {"Location": "/elsewhere"})) as collector:
        with _pipeline(collector.url) as pipeline:
            pipeline.submit(spans(100))
            pipeline.submit(spans(7, first=100))
        counts = pipeline.counts()["otlp"]
        assert (counts.exported, counts.failed, counts.dropped) == (7, 100, 0)
        assert len(collector.requests) == 2
    assert f"answered {status}" in counts.line("otlp")
    assert f"answered {status}" in caplog.text


def test_spans_that_a_collector_rejects_one_by_one_are_counted() -> None:
    partly = ExportTraceServiceResponse()
    partly.partial_success.rejected_spans = 4
    partly.partial_success.error_message = "too old"
    with Collector(Answer(body=partly.SerializeToString())) as collector:
        with _pipeline(collector.url) as pipeline:
            pipeline.submit(spans(10))
        counts = pipeline.counts()["otlp"]
    assert (counts.exported, counts.failed, counts.reason) == (6, 4, "too old")


def test_a_collector_may_answer_with_any_text() -> None:
    with Collector(Answer(body=b"\xff\xfe thanks")) as collector:
        with _pipeline(collector.url) as pipeline:
            pipeline.submit(spans(10))
        assert pipeline.counts()["otlp"] == Counts(exported=10)


def test_a_collector_that_hangs_keeps_neither_the_caller_nor_the_end_waiting() -> None:
    with Collector() as collector:
        collector.hang.set()
        pipeline = _pipeline(collector.url)
        began = time.monotonic()
        for _ in range(50):
            pipeline.submit(lambda: spans(20), count=20)
        assert time.monotonic() - began < 0.5
        began = time.monotonic()
        counts = pipeline.close(0.5)["otlp"]
        assert time.monotonic() - began < 2
    assert (counts.exported, counts.failed, counts.dropped) == (0, 0, 1000)


def test_a_collector_that_wakes_up_gets_everything() -> None:
    with Collector() as collector:
        collector.hang.set()
        pipeline = _pipeline(collector.url, timeout=0.1)
        pipeline.submit(spans(20))
        time.sleep(0.3)
        collector.hang.clear()
        counts = pipeline.close(10)["otlp"]
        assert (counts.exported, counts.complete) == (20, True)
        assert set(collector.span_ids()) == set(_ids(spans(20)))


def test_an_end_with_nobody_at_the_other_side_keeps_its_deadline() -> None:
    pipeline = _pipeline(f"http://127.0.0.1:{_free_port()}")
    pipeline.submit(spans(20))
    pipeline.submit(lambda: spans(5), count=5)
    time.sleep(1.0)
    began = time.monotonic()
    counts = pipeline.close(0.3)["otlp"]
    assert time.monotonic() - began < 2
    assert counts.dropped == 25
    assert "cannot be reached" in counts.line("otlp")


def test_a_batch_is_given_up_when_the_user_has_set_a_time_for_it() -> None:
    with Collector(*[Answer(503)] * 50) as collector:
        with _pipeline(collector.url, give_up=0.5) as pipeline:
            pipeline.submit(spans(20))
            _wait_for(lambda: pipeline.counts()["otlp"].failed > 0)
        assert pipeline.counts()["otlp"].failed == 20


def test_once_a_collector_has_been_given_up_each_batch_is_tried_once_until_it_is_back() -> None:
    with Collector(*[Answer(503)] * 8) as collector:
        with _pipeline(collector.url, give_up=0.5) as pipeline:
            pipeline.submit(spans(1100))
            _wait_for(lambda: sum(pipeline.counts()["otlp"][:2]) == 1100)
        counts = pipeline.counts()["otlp"]
        assert 9 < len(collector.requests) <= 8 + 11
    # Two or three attempts at the first batch, then one for each of the next, then it is back.
    assert counts.failed in (600, 700)
    assert counts.exported == 1100 - counts.failed


def test_a_collector_that_is_away_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    pipeline = _pipeline(f"http://user:{_SECRET}@127.0.0.1:{_free_port()}")
    pipeline.submit(spans(20))
    time.sleep(0.8)
    pipeline.close(0.2)
    assert caplog.text.count("the spans wait and are sent again") == 1
    assert _SECRET not in caplog.text + pipeline.counts()["otlp"].line("otlp")


def test_the_callers_time_does_not_depend_on_the_collector() -> None:
    with Collector() as collector:
        collector.hang.set()
        pipeline = _pipeline(collector.url)
        took = []
        for _ in range(200):
            began = time.thread_time()
            pipeline.submit(lambda: spans(100), count=100)
            took.append(time.thread_time() - began)
        pipeline.close(0.1)
    assert sorted(took)[len(took) // 2] < 0.001


def test_the_official_exporter_may_be_used_and_does_not_hold_up_the_end_either() -> None:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    with Collector() as collector:
        exporter = OTLPSpanExporter(f"{collector.url}/v1/traces")
        pipeline = SpanPipeline([exporter], RESOURCE)
        pipeline.submit(spans(20))
        _wait_for(lambda: bool(collector.requests))
        collector.hang.set()
        pipeline.submit(spans(20, first=20))
        began = time.monotonic()
        counts = pipeline.close(0.3)["OTLPSpanExporter"]
        assert time.monotonic() - began < 2
    assert (counts.exported, counts.dropped) == (20, 20)


def test_a_process_ends_although_a_collector_hangs() -> None:
    code = """if True:
        import sys
        from services.telemetry.exporting import SpanPipeline
        from services.telemetry.otlp import OtlpSettings, OtlpSink
        from tests.services.telemetry.made_spans import RESOURCE, spans
        sink = OtlpSink(OtlpSettings(sys.argv[1]), RESOURCE)
        pipeline = SpanPipeline([sink], RESOURCE)
        pipeline.submit(spans(5))
        print(pipeline.close(2.0)["otlp"].dropped)
    """
    with Collector() as collector:
        collector.hang.set()
        done = subprocess.run(
            [sys.executable, "-c", code, collector.url],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    assert done.stdout == "5\n"
    assert "has not answered yet" in done.stderr and "Traceback" not in done.stderr


def test_nothing_of_the_exporting_outlives_the_end() -> None:
    with Collector() as collector:
        with _pipeline(collector.url) as pipeline:
            pipeline.submit(spans(1))
        names = [thread.name for thread in threading.enumerate()]
    assert "spans-otlp" not in names

"""A whole run on its way out: the same spans wherever they go."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from services.config import RunConfig
from services.runs import Run
from services.telemetry.exporting import SpanPipeline
from services.telemetry.lane import Counts
from services.telemetry.otlp import OtlpSettings, OtlpSink
from services.telemetry.otlp_lines import with_base64_ids, write_otlp_lines
from services.telemetry.perfetto import ClockName, write_perfetto
from services.telemetry.reader import TraceReader
from services.telemetry.sdk import describe
from services.telemetry.span import Span
from services.telemetry.spans import derive
from tests.services.telemetry.collector import Collector
from tests.services.telemetry.made_runs import all_spans, play


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> TraceReader:
    """The standard league over four days; to be read only."""
    return play(RunConfig(days=4, placement="inline"), tmp_path_factory.mktemp("four") / "run")


@pytest.fixture(scope="module")
def made(reader: TraceReader) -> list[Span]:
    return list(all_spans(reader))


def test_a_collector_an_exporter_and_a_processor_get_all_of_it(
    reader: TraceReader, made: list[Span]
) -> None:
    ids = [span.span_id for span in made]
    exporter, behind = InMemorySpanExporter(), InMemorySpanExporter()
    about = describe(reader.run.manifest)

    def day(number: int) -> list[Span]:
        return list(derive(TraceReader(Run(reader.run.folder)), number))

    with Collector() as collector:
        sink = OtlpSink(OtlpSettings(f"{collector.url}/v1/traces"), about)
        with SpanPipeline([sink, exporter, SimpleSpanProcessor(behind)], about) as pipeline:
            for number in reader.days:
                pipeline.submit(lambda number=number: day(number))  # type: ignore[misc]
            counts = pipeline.close(60)
        assert collector.span_ids() == ids
    assert counts == dict.fromkeys(counts, Counts(exported=len(ids)))
    for finished in (exporter.get_finished_spans(), behind.get_finished_spans()):
        assert [span.get_span_context().span_id for span in finished] == ids  # type: ignore[union-attr]


def test_a_file_of_lines_holds_all_of_it(
    reader: TraceReader, made: list[Span], tmp_path: Path
) -> None:
    path = tmp_path / "spans.jsonl"
    assert write_otlp_lines(iter(made), path, describe(reader.run.manifest)) == len(made)
    ids = []
    for line in path.read_text("utf-8").split("\n")[:-1]:
        whole = ExportTraceServiceRequest()
        json_format.Parse(with_base64_ids(line), whole)
        ids += [span.span_id for span in whole.resource_spans[0].scope_spans[0].spans]
    assert ids == [span.span_id.to_bytes(8, "big") for span in made]


@pytest.mark.parametrize("clock", ["wall", "virtual"])
def test_on_every_track_work_lies_within_work_and_every_arrow_in_both_its_ends(
    made: list[Span], tmp_path: Path, clock: ClockName
) -> None:
    path = tmp_path / "trace.json"
    assert write_perfetto(iter(made), path, clock) == len(made)
    events: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["traceEvents"]
    tracks = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            begin, end = round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)
            tracks[event["pid"], event["tid"]].append((begin, end))
    for slices in tracks.values():
        around: list[int] = []
        for begin, end in sorted(slices, key=lambda s: (s[0], -s[1])):
            while around and around[-1] <= begin:
                around.pop()
            assert not around or end <= around[-1]
            around.append(end)
    arrows: dict[str, list[str]] = defaultdict(list)
    for event in events:
        if event["ph"] in "sf":
            arrows[event["id"]].append(event["ph"])
            at = round(event["ts"] * 1000)
            track = tracks[event["pid"], event["tid"]]
            assert any(begin <= at < end for begin, end in track)
    assert len(arrows) == sum(span.kind == "PRODUCER" for span in made)
    assert {tuple(ends) for ends in arrows.values()} == {("s", "f")}

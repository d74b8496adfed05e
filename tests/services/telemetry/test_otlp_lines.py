"""OTLP JSON lines, read back by the official classes."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf import json_format  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from services.errors import HanseError
from services.telemetry.otlp_encoding import request
from services.telemetry.otlp_lines import with_base64_ids, write_otlp_lines
from services.telemetry.span import Span
from tests.services.telemetry.made_spans import RESOURCE, rich_span, span, spans


def _read(line: str) -> ExportTraceServiceRequest:
    whole = ExportTraceServiceRequest()
    json_format.Parse(with_base64_ids(line), whole)
    return whole


def _lines(path: Path, made: list[Span]) -> list[str]:
    assert write_otlp_lines(iter(made), path, RESOURCE) == len(made)
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def test_the_official_classes_read_back_what_would_be_sent(tmp_path: Path) -> None:
    odd = span(start=-1, end=2**70)
    made = [rich_span(), span(parent_id=None), odd, *spans(20)]
    [line] = _lines(tmp_path / "spans.jsonl", made)
    assert _read(line) == request(made, RESOURCE)


def test_it_is_otlps_own_json(tmp_path: Path) -> None:
    [line] = _lines(tmp_path / "spans.jsonl", [rich_span()])
    [group] = json.loads(line)["resourceSpans"]
    [scope] = group["scopeSpans"]
    [made] = scope["spans"]
    assert made["traceId"] == f"{rich_span().trace_id:032x}"
    assert made["spanId"] == f"{rich_span().span_id:016x}"
    assert made["kind"] == 1
    assert made["startTimeUnixNano"] == str(rich_span().start)
    values = {a["key"]: a["value"] for a in made["attributes"]}
    assert values["large"] == {"intValue": str(2**62)}
    assert values["price"] == {"doubleValue": 12.25}
    assert values["list"] == {
        "arrayValue": {"values": [{"stringValue": "a"}, {"stringValue": "b"}]}
    }
    assert made["links"][0]["traceId"] == f"{5:032x}"
    assert made["status"] == {"code": 2, "message": "refused: not enough cash"}


def test_each_line_is_a_request_of_bounded_size(tmp_path: Path) -> None:
    lines = _lines(tmp_path / "spans.jsonl", spans(1100))
    assert [len(_read(x).resource_spans[0].scope_spans[0].spans) for x in lines] == [512, 512, 76]


@given(value=st.floats() | st.integers() | st.text(st.characters(codec=None)) | st.booleans())
def test_any_value_comes_back(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    made = [span(attributes={"value": value})]
    path = tmp_path_factory.mktemp("lines") / "spans.jsonl"
    [line] = _lines(path, made)
    back = _read(line).resource_spans[0].scope_spans[0].spans[0].attributes[0].value
    sent = request(made, RESOURCE).resource_spans[0].scope_spans[0].spans[0].attributes[0].value
    if isinstance(value, float) and math.isnan(value):
        assert math.isnan(back.double_value) and math.isnan(sent.double_value)
    else:
        assert back == sent


def test_a_name_with_gz_is_compressed(tmp_path: Path) -> None:
    write_otlp_lines(spans(3), tmp_path / "spans.jsonl.gz", RESOURCE)
    [line] = gzip.decompress((tmp_path / "spans.jsonl.gz").read_bytes()).decode().splitlines()
    assert _read(line) == request(spans(3), RESOURCE)


def test_without_spans_the_file_is_empty(tmp_path: Path) -> None:
    assert _lines(tmp_path / "spans.jsonl", []) == []


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    def broken() -> Iterator[Span]:
        yield span()
        raise HanseError("run.sqlite is damaged")

    path = tmp_path / "spans.jsonl"
    path.write_text("old")
    with pytest.raises(HanseError, match="damaged"):
        write_otlp_lines(broken(), path, RESOURCE)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["spans.jsonl"]


def test_a_file_that_cannot_be_written_is_named_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(HanseError, match=r"nowhere/spans.jsonl cannot be written: No such file"):
        write_otlp_lines(spans(1), tmp_path / "nowhere" / "spans.jsonl", RESOURCE)

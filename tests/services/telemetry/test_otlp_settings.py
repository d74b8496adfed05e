"""What the variables OTEL_EXPORTER_OTLP_* mean, and how bad values are refused."""

from __future__ import annotations

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from services.errors import HanseError
from services.runs.manifest import Manifest
from services.telemetry.exporting import pipeline_from_environment
from services.telemetry.otlp import OtlpSettings
from tests.services.telemetry.collector import Collector
from tests.services.telemetry.made_spans import spans

_SECRET = "t0ps3cret-value"
_HERE = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}


def _settings(**environ: str) -> OtlpSettings:
    return OtlpSettings.from_environment({**_HERE, **environ})


def test_the_defaults_are_gzip_and_ten_seconds() -> None:
    settings = _settings()
    assert settings.endpoint == "http://localhost:4318/v1/traces"
    assert (settings.compression, settings.timeout, dict(settings.headers)) == ("gzip", 10, {})


@pytest.mark.parametrize(
    ("base", "endpoint"),
    [
        ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
        ("https://collect.example/otlp", "https://collect.example/otlp/v1/traces"),
        ("https://collect.example/?k=v", "https://collect.example/v1/traces?k=v"),
        ("http://[::1]:4318", "http://[::1]:4318/v1/traces"),
    ],
)
def test_the_path_is_added_to_the_endpoint_of_all_signals(base: str, endpoint: str) -> None:
    assert _settings(OTEL_EXPORTER_OTLP_ENDPOINT=base).endpoint == endpoint


def test_the_endpoint_of_traces_is_taken_as_it_is() -> None:
    settings = _settings(OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="http://localhost:9/in")
    assert settings.endpoint == "http://localhost:9/in"


def test_the_variables_of_a_signal_go_first() -> None:
    settings = _settings(
        OTEL_EXPORTER_OTLP_HEADERS="a=1",
        OTEL_EXPORTER_OTLP_TRACES_HEADERS="b=2",
        OTEL_EXPORTER_OTLP_TIMEOUT="4",
        OTEL_EXPORTER_OTLP_TRACES_TIMEOUT="0.5",
        OTEL_EXPORTER_OTLP_COMPRESSION="none",
        OTEL_EXPORTER_OTLP_TRACES_COMPRESSION="Deflate",
        OTEL_EXPORTER_OTLP_CERTIFICATE="ca.pem",
        OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE="me.pem",
        OTEL_EXPORTER_OTLP_CLIENT_KEY="key.pem",
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL="http/protobuf",
        OTEL_EXPORTER_OTLP_PROTOCOL="grpc",
        OTEL_BSP_EXPORT_TIMEOUT="2500",
    )
    assert dict(settings.headers) == {"b": "2"}
    assert (settings.timeout, settings.compression, settings.give_up) == (0.5, "deflate", 2.5)
    assert (settings.verify, settings.certificate) == ("ca.pem", ("me.pem", "key.pem"))


def test_a_timeout_in_milliseconds_is_understood() -> None:
    assert _settings(OTEL_EXPORTER_OTLP_TIMEOUT="10000").timeout == 10


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "speaks http/protobuf only; unset it"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json", "speaks http/protobuf only"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318", "is not a URL with http://"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://localhost:4317", "is not a URL with http://"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:none", "is not a URL with http://"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://", "is not a URL with http://"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon", "is not a number of seconds above 0"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "0", "is not a number of seconds above 0"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "inf", "is not a number of seconds above 0"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zip", "is none of gzip, deflate, none"),
        ("OTEL_EXPORTER_OTLP_HEADERS", f"{_SECRET}", "is not of the form name=value"),
        ("OTEL_EXPORTER_OTLP_HEADERS", f"a b={_SECRET}", "is not of the form name=value"),
        ("OTEL_EXPORTER_OTLP_HEADERS", f"a={_SECRET}%0d%0aevil: 1", "is not of the form"),
        ("OTEL_EXPORTER_OTLP_HEADERS", f"a={_SECRET}%E2%82%AC", "no HTTP header can carry"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_in_one_line(
    name: str, value: str, says: str
) -> None:
    with pytest.raises(HanseError) as refused:
        _settings(**{name: value})
    [line] = str(refused.value).splitlines()
    assert line.startswith(name) and says in line
    assert _SECRET not in line


def test_an_endpoint_in_the_environment_is_enough(manifest: Manifest) -> None:
    with Collector() as collector:
        environ = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_TRACES_SAMPLER": "traceidratio",
            "OTEL_TRACES_SAMPLER_ARG": "0.5",
        }
        pipeline = pipeline_from_environment(manifest, environ)
        assert pipeline is not None
        with pipeline:
            pipeline.submit(spans(200))
        counts = pipeline.counts()["otlp"]
        assert counts.exported + counts.unsampled == 200
        assert 60 < counts.exported == len(collector.span_ids()) < 140
        [group] = ExportTraceServiceRequest.FromString(collector.requests[0].body).resource_spans
    about = {a.key: a.value.string_value or a.value.int_value for a in group.resource.attributes}
    assert about["hanse.run"] == manifest.id
    assert about["service.name"]


def test_a_bad_value_in_the_environment_stops_before_the_run(manifest: Manifest) -> None:
    with pytest.raises(HanseError, match="OTEL_TRACES_SAMPLER"):
        pipeline_from_environment(manifest, {**_HERE, "OTEL_TRACES_SAMPLER": "x"})

"""Measurements: what is measured, who reads it, and that nobody else pays."""

from __future__ import annotations

import socket
import sys
import time
import types
import urllib.request
from typing import Any

import pytest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from services.errors import HanseError
from services.runs.manifest import Manifest
from services.telemetry import ray_metrics
from services.telemetry.day_metrics import DayMetrics
from services.telemetry.metrics import CATALOGUE, MOST_FIRMS, OTHERS, Metrics
from services.telemetry.timings import Timings, pack
from tests.services.telemetry.collector import Answer, Collector

_DAY = DayMetrics(
    day=4,
    messages={"turn": 30, "command": 29},
    message_bytes={"turn": 900, "command": 2000},
    handler_seconds={"roaster": [0.00002, 0.3], "exchange": [0.0004]},
    queue_length=6,
    deals=3,
    cash={"roaster_A": 12.5, "roaster_B": -3.0},
    alerts={"monitor": 1},
    measures={"quarantine": 2},
    hosts_remade=1,
    troubles={"agent_error": 2},
    spans_exported={"otlp": 100},
    spans_dropped={"otlp": 7},
)


def _points(reader: InMemoryMetricReader) -> dict[tuple[str, str], Any]:
    """By metric and the one attribute's value."""
    data = reader.get_metrics_data()
    assert data is not None
    return {
        (metric.name, str(next(iter((point.attributes or {}).values()), ""))): point
        for group in data.resource_metrics
        for scope in group.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
    }


def _values(*days: DayMetrics) -> dict[tuple[str, str], Any]:
    reader = InMemoryMetricReader()
    metrics = Metrics(readers=[reader], use_ray=False)
    for day in days:
        metrics.record(day)
    return {key: getattr(point, "value", point) for key, point in _points(reader).items()}


# ---- what is measured --------------------------------------------------------------------------


def test_a_day_is_fed_to_its_metrics() -> None:
    values = _values(_DAY)
    expected = {
        ("hanse.day", ""): 4,
        ("hanse.messages", "turn"): 30,
        ("hanse.messages", "command"): 29,
        ("hanse.message.bytes", "turn"): 900,
        ("hanse.message.bytes", "command"): 2000,
        ("hanse.queue.length", ""): 6,
        ("hanse.deals", ""): 3,
        ("hanse.cash", "roaster_A"): 12.5,
        ("hanse.cash", "roaster_B"): -3.0,
        ("hanse.alerts", "monitor"): 1,
        ("hanse.measures", "quarantine"): 2,
        ("hanse.hosts.remade", ""): 1,
        ("hanse.agent.errors", "agent_error"): 2,
        ("hanse.spans.exported", "otlp"): 100,
        ("hanse.spans.dropped", "otlp"): 7,
    }
    assert {key: values[key] for key in expected} == expected
    assert {name for name, _ in values} == set(CATALOGUE)


def test_durations_make_a_histogram_by_role() -> None:
    values = _values(_DAY)
    roaster = values["hanse.handler.duration", "roaster"]
    assert (roaster.count, roaster.sum) == (2, pytest.approx(0.30002))
    assert values["hanse.handler.duration", "exchange"].count == 1
    assert roaster.explicit_bounds[0] <= 1e-5


@pytest.mark.parametrize(
    ("handled", "observed"), [(0, 0), (1, 1), (1000, 1000), (1001, 501), (50_000, 1000)]
)
def test_of_very_many_durations_an_even_choice_is_observed(handled: int, observed: int) -> None:
    day = DayMetrics(day=0, handler_seconds={"firm": [n / handled for n in range(handled)]})
    point = _values(day).get(("hanse.handler.duration", "firm"))
    assert (point.count if point else 0) == observed
    if point and handled > 1000:
        assert point.sum / point.count == pytest.approx(0.5, abs=0.01)


def test_counters_grow_and_gauges_follow() -> None:
    values = _values(_DAY, DayMetrics(day=5, messages={"turn": 1}, cash={"roaster_A": 2.0}))
    assert values["hanse.messages", "turn"] == 31
    assert values["hanse.cash", "roaster_A"] == 2.0
    assert values["hanse.day", ""] == 5


def test_the_spans_counts_of_a_day_are_those_since_the_start() -> None:
    later = DayMetrics(day=5, spans_exported={"otlp": 130}, spans_dropped={"otlp": 7})
    values = _values(_DAY, later)
    assert values["hanse.spans.exported", "otlp"] == 130
    assert values["hanse.spans.dropped", "otlp"] == 7


def test_hosts_that_were_remade_are_those_since_the_start_of_the_run() -> None:
    days = [DayMetrics(day=5, hosts_remade=1), DayMetrics(day=6, hosts_remade=3)]
    assert _values(_DAY, *days)["hanse.hosts.remade", ""] == 3


def test_a_thousand_firms_do_not_make_a_thousand_series() -> None:
    values = _values(DayMetrics(day=0, cash={f"firm_{n:04}": 1.0 for n in range(1000)}))
    cash = {firm: value for (name, firm), value in values.items() if name == "hanse.cash"}
    assert len(cash) == MOST_FIRMS + 1
    assert cash[OTHERS] == 1000 - MOST_FIRMS


def test_a_days_rows_are_summed_up() -> None:
    messages = [
        (540, 0, "exchange", 1, "roaster_A", "comm", "turn", None, None, None, '{"day":0}'),
        (540, 0, "roaster_B", 1, "roaster_A", "comm", "letter", None, None, None, '{"a":"é"}'),
        (540, 1, "roaster_A", 1, "exchange", "tool", "command", None, None, None, "{}"),
    ]
    events = [
        (540, 2, "exchange", 1, "roaster_A#1", "deal", "roaster_A", "{}"),
        (540, 2, "exchange", 2, None, "turn_missed", "roaster_A", "{}"),
        (540, 2, "watcher", 1, None, "alert", "", "{}"),
        (600, 1, "roaster_B", 1, None, "measure", "roaster_B", '{"kind":"throttle"}'),
    ]
    figures = [(0, "roaster_A", '{"role":"roaster","cash":14.5}'), (0, "watcher", "{}")]
    handled = [("exchange", 1, 5, 10, 2000), ("roaster_A", 1, 5, 10, 4000)]
    timings = [Timings.unpack(pack("host-0", 0, handled, []))]
    assert DayMetrics.of_rows(0, messages, events, figures, timings, spans_dropped={"x": 1}) == (
        DayMetrics(
            day=0,
            messages={"turn": 1, "letter": 1, "command": 1},
            message_bytes={"turn": 9, "letter": 10, "command": 2},
            handler_seconds={"roaster": [2e-6], "exchange": [4e-6]},
            queue_length=2,
            deals=1,
            cash={"roaster_A": 14.5},
            alerts={"watcher": 1},
            measures={"throttle": 1},
            troubles={"turn_missed": 1},
            spans_dropped={"x": 1},
        )
    )


# ---- nobody reads ------------------------------------------------------------------------------


def test_without_a_reader_nothing_is_wanted(manifest: Manifest) -> None:
    for environ in (
        {},
        {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1"},
        {"OTEL_METRICS_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1"},
    ):
        metrics = Metrics.from_environment(manifest, environ)
        assert not metrics.wanted
        metrics.record(_DAY)
        metrics.close()


def test_without_a_reader_opentelemetry_is_not_even_imported() -> None:
    import subprocess

    code = (
        "import sys; from services.telemetry.metrics import Metrics;"
        "m = Metrics(); m.wanted; m.close();"
        "print([n for n in sys.modules if n.startswith(('opentelemetry', 'prometheus', 'ray'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---- prometheus --------------------------------------------------------------------------------


def _scrape(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        return str(answer.read().decode())


def test_prometheus_reads_the_numbers_on_this_machine(manifest: Manifest) -> None:
    with Metrics.from_environment(manifest, {}, prometheus_port=0) as metrics:
        assert metrics.wanted and metrics.port
        metrics.record(_DAY)
        page = _scrape(metrics.port)
    assert 'hanse_messages_total{hanse_message_type="turn"} 30.0' in page
    assert 'hanse_cash{hanse_firm="roaster_B"} -3.0' in page
    assert 'hanse_handler_duration_seconds_count{hanse_agent_role="roaster"} 2.0' in page
    assert f'hanse_run="{manifest.id}"' in page


def test_the_numbers_are_served_to_this_machine_alone(manifest: Manifest) -> None:
    with Metrics.from_environment(manifest, {}, prometheus_port=0) as metrics:
        assert metrics._server.server_address[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_told_in_one_line(manifest: Manifest) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(HanseError, match=rf"^port {port} on 127.0.0.1 cannot be used") as why:
            Metrics.from_environment(manifest, {}, prometheus_port=port)
    assert "\n" not in str(why.value)


def test_the_port_is_free_again_afterwards(manifest: Manifest) -> None:
    with Metrics.from_environment(manifest, {}, prometheus_port=0) as metrics:
        port = metrics.port
    with Metrics.from_environment(manifest, {}, prometheus_port=port) as again:
        assert again.port == port


def test_the_environment_may_ask_for_prometheus(manifest: Manifest) -> None:
    environ = {"OTEL_METRICS_EXPORTER": "prometheus", "OTEL_EXPORTER_PROMETHEUS_PORT": "0"}
    with Metrics.from_environment(manifest, environ) as metrics:
        assert metrics.port


def test_a_port_that_is_none_is_refused_in_one_line(manifest: Manifest) -> None:
    environ = {"OTEL_METRICS_EXPORTER": "prometheus", "OTEL_EXPORTER_PROMETHEUS_PORT": "web"}
    with pytest.raises(HanseError, match=r"^OTEL_EXPORTER_PROMETHEUS_PORT='web' is not a port"):
        Metrics.from_environment(manifest, environ)


# ---- a collector -------------------------------------------------------------------------------


def test_a_collector_gets_the_numbers_at_the_end_at_the_latest(manifest: Manifest) -> None:
    with Collector() as collector:
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        with Metrics.from_environment(manifest, environ) as metrics:
            assert metrics.wanted
            metrics.record(_DAY)
        assert collector.metric_names() == set(CATALOGUE)
        [request, *_] = collector.requests
    assert request.headers["Content-Encoding"] == "gzip"


def test_a_collector_that_hangs_does_not_hold_up_the_end(manifest: Manifest) -> None:
    with Collector() as collector:
        collector.hang.set()
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        metrics = Metrics.from_environment(manifest, environ)
        metrics.record(_DAY)
        began = time.monotonic()
        metrics.close(0.3)
        assert time.monotonic() - began < 2


def test_what_a_collector_refuses_shows_no_secret_in_the_log(
    manifest: Manifest, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "t0ps3cret-value"
    monkeypatch.setenv("COLLECTOR_TOKEN", secret)
    with Collector(Answer(400)) as collector:
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"{collector.url}/?token={secret}"}
        with Metrics.from_environment(manifest, environ) as metrics:
            metrics.record(_DAY)
        assert collector.requests
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"{collector.url}/?token={secret}"}
    with Metrics.from_environment(manifest, environ) as metrics:
        metrics.record(_DAY)
        metrics.close(1)
    assert "Failed to export" in caplog.text or "Transient error" in caplog.text
    assert secret not in caplog.text


@pytest.mark.parametrize(
    ("name", "value"),
    [("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_METRIC_EXPORT_INTERVAL", "often")],
)
def test_a_value_that_cannot_be_used_is_refused_in_one_line(
    manifest: Manifest, name: str, value: str
) -> None:
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", name: value}
    with pytest.raises(HanseError, match=f"^{name}="):
        Metrics.from_environment(manifest, environ)


# ---- ray ---------------------------------------------------------------------------------------


class FakeMetric:
    """A metric of Ray's, which notes what it is given."""

    seen: list[tuple[str, float, dict[str, str]]] = []  # noqa: RUF012

    def __init__(self, name: str, **more: Any) -> None:
        self.name = name
        self.tags = set(more["tag_keys"])

    def inc(self, value: float, tags: dict[str, str]) -> None:
        assert set(tags) == self.tags
        assert value > 0
        self.seen.append((self.name, value, tags))

    def set(self, value: float, tags: dict[str, str]) -> None:
        assert set(tags) == self.tags
        self.seen.append((self.name, value, tags))

    observe = set


@pytest.fixture
def fake_ray(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    ray = types.SimpleNamespace(running=True)
    ray.is_initialized = lambda: ray.running
    FakeMetric.seen.clear()
    kinds = dict.fromkeys(("Counter", "Gauge", "Histogram"), FakeMetric)
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setitem(sys.modules, "ray.util", types.SimpleNamespace())
    monkeypatch.setitem(
        sys.modules,
        "ray.util.metrics",
        types.SimpleNamespace(**kinds),
    )
    monkeypatch.setattr(ray_metrics, "_there", lambda: True)
    return ray


def test_ray_gets_the_numbers_once_it_runs(fake_ray: types.SimpleNamespace) -> None:
    fake_ray.running = False
    metrics = Metrics()
    assert not metrics.wanted
    metrics.record(_DAY)
    assert FakeMetric.seen == []
    fake_ray.running = True
    assert metrics.wanted
    metrics.record(_DAY)
    assert ("hanse_messages", 30, {"type": "turn"}) in FakeMetric.seen
    assert ("hanse_cash", -3.0, {"firm": "roaster_B"}) in FakeMetric.seen
    assert ("hanse_handler_duration", 0.0004, {"role": "exchange"}) in FakeMetric.seen
    assert {name for name, _, _ in FakeMetric.seen} == {n.replace(".", "_") for n in CATALOGUE}


def test_a_counter_of_rays_is_never_given_nothing(fake_ray: types.SimpleNamespace) -> None:
    Metrics().record(DayMetrics(day=0, deals=0))
    assert "hanse_deals" not in {name for name, _, _ in FakeMetric.seen}


def test_ray_is_left_alone_once_it_has_ended(fake_ray: types.SimpleNamespace) -> None:
    metrics = Metrics()
    metrics.record(_DAY)
    fake_ray.running = False
    FakeMetric.seen.clear()
    metrics.record(_DAY)
    assert FakeMetric.seen == []
    assert not metrics.wanted


def test_rays_own_classes_take_what_they_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray.util.metrics")
    monkeypatch.setattr("services.telemetry.metrics.ray_takes_metrics", lambda: True)
    Metrics().record(_DAY)


def test_ray_without_its_default_extra_is_left_alone(
    fake_ray: types.SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_metrics, "_there", lambda: False)
    assert not Metrics().wanted

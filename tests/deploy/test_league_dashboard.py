"""Every panel of the dashboard shows what it says, asked of a real Prometheus about a real run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from actors.league import League
from actors.tracing import Telemetry
from services.config import RunConfig, apply_settings
from services.runs import Run
from services.telemetry.day_metrics import DayMetrics
from services.telemetry.metrics import Metrics
from services.telemetry.timings import Timings
from tests.deploy import prometheus
from tests.deploy.prometheus import Prometheus

FOLDER = Path(__file__).parents[2] / "deploy" / "observability"
DASHBOARD = json.loads((FOLDER / "grafana" / "dashboards" / "league.json").read_text())
QUERIES = [
    (panel["title"], target["expr"]) for panel in DASHBOARD["panels"] for target in panel["targets"]
]
WATCHED = {
    "name": "watched",
    "seed": 1,
    "days": 9,
    "placement": "inline",
    "generate": {"firms": 24, "towns": 3, "strategy": "informed"},
    "talk": {},
    "injections": [{"kind": "price_rumour", "day": 8}],
    "monitor": {"calibration": "standard"},
    "containment": {"policy": "quarantine"},
}
"""A run with a cascade, an alert and measures."""
TABLES = ("messages", "events", "metrics", "timings")
RAISING = """
from actors.strategies import Strategy

class Raising(Strategy):
    def decide(self, turn, context):
        raise RuntimeError("on purpose")
"""

each_query = pytest.mark.parametrize(
    ("title", "expression"), QUERIES, ids=[title.replace(" ", "-") for title, _ in QUERIES]
)
pytestmark = pytest.mark.skipif(
    prometheus.PROGRAM is None, reason="needs the Debian package prometheus"
)


class Measured:
    """A run, played, with its days' numbers in two halves."""

    def __init__(self, config: RunConfig, folder: Path) -> None:
        spans = InMemorySpanExporter()
        with League.create(config, folder, telemetry=Telemetry(exporters=(spans,))) as league:
            league.run()
        self.run = Run(folder)
        # A day's spans are sent while the next one is played: by the first evening, none.
        [(name, counts)] = league.exported.items()
        none = {name: 0}
        days = [
            replace(self._day(day), spans_exported=none, spans_dropped=none)
            for day in range(config.days)
        ]
        days[-1] = replace(days[-1], spans_exported={name: counts.exported})
        self.days = days
        self.halves = days[: len(days) // 2], days[len(days) // 2 :]

    def _day(self, day: int) -> DayMetrics:
        only = range(day, day + 1)
        messages, events, figures, timings = (self.run.rows(name, days=only) for name in TABLES)
        taken = [Timings.unpack(row[2]) for row in timings]
        return DayMetrics.of_rows(day, messages, events, figures, taken)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Measured]:
    """A league with a cascade, and one in which a firm's strategy raises."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "raising.py").write_text(RAISING)
    raising = apply_settings(
        RunConfig(days=2, placement="inline"),
        [f"firms.roaster_A.strategy={folder / 'raising.py'}:Raising"],
    )
    watched = RunConfig.parse(WATCHED, "watched.toml")
    return [Measured(config, folder / config.name) for config in (watched, raising)]


@pytest.fixture(scope="module")
def shown(runs: list[Measured], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus with our configuration, which has seen both runs go on.

    The numbers have the names that OpenTelemetry's specification gives them for Prometheus, as
    those of the collector do, and which run they are of, which there the collector adds.
    """
    with ExitStack() as stack:
        feeds, targets = [], []
        for measured in runs:
            manifest = measured.run.manifest
            feed = stack.enter_context(Metrics.from_environment(manifest, {}, prometheus_port=0))
            feeds.append(feed)
            about = {"job": "hanse", "instance": manifest.id}
            targets.append({"targets": [f"127.0.0.1:{feed.port}"], "labels": about})
        configuration = yaml.safe_load((FOLDER / "prometheus.yaml").read_text())
        configuration["global"]["scrape_interval"] = "200ms"
        [scraped] = configuration["scrape_configs"]
        scraped["static_configs"] = targets
        folder = tmp_path_factory.mktemp("prometheus")
        asked = stack.enter_context(prometheus.running(configuration, folder))
        messages = 0
        for half in range(2):
            for feed, measured in zip(feeds, runs, strict=True):
                for day in measured.halves[half]:
                    feed.record(day)
                    messages += sum(day.messages.values())
            asked.await_sum("hanse_messages_total", messages)
        yield asked


@each_query
def test_a_panel_has_something_to_show(shown: Prometheus, title: str, expression: str) -> None:
    values = [float(series["value"][1]) for series in shown.query(_filled(expression))]
    assert any(value == value for value in values), "NaN, or nothing at all"


def test_a_run_is_chosen_by_its_id(shown: Prometheus, runs: list[Measured]) -> None:
    ids = {measured.run.manifest.id for measured in runs}
    assert {series["metric"]["instance"] for series in shown.query("hanse_day")} == ids
    [variable] = DASHBOARD["templating"]["list"]
    assert variable["query"]["query"] == "label_values(hanse_day, instance)"
    [one] = shown.query(_filled(_query("Virtual day"), run=runs[0].run.manifest.id))
    assert float(one["value"][1]) == runs[0].days[-1].day


def test_what_is_shown_is_what_the_runs_did(shown: Prometheus, runs: list[Measured]) -> None:
    days = [day for measured in runs for day in measured.days]
    expected = {
        "Messages": sum(sum(day.messages.values()) for day in days),
        "Deals": sum(day.deals for day in days),
        "Alerts": sum(sum(day.alerts.values()) for day in days),
        "Agents' mistakes": sum(sum(day.troubles.values()) for day in days),
        "Spans not delivered": 0,
    }
    assert expected["Alerts"] > 0
    assert expected["Agents' mistakes"] > 0
    for title, number in expected.items():
        [one] = shown.query(_filled(_query(title)))
        assert float(one["value"][1]) == number, title


@each_query
def test_each_line_of_a_panel_has_a_name(shown: Prometheus, title: str, expression: str) -> None:
    [legend] = [
        target["legendFormat"]
        for panel in DASHBOARD["panels"]
        for target in panel["targets"]
        if target["expr"] == expression
    ]
    for series in shown.query(_filled(expression)):
        assert set(re.findall(r"{{(\w+)}}", legend)) <= series["metric"].keys()


def test_a_query_that_is_none_is_refused(shown: Prometheus) -> None:
    assert shown.refuses("sum by (hanse_messages_total")
    assert shown.query("hanse_mesages_total") == []


def _query(title: str) -> str:
    [expression] = [expression for panel, expression in QUERIES if panel == title]
    return expression


def _filled(expression: str, run: str = ".*") -> str:
    """The query as Grafana would ask it."""
    given = {"$run": run, "$__rate_interval": "1m", "$__range": "5m"}
    for name, value in given.items():
        expression = expression.replace(name, value)
    assert "$" not in expression
    return expression

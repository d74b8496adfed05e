"""A run says how complete its spans are, and whoever wants them gets them, whatever dies."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import time
import urllib.request
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from actors.league import League
from actors.reports import Report
from actors.tracing import Telemetry
from services.config import RunConfig
from services.errors import HanseError
from services.messages import Text
from services.runs import Run
from services.telemetry.completeness import completeness
from services.telemetry.logs import RunLog, Where
from services.telemetry.reader import TraceReader
from services.telemetry.spans import derive
from tests.actors.ray_session import ray_session
from tests.actors.test_determinism import league_of_six, three_towns
from tests.services.telemetry.collector import Collector

__all__ = ["ray_session"]


def whole_run(folder: Path) -> dict[tuple[int, int], Any]:
    """All spans of a run, as its store gives them, by their ids."""
    reader = TraceReader(Run(folder))
    spans = [span for day in reader.days for span in derive(reader, day)]
    found = {(span.trace_id, span.span_id): span for span in spans}
    assert len(found) == len(spans), "no two spans have the same ids"
    return found


def test_a_run_says_that_all_its_messages_have_their_spans(tmp_path: Path) -> None:
    with League.create(RunConfig(days=3, placement="inline"), tmp_path / "run") as league:
        result = league.run()
    assert result.spans == result.spans_expected == 3 * result.messages
    assert completeness(Run(tmp_path / "run")).complete


def test_a_message_to_nobody_needs_no_span_of_its_handling(tmp_path: Path) -> None:
    with League.create(RunConfig(days=2, placement="inline"), tmp_path / "run") as league:
        league.run(until_day=0)
        league.hosts.hosts["host-0"].contexts["farmer_A"].send("nobody", Text(text="?"))  # type: ignore[attr-defined]
        result = league.run()
    assert result.spans == result.spans_expected == 3 * result.messages - 2


def test_a_run_that_is_not_traced_claims_nothing(tmp_path: Path) -> None:
    config = RunConfig(days=2, placement="inline")
    with League.create(config, tmp_path / "run", telemetry=Telemetry(traced=False)) as league:
        result = league.run()
    run = Run(tmp_path / "run")
    assert (result.spans, result.spans_expected) == (0, 0)
    assert not list(run.rows("timings")) and not list(run.rows("spans"))


def test_tracing_has_no_part_in_the_log(tmp_path: Path) -> None:
    logs = set()
    for traced in (True, False):
        config = RunConfig(days=2, placement="inline")
        with League.create(
            config, tmp_path / str(traced), telemetry=Telemetry(traced=traced)
        ) as league:
            logs.add(league.run().log_sha256)
    assert len(logs) == 1


def test_the_run_its_days_and_checkpoints_are_spans(tmp_path: Path) -> None:
    with League.create(RunConfig(days=4, placement="inline"), tmp_path / "run") as league:
        league.run(until_day=1)
    with League.resume(tmp_path / "run") as league:
        league.run()
    spans = [s for s in whole_run(tmp_path / "run").values() if s.agent == ""]
    by_name = {span.name: span for span in spans}
    assert sorted(by_name) == sorted(
        ["run", *(f"day {d}" for d in range(4)), *(f"checkpoint {d}" for d in (0, 2, 3))]
    ), "the checkpoint before the break was the last thing that happened"
    for name, span in by_name.items():
        parent = {"run": None, "day": by_name["run"].span_id}.get(
            name.split()[0], by_name["day " + name[-1]].span_id if name != "run" else None
        )
        assert span.parent_id == parent, name
        assert span.start <= span.end


def test_an_exporter_of_ones_own_gets_every_span(tmp_path: Path) -> None:
    exporter = InMemorySpanExporter()
    config = RunConfig(days=3, placement="inline")
    with League.create(
        config, tmp_path / "run", telemetry=Telemetry(exporters=(exporter,))
    ) as league:
        league.run()
        [counts] = league.exported.values()
    got = {(s.context.trace_id, s.context.span_id) for s in exporter.get_finished_spans()}
    assert got == set(whole_run(tmp_path / "run"))
    assert counts.complete and counts.exported == len(got)


def test_what_is_no_exporter_is_refused_in_a_line(tmp_path: Path) -> None:
    config = RunConfig(days=1, placement="inline")
    with pytest.raises(HanseError, match="str takes no spans"):
        League.create(config, tmp_path / "run", telemetry=Telemetry(exporters=("otlp",)))


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
def test_a_collector_gets_every_order_from_offer_to_payment_across_hosts_and_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    with Collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        config = three_towns(placement="packed", hosts=3, days=45)
        with League.create(config, folder) as league:
            hosts: Any = league.hosts
            pid = next(m["pid"] for m in hosts.metrics() if m["host"] == "host-1")
            work, calls = hosts.work, 0

            def work_and_kill(*arguments: Any) -> dict[str, Report]:
                nonlocal calls
                calls += 1
                if calls == 700:
                    os.kill(pid, signal.SIGKILL)
                return work(*arguments)  # type: ignore[no-any-return]

            hosts.work = work_and_kill
            result = league.run()
            [counts] = league.exported.values()
        received = collector.spans()
    assert result.counters["host_restarts"] == 1
    assert result.spans == result.spans_expected
    assert counts.complete and counts.exported == len(received)

    by_trace: dict[bytes, list[Any]] = defaultdict(list)
    for span in received:
        by_trace[span.trace_id].append(span)
    assert len({(s.trace_id, s.span_id) for s in received}) == len(received), "nothing came twice"
    orders = [
        {span.name.split()[0]: span for span in spans}
        for spans in by_trace.values()
        if any(span.name.startswith("payment") for span in spans)
    ]
    whole = [o for o in orders if {"offer", "deal", "delivery", "invoice", "payment"} <= set(o)]
    assert whole
    for order in whole:
        for child, parent in (
            ("deal", "offer"),
            ("delivery", "deal"),
            ("invoice", "delivery"),
            ("payment", "invoice"),
        ):
            assert order[child].parent_span_id == order[parent].span_id
        assert order["payment"].links, "it leads to the message with which it was paid"

    abroad = [
        spans for spans in by_trace.values() if any("order_abroad" in span.name for span in spans)
    ]
    assert max(len(actors(spans)) for spans in abroad) >= 5
    assert max(len(values(spans, "hanse.host")) for spans in abroad) >= 2


def actors(spans: list[Any]) -> set[str]:
    return values(spans, "hanse.agent")


def values(spans: list[Any], name: str) -> set[str]:
    return {a.value.string_value for span in spans for a in span.attributes if a.key == name}


STRATEGY = """
import logging

from actors.strategies import DailyPlan, Plan
from services.economy import commands as c

log = logging.getLogger("patient")

class Patient(DailyPlan):
    def day(self) -> Plan:
        log.warning("day %d begins; the key is %s", self.today, "sesame-street-42")
        yield c.ViewTrialBalance()
"""


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
@pytest.mark.parametrize("placement", ["inline", "one"])
def test_what_a_strategy_logs_lands_in_the_runs_folder_with_its_place_and_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, placement: str
) -> None:
    monkeypatch.setenv("MODEL_API_KEY", "sesame-street-42")
    if placement != "inline":
        import ray

        ray.shutdown()  # so that its workers start with the secret in their environment
    (tmp_path / "patient.py").write_text(STRATEGY)
    firms = list(league_of_six().firms)
    firms[2] = firms[2].model_copy(update={"strategy": f"{tmp_path}/patient.py:Patient"})
    config = RunConfig(days=2, placement=placement, firms=firms)  # type: ignore[arg-type]
    with League.create(config, tmp_path / "run", telemetry=Telemetry(log_file=True)) as league:
        if placement == "inline":
            with RunLog(
                tmp_path / "run", Where("r", league.whereabouts, league.trace_of), stream=None
            ):
                league.run()
        else:
            league.run()
    lines = [json.loads(x) for x in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    said = [line for line in lines if line["logger"] == "patient"]
    assert [(x["agent"], x["day"], x["time"]) for x in said] == [
        (firms[2].name, day, "09:00") for day in (0, 1)
    ]
    assert "sesame" not in json.dumps(lines)
    turn = said[1]["message_id"]
    found = TraceReader(Run(tmp_path / "run"))
    spans = {
        s.name: s for s in derive(found, 1) if s.attributes.get("messaging.message.id") == turn
    }
    assert {f"{span.trace_id:032x}" for span in spans.values()} == {said[1]["trace_id"]}


def test_metrics_are_served_on_loopback_when_they_are_asked_for(tmp_path: Path) -> None:
    config = RunConfig(days=3, placement="inline")
    with League.create(config, tmp_path / "run", telemetry=Telemetry(metrics_port=0)) as league:
        league.run(until_day=1)
        address = f"http://127.0.0.1:{league.metrics_port}/metrics"
        turns = Run(tmp_path / "run").count("messages", "type = 'turn'")
        wanted = re.compile(rf'hanse_messages.*hanse_message_type="turn".* {turns}\.0$', re.M)
        deadline = time.monotonic() + 20
        served = ""
        while not wanted.search(served) and time.monotonic() < deadline:
            served = urllib.request.urlopen(address, timeout=5).read().decode()
            time.sleep(0.05)
    assert wanted.search(served), served[:2000]
    assert "hanse_cash" in served


def test_a_port_that_is_taken_is_told_in_a_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(HanseError, match=str(port)):
            League.create(
                RunConfig(days=1, placement="inline"),
                tmp_path / "run",
                telemetry=Telemetry(metrics_port=port),
            )

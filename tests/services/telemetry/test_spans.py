"""What a run did, as spans: the same on any layout, one tree for each trace, orders end to end."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.context import Context as OpenContext

from actors.context import Context
from actors.exchange import Turn
from actors.league import League
from actors.strategies.random import RandomLegal
from services.config import ControllerConfig, FirmConfig, GenerateConfig, RunConfig
from services.economy.commands import Command
from services.runs import Run
from services.telemetry.completeness import completeness, count
from services.telemetry.identity import format_traceparent, order_root, wake_root
from services.telemetry.reader import TraceReader
from services.telemetry.span import Span
from services.telemetry.spans import derive
from tests.actors.test_determinism import league_of_six, three_towns
from tests.services.telemetry.made_runs import (
    all_spans,
    meddle,
    message,
    play,
    sixty_days,
    timed,
    timeless,
    written,
)

__all__ = ["sixty_days", "written"]

Written = Callable[..., TraceReader]


def compared(reader: TraceReader) -> list[tuple[object, ...]]:
    """All that must be alike; what the league says of its own days is another matter."""
    return [timeless(span) for span in all_spans(reader) if span.agent]


def check_trees(spans: Iterable[Span]) -> None:
    """Every trace has one root, every parent came before and lies in the same trace."""
    seen: set[tuple[int, int]] = set()
    roots: Counter[int] = Counter()
    for span in spans:
        if not span.agent:
            continue
        assert (span.trace_id, span.span_id) not in seen, f"{span.name} twice"
        if span.parent_id is None:
            roots[span.trace_id] += 1
        else:
            assert (span.trace_id, span.parent_id) in seen, f"{span.name} hangs in the air"
        for link in span.links:
            assert link in seen, f"{span.name} is linked to nothing"
            assert link[0] != span.trace_id, f"{span.name} is linked within its own trace"
        seen.add((span.trace_id, span.span_id))
    assert set(roots.values()) == {1}
    assert roots.keys() == {trace for trace, _ in seen}


def test_the_spans_are_the_same_on_one_host_and_on_two(tmp_path: Path) -> None:
    for name, config in (("six", league_of_six()), ("towns", three_towns())):
        alone = compared(play(config, tmp_path / f"{name}-1"))
        assert compared(play(config, tmp_path / f"{name}-2", hosts=2)) == alone
        assert len(alone) > 1000


def test_the_spans_of_a_resumed_run_are_those_of_one_that_never_stopped(tmp_path: Path) -> None:
    whole = compared(play(league_of_six(), tmp_path / "whole"))
    with League.create(league_of_six(), tmp_path / "halved") as league:
        league.run(until_day=4)
    with League.resume(tmp_path / "halved", hosts=2) as league:
        league.run()
    assert compared(TraceReader(Run(tmp_path / "halved"))) == whole


def test_another_seed_gives_other_ids(tmp_path: Path) -> None:
    first = {s.span_id for s in all_spans(play(league_of_six(days=2), tmp_path / "a"))}
    second = {s.span_id for s in all_spans(play(league_of_six(days=2, seed=1), tmp_path / "b"))}
    assert first.isdisjoint(second)


def test_every_trace_of_sixty_days_is_one_tree(sixty_days: TraceReader) -> None:
    check_trees(all_spans(sixty_days))


def test_every_trace_of_three_towns_is_one_tree(tmp_path: Path) -> None:
    check_trees(all_spans(play(three_towns(), tmp_path / "run")))


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**31), firms=st.integers(3, 24), towns=st.integers(1, 3))
def test_every_trace_of_any_generated_league_is_one_tree(
    tmp_path_factory: pytest.TempPathFactory, seed: int, firms: int, towns: int
) -> None:
    generate = GenerateConfig(firms=max(firms, 3 * towns), towns=towns)
    config = RunConfig(days=8, seed=seed, placement="inline", generate=generate)
    reader = play(config, tmp_path_factory.mktemp("generated") / "run", hosts=2)
    check_trees(all_spans(reader))


def test_a_message_is_sent_received_and_processed(sixty_days: TraceReader) -> None:
    spans = {span.span_id: span for span in derive(sixty_days, 10)}
    span_id = sixty_days.identity.span
    for sent in sixty_days.day(10).messages:
        timing = sixty_days.day(10).timing(sent.id)
        assert timing is not None
        send, receive, process = (
            spans[span_id(f"{what} {sent.id}")] for what in ("send", "receive", "process")
        )
        assert (send.name, send.kind, send.agent) == (
            f"send {sent.recipient}", "PRODUCER", sent.sender,
        )  # fmt: skip
        assert (receive.name, receive.kind) == (f"receive {sent.recipient}", "CONSUMER")
        assert (process.name, process.kind) == (f"process {sent.recipient}", "CONSUMER")
        assert receive.parent_id == process.parent_id == send.span_id
        assert receive.agent == process.agent == sent.recipient
        assert (receive.start, receive.end) == (timing.arrived, timing.began)
        assert (process.start, process.end) == (timing.began, timing.began + timing.took)
        assert process.attributes["messaging.message.id"] == sent.id
        assert process.attributes["hanse.host"] == timing.host


def test_a_message_leaves_when_its_cause_has_been_handled(sixty_days: TraceReader) -> None:
    spans = {span.span_id: span for span in derive(sixty_days, 10)}
    sends = [span for span in spans.values() if span.kind == "PRODUCER"]
    assert len(sends) > 50
    for send in sends:
        assert send.parent_id is not None
        assert send.start == send.end == spans[send.parent_id].end > 0


def test_a_turn_invokes_its_firm_and_a_command_is_a_tool(sixty_days: TraceReader) -> None:
    spans = {span.span_id: span for span in derive(sixty_days, 10)}
    by_name = Counter(span.name.split()[0] for span in spans.values())
    assert by_name["invoke_agent"] == by_name["execute_tool"] > 20
    tool = next(s for s in spans.values() if s.name == "execute_tool make_offer")
    assert tool.parent_id is not None
    command = spans[tool.parent_id]
    turn = sixty_days.day(10).message(str(command.attributes["messaging.message.conversation_id"]))
    assert turn is not None
    invoked = spans[sixty_days.identity.span(f"invoke {turn.id}")]
    assert invoked.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert tool.attributes["gen_ai.operation.name"] == "execute_tool"
    assert tool.attributes["gen_ai.tool.name"] == "make_offer"
    assert tool.attributes["gen_ai.tool.call.id"] == command.attributes["messaging.message.id"]
    assert invoked.attributes["gen_ai.agent.name"] == tool.attributes["gen_ai.agent.name"]
    assert '"offered_price":' in str(tool.attributes["gen_ai.tool.call.arguments"])
    assert '"status":' in str(tool.attributes["gen_ai.tool.call.result"])


def test_a_refused_command_is_an_error(sixty_days: TraceReader) -> None:
    refused = [
        s
        for s in all_spans(sixty_days)
        if s.name.startswith("execute_tool") and s.error is not None
    ]
    assert refused
    assert all(s.error == s.attributes["error.type"] for s in refused)
    actions = sum(e.facts["status"] == "error" for e in sixty_days.find_events("action"))
    assert len(refused) == actions


def test_an_order_is_one_trace_from_offer_to_payment(sixty_days: TraceReader) -> None:
    payment = next(sixty_days.find_events("payment"))
    exchange, offer = payment.agent, payment.facts["offer"]
    trace = sixty_days.identity.trace(order_root(exchange, offer))
    spans = [s for s in all_spans(sixty_days) if s.trace_id == trace]
    assert [s.name.split()[0] for s in spans] == [
        "offer", "deal", "delivery", "invoice", "payment",
    ]  # fmt: skip
    parents: list[int | None] = [None, *(s.span_id for s in spans)]
    assert [s.parent_id for s in spans] == parents[:-1]
    assert spans[-1].minute - spans[0].minute > 5 * 1440, "days lie between"
    story = sixty_days.business(exchange, offer)
    for span, kind in ((spans[0], "action"), (spans[1], "deal"), (spans[4], "payment")):
        logged = next(e for e in story if e.kind == kind)
        assert logged.cause is not None
        assert span.links == (
            (
                sixty_days.identity.trace(sixty_days.day(logged.day).root(logged.cause)),
                sixty_days.identity.span(f"process {logged.cause}"),
            ),
        )
    woken = wake_root(exchange, spans[2].minute)
    morning = sixty_days.identity.trace(woken), sixty_days.identity.span(woken)
    assert spans[2].links == spans[3].links == (morning,), "nobody's message delivers"
    assert spans[1].attributes["hanse.money"] == spans[4].attributes["hanse.money"]


def test_a_return_hangs_under_the_invoice_that_it_is_about(sixty_days: TraceReader) -> None:
    spans = list(all_spans(sixty_days))
    places = {(s.trace_id, s.span_id): s for s in spans}
    returns = [s for s in spans if s.name.startswith("return ")]
    assert returns
    for span in returns:
        assert span.parent_id is not None
        assert places[span.trace_id, span.parent_id].name == span.name.replace("return", "invoice")


def test_a_shipment_that_is_late_is_invoiced_with_the_delivery_that_came(
    sixty_days: TraceReader,
) -> None:
    spans = list(all_spans(sixty_days))
    places = {(s.trace_id, s.span_id): s for s in spans}
    late = [s for s in spans if s.attributes.get("hanse.fact.outcome") == "delayed"]
    assert late
    for span in spans:
        if span.name.startswith("invoice ") and span.parent_id is not None:
            above = places[span.trace_id, span.parent_id]
            assert above.attributes["hanse.fact.outcome"] == "delivered"


def test_production_hangs_under_the_command_for_it(sixty_days: TraceReader) -> None:
    spans = list(all_spans(sixty_days))
    places = {(s.trace_id, s.span_id): s for s in spans}
    made = [s for s in spans if s.name.startswith(("produce_item ", "roast "))]
    assert {s.name.split()[0] for s in made} == {"produce_item", "roast"}
    for span in made:
        assert span.parent_id is not None
        above = places[span.trace_id, span.parent_id]
        assert above.name == f"execute_tool {span.name.split()[0]}"


def test_an_order_abroad_crosses_five_agents_in_one_trace(tmp_path: Path) -> None:
    reader = play(three_towns(), tmp_path / "run")
    day, fill = next(
        (day, m) for day in reader.days for m in reader.day(day).messages if m.type == "trade_fill"
    )
    trace = reader.identity.trace(reader.day(day).root(fill.id))
    agents: dict[str, set[str]] = defaultdict(set)
    for span in derive(reader, day):
        if span.trace_id == trace:
            agents[span.name.split()[0]].add(span.agent)
    trades = [e for e in reader.day(day).events if e.kind == "trade"]
    buyer = next(e.subject for e in trades if e.facts["direction"] == "import")
    seller = next(e.subject for e in trades if e.facts["direction"] == "export")
    home = next(m.recipient for m in reader.day(day).messages if m.sender == buyer)
    abroad = next(m.recipient for m in reader.day(day).messages if m.sender == seller)
    assert {buyer, home, "router", abroad, seller} <= agents["process"]
    assert len({buyer, home, "router", abroad, seller}) == 5
    assert {home, abroad} <= agents["trade"]


def test_a_controllers_answer_is_a_decision(tmp_path: Path) -> None:
    firms = [
        FirmConfig(name="farmer_A", role="farmer"),
        FirmConfig(
            name="roaster_A", role="roaster", strategy="managed", options={"controller": "buyer"}
        ),
        FirmConfig(name="retailer_A", role="retailer"),
    ]
    config = RunConfig(
        days=5, placement="inline", firms=firms, controllers=[ControllerConfig(name="buyer")]
    )
    reader = play(config, tmp_path / "run")
    spans = {(s.trace_id, s.span_id): s for s in all_spans(reader)}
    decisions = [s for s in spans.values() if s.name == "decide base_stock"]
    assert len(decisions) == 5
    for decision in decisions:
        assert decision.parent_id is not None
        above = spans[decision.trace_id, decision.parent_id]
        assert above.attributes["hanse.message.type"] == "stock_report"
        assert decision.agent == above.agent == "buyer"
        assert (decision.start, decision.end) == (above.start, above.end)


def test_a_context_from_outside_is_linked_to(written: Written) -> None:
    row = message(1, trace=format_traceparent(7, 8))
    reader = written({"messages": [row], "timings": timed(row)})
    send = next(s for s in derive(reader, 0) if s.kind == "PRODUCER")
    assert send.links == ((7, 8),)
    assert send.trace_id == reader.identity.trace("wake ann@540")


def recorded(reader: TraceReader, parent: int, span: int, agent: str = "ann") -> tuple[object, ...]:
    """A span of a user's own in the trace of ann's wake-up."""
    trace = reader.identity.trace("wake ann@540")
    ids = f"{span:016x}", f"{trace:032x}", f"{parent:016x}"
    return (0, agent, *ids, "think", "INTERNAL", 5, 9, 540, "OK", '{"attributes":{"deep":true}}')


def test_a_users_own_span_takes_its_place_between(written: Written, tmp_path: Path) -> None:
    row = message(1)
    reader = written({"messages": [row]})
    wake = reader.identity.span("wake ann@540")
    trace = reader.identity.trace("wake ann@540")
    inside = message(1, trace=format_traceparent(trace, 42))
    own = [recorded(reader, wake, 41), recorded(reader, 41, 42)]
    tmp_path.joinpath("written").rename(tmp_path / "first")
    reader = written({"messages": [inside], "timings": timed(inside), "spans": own})
    spans = {s.span_id: s for s in derive(reader, 0)}
    send = next(s for s in spans.values() if s.kind == "PRODUCER")
    assert send.parent_id == 42
    assert (spans[42].parent_id, spans[41].parent_id) == (41, wake)
    assert spans[42].attributes["deep"] is True


def test_a_message_cannot_hang_under_what_it_has_brought_about(
    written: Written, tmp_path: Path
) -> None:
    reader = written({"messages": [message(1)]})
    trace, process = (
        reader.identity.trace("wake ann@540"),
        reader.identity.span("process ann#1"),
    )
    row = message(1, trace=format_traceparent(trace, 42))
    tmp_path.joinpath("written").rename(tmp_path / "first")
    own = [recorded(reader, process, 42)]
    reader = written({"messages": [row], "timings": timed(row), "spans": own})
    send = next(s for s in derive(reader, 0) if s.kind == "PRODUCER")
    assert send.parent_id == reader.identity.span("wake ann@540")
    assert send.links == ((trace, 42),)


def test_users_spans_in_a_circle_hang_under_the_root(written: Written, tmp_path: Path) -> None:
    reader = written({"messages": [message(1)]})
    tmp_path.joinpath("written").rename(tmp_path / "first")
    own = [recorded(reader, 42, 41), recorded(reader, 41, 42)]
    reader = written({"messages": [message(1)], "spans": own})
    check_trees(derive(reader, 0))


def test_a_users_span_without_a_parent_hangs_under_the_root(written: Written) -> None:
    rows = [message(1)]
    reader = written({"messages": rows})
    trace = f"{reader.identity.trace('wake ann@540'):032x}"
    ids = [(f"{41:016x}", None), (f"{42:016x}", f"{99:016x}"), (f"{43:016x}", f"{42:016x}")]
    values = ", ".join(
        f"(0, 'ann', '{span}', '{trace}', {'NULL' if above is None else repr(above)}, 'x',"
        " 'INTERNAL', 5, 9, 540, 'OK', '{}')"
        for span, above in ids
    )
    reader = meddle(reader, f"INSERT INTO spans VALUES {values}")
    wake = reader.identity.span("wake ann@540")
    spans = {s.span_id: s for s in derive(reader, 0)}
    assert [spans[n].parent_id for n in (41, 42, 43)] == [wake, wake, 42]


def test_what_code_says_of_its_own_call_is_laid_over_that_span(written: Written) -> None:
    row = message(1)
    reader = written({"messages": [row], "timings": timed(row)})
    span, trace = reader.identity.span("process ann#1"), reader.identity.trace("wake ann@540")
    body = (
        '{"attributes":{"mood":"patient","hanse.agent":"zoe"},'
        '"events":[{"name":"tick","time":7,"attributes":{}}]}'
    )
    reader = meddle(
        reader,
        f"INSERT INTO spans VALUES (0, 'bob', '{span:016x}', '{trace:032x}', NULL, 'process',"
        f" 'CONSUMER', 0, 0, 540, 'ERROR', '{body}')",
    )
    spans = [s for s in derive(reader, 0) if s.span_id == span]
    assert [s.name for s in spans] == ["process bob"]
    [process] = spans
    assert process.attributes["mood"] == "patient"
    assert process.attributes["hanse.agent"] == "bob", "what the log says stands"
    assert process.events == (("tick", 7, {}),)
    assert process.error == "error"
    counted = count(reader, 0)
    assert counted.complete
    assert counted.expected == sum(1 for _ in derive(reader, 0))


TRACER = trace.get_tracer(__name__)


class Thinking(RandomLegal):
    """A user's firm that traces how it thinks."""

    def decide(self, turn: Turn, context: Context) -> Command:
        trace.get_current_span().set_attribute("mood", "fine")
        with TRACER.start_as_current_span("think"), TRACER.start_as_current_span("deeper"):
            TRACER.start_span("alone", context=OpenContext()).end()
            return super().decide(turn, context)


def test_a_users_own_spans_are_part_of_the_trees_and_of_the_count(tmp_path: Path) -> None:
    config = league_of_six(days=4)
    firms = [
        firm.model_copy(update={"strategy": f"{__name__}:Thinking"})
        if firm.strategy == "random"
        else firm
        for firm in config.firms or []
    ]
    config = config.model_copy(update={"firms": firms})
    reader = play(config, tmp_path / "run", hosts=2)
    check_trees(all_spans(reader))
    spans = {(s.trace_id, s.span_id): s for s in all_spans(reader)}
    thoughts = [s for s in spans.values() if s.name == "think"]
    assert len(thoughts) > 20
    for thought in thoughts:
        assert thought.parent_id is not None
        process = spans[thought.trace_id, thought.parent_id]
        assert process.name == f"process {thought.agent}"
        assert process.attributes["mood"] == "fine"
        assert process.attributes["hanse.message.type"] == "turn"
    counted = completeness(reader)
    assert counted.complete
    assert counted.expected == len(spans)

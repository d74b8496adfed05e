"""The play with a bob who makes spans, fails at one of them on day 1, and calls day 2 bad."""

from __future__ import annotations

from pathlib import Path

from opentelemetry import trace
from opentelemetry.trace import StatusCode

from actors.league import League
from actors.strategies import Plan
from services.economy import commands as c
from services.runs import Run
from services.telemetry.reader import TraceReader
from tests.services.telemetry.inspection.play import Bob, config


class ThoughtfulBob(Bob):
    """Thinks every morning, within that thinks harder, and looks at bids in a span."""

    def day(self) -> Plan:
        tracer = trace.get_tracer("thoughts")
        with (
            tracer.start_as_current_span("think"),
            tracer.start_as_current_span("think harder") as span,
        ):
            if self.today == 1:
                span.set_status(StatusCode.ERROR, "no idea")
        if self.today == 2:
            trace.get_current_span().set_status(StatusCode.ERROR, "a bad day")
        yield from super().day()

    def news(self) -> Plan:
        with trace.get_tracer("thoughts").start_as_current_span("news across a yield"):
            yield c.ViewOffers(direction="incoming")


def thought(folder: Path) -> TraceReader:
    """The play with these spans, on a run's folder."""
    cast = config(days=3)
    firms = [
        firm.model_copy(update={"strategy": f"{__name__}:ThoughtfulBob"})
        if firm.name == "bob"
        else firm
        for firm in cast.firms
    ]
    with League.create(cast.model_copy(update={"firms": firms}), folder) as league:
        league.run()
    return TraceReader(Run(folder))

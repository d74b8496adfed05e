"""`hanse trace`: what happened in a run, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from services.cli.commands import add, help_text
from services.cli.console import Json, RunArgument, note, say_json
from services.errors import HanseError

if TYPE_CHECKING:
    from services.cli.trace_pages import Earned
    from services.runs import Run
    from services.telemetry.reader import TraceReader

_SUMMARY = "summary"

EXAMPLE = """Examples, for a run in runs/coffee-seed0-001:

  hanse trace coffee-seed0-001               what there is

  hanse trace coffee-seed0-001 why D12       what led to a deal, what came of it

  hanse trace coffee-seed0-001 story roaster_B --days 40-47

  hanse trace coffee-seed0-001 find --kind deal --agent roaster_B

  hanse trace coffee-seed0-001 diff coffee-seed1-001

  hanse trace RUN why --help                 what a question answers
"""


class _Find(TyperCommand):
    """Its help names all kinds, which are looked up when it is shown: that takes a while."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from services.telemetry.inspection.kinds import grouped

        told = (f"{group}: {', '.join(kinds)}." for group, kinds in grouped().items())
        self.epilog = FIND_EXAMPLE.format(kinds="\n\n".join(told))
        super().format_help(ctx, formatter)


class _Group(TyperGroup):
    """Takes the run before the question; without a question it sums the run up."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words, help_names = list(args) or ["--help"], ctx.help_option_names
        if words[0] in self.commands and (len(words) == 1 or words[1] not in self.commands):
            if not any(word in help_names for word in words):
                question = " ".join(words)
                raise HanseError(f"name the run first: hanse trace RUN {question}")
            words = ["RUN", *words]
        elif not words[0].startswith("-"):
            rest = words[1:]
            if not rest or (rest[0].startswith("-") and rest[0] not in help_names):
                words = [words[0], _SUMMARY, *rest]
        return super().parse_args(ctx, words)


trace_app = typer.Typer(
    cls=_Group,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def trace(context: typer.Context, run: RunArgument) -> None:
    """See what happened in a run, and why, from its folder: nothing has to run for that.

    Ask why a deal came about, what a firm did on some days, where two runs part. Without a question
    the run is summed up. A run that is still going on is shown up to its last whole day.
    """
    context.obj = run


def _reader(context: typer.Context, run: str | None = None) -> TraceReader:
    from services.cli.folders import find_run
    from services.runs import Run
    from services.telemetry.reader import TraceReader

    return TraceReader(Run(find_run(str(context.obj) if run is None else run)))


Town = Annotated[
    str | None,
    typer.Option(metavar="TOWN", help="Whose deal D12 it is, where several towns have one."),
]
Days = Annotated[
    str | None,
    typer.Option(metavar="A-B", help="Only these days, such as 40-47, or one day."),
]


def days_of(text: str | None) -> range | None:
    """`40-47` as a range; None if all days are wanted.

    Raises:
        HanseError: It is something else.
    """
    if text is None:
        return None
    first, dash, last = text.strip().partition("-")
    if not (first.isdecimal() and len(first) < 10) or (
        dash and not (last.isdecimal() and len(last) < 10)
    ):
        raise HanseError(f"--days {text!r}: name two days such as 40-47, or one")
    start, stop = int(first), int(last if dash else first)
    if stop < start:
        raise HanseError(f"--days {text}: the first day comes first, such as {stop}-{start}")
    return range(start, stop + 1)


# ---- questions -----------------------------------------------------------------------------------

SUMMARY_EXAMPLE = """Examples:

  hanse trace RUN

  hanse trace RUN --json
"""


def summary(context: typer.Context, as_json: Json = False) -> None:
    """Sum the run up: spans by kind, slowest handlers, troubles, busiest pairs.

    Its last line says whether every span that must be there is there.
    """
    from services.cli.trace_pages import show_summary
    from services.cli.trace_progress import counting_days
    from services.telemetry.inspection.summary import summary as sum_up

    reader = _reader(context)
    with counting_days() as on_day:
        found = sum_up(reader, on_day)
    if as_json:
        say_json(found.document())
    else:
        show_summary(found)


WHY_EXAMPLE = """Examples:

  hanse trace RUN why D12                    a deal, from bid to payment

  hanse trace RUN why I7                     an invoice: why was it paid late?

  hanse trace RUN why L5                     a listing: its price, its bids

  hanse trace RUN why O33                    a bid: what had the bidder seen?

  hanse trace RUN why 'farmer_A#12'          a message: causes and effects

  hanse trace RUN why exchange:59            an event; or a span, 16 hex digits

  hanse trace RUN why D12@exchange_Visby     several towns have a D12

  hanse trace RUN why cascade-1              an alert: whom, why, what was done

  hanse trace RUN why quarantine-1           a measure: whose order, for what

  hanse trace RUN why 'farmer_2#548'         a message that was withheld
"""


def why(
    context: typer.Context,
    id: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="A message (farmer_A#12), a deal (D12), an alert, a measure; any id shown.",
        ),
    ],
    town: Town = None,
    everything: Annotated[
        bool, typer.Option("--all", help="The whole tree, and what firms only looked at.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say why something happened: what led to it, step by step, and what came of it.

    A deal, an offer or an invoice is shown with its whole order, from the listing to the last
    payment. Then come the decisions: what the firm had seen and done that day before it decided.
    """
    from services.cli.trace_pages import show_why
    from services.telemetry.inspection.prose import Prose
    from services.telemetry.inspection.steps import EVERYTHING, Limits
    from services.telemetry.inspection.watched import why as of_monitors
    from services.telemetry.inspection.why import why as explain

    limits = EVERYTHING if everything else Limits()
    reader = _reader(context)
    found = of_monitors(reader, id, limits) or Prose(reader).explanation(
        explain(reader, id, town=town, limits=limits)
    )
    if as_json:
        say_json(found.document())
    else:
        show_why(found)


STORY_EXAMPLE = """Examples:

  hanse trace RUN story roaster_B --days 43-47    why did it run out?

  hanse trace RUN story retailer_A --days 30

  hanse trace RUN story exchange --days 12
"""


def story(
    context: typer.Context,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="A firm, or any other agent.")],
    days: Days = None,
    as_json: Json = False,
) -> None:
    """Tell what an agent saw, said and did, in order, with its stock and cash every evening.

    First comes when it ran out of what, and what kept new goods from coming in. A refused command
    stands with its reason.
    """
    from services.cli.trace_pages import show_story
    from services.telemetry.inspection.prose import Prose
    from services.telemetry.inspection.story import story as tell

    reader = _reader(context)
    found = Prose(reader).story(tell(reader, agent, days_of(days) or reader.days))
    if as_json:
        say_json(found.document())
    else:
        show_story(found)


FIND_EXAMPLE = """Examples:

  hanse trace RUN find --kind deal --agent roaster_B

  hanse trace RUN find --kind letter --text plan --days 0-9

  hanse trace RUN find --where "body LIKE '%listing_closed%'"

  hanse trace RUN find --where "json_extract(body, '$.amount') > 500"

  hanse trace RUN find --kind late           paid late, or not at all

Kinds: message, action, event, span; refused (commands), late (payments
after their due day, and unpaid invoices past it), trouble (errors, missed
turns, lost mail, own spans that failed); and the names below. A message's
spans (send, receive, process) are found as message.

{kinds}

Columns for --where: day, minute (of the run), time (09:30), agent, peer,
kind (message, action, event or span), name (type, command or kind), id,
cause (a message's id), duration (ms) and status (UNSET, OK, ERROR) of
spans, body (JSON).
"""


def find(
    context: typer.Context,
    agent: Annotated[
        str | None, typer.Option(metavar="AGENT", help="Who did it, or with whom.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="deal, make_offer, letter, late, refused, trouble, span, ...: see below.",
        ),
    ] = None,
    days: Days = None,
    text: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What it contains, in upper or lower case.")
    ] = None,
    where: Annotated[
        str | None, typer.Option(metavar="SQL", help="A condition over the columns named below.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000_000, help="Not more rows than that.")] = 50,
    as_json: Json = False,
) -> None:
    """Search messages, commands, events and spans; a line for each, in order.

    All conditions must hold. A condition in SQL can only read, and is broken off after ten seconds.
    """
    from services.cli.trace_pages import show_found
    from services.telemetry.inspection.find import find as search
    from services.telemetry.inspection.prose import Prose

    reader = _reader(context)
    found = search(
        reader.run,
        agent=agent,
        kind=kind,
        days=days_of(days),
        text=text,
        where=where,
        limit=limit + 1,
    )
    more, found = len(found) > limit, found[:limit]
    if as_json:
        say_json([row.document() for row in found])
    else:
        prose = Prose(reader)
        show_found(found, prose.found)
    if not found:
        note("nothing found")
    elif more:
        note(f"the first {limit}; there is more: see --limit")


DIFF_EXAMPLE = """Examples:

  hanse trace coffee-seed0-001 diff coffee-seed1-001

  hanse trace coffee-seed0-001 diff what-if --json
"""


def diff(
    context: typer.Context,
    other: Annotated[str, typer.Argument(metavar="OTHER", help="The run to compare with.")],
    as_json: Json = False,
) -> None:
    """Find the first point where two runs part, its causes, and what follows from it.

    By day and firm how far the books are apart, what all firms earned in each, deals that only one
    run has, messages by type.
    The exit code is 0 if the runs are equal and 1 if they are not.
    """
    from services.cli.trace_pages import show_diff
    from services.telemetry.inspection.diff import diff as compare
    from services.telemetry.inspection.prose import Prose

    readers = _reader(context), _reader(context, other)
    found = compare(*readers)
    first, second = (
        Prose(reader).side(side)
        for reader, side in zip(readers, (found.first, found.second), strict=True)
    )
    found = found._replace(first=first, second=second)
    earned = _earned(*(reader.run for reader in readers))
    if as_json:
        say_json({**found.document(), "net_income": earned._asdict() if earned else None})
    else:
        show_diff(found, str(context.obj), other, earned)
    if not found.equal:
        raise typer.Exit(1)


def _earned(one: Run, two: Run) -> Earned | None:
    """What all firms of two runs have earned by the end of the last day that both have."""
    from actors.replaying import net_incomes
    from services.cli.trace_pages import Earned

    if one.day is None or two.day is None:
        return None
    last = min(one.day, two.day)
    first, second = (net_incomes(run, last) for run in (one, two))
    if not (first and second):
        return None
    return Earned(last, round(sum(first.values()), 6), round(sum(second.values()), 6))


def register(app: typer.Typer) -> None:
    """Makes `hanse trace` a command of an app."""
    from services.cli import trace_out

    add(trace_app, summary, SUMMARY_EXAMPLE)
    add(trace_app, why, WHY_EXAMPLE)
    add(trace_app, story, STORY_EXAMPLE)
    trace_app.command(cls=_Find, help=help_text(find))(find)
    for function, examples in (
        (diff, DIFF_EXAMPLE),
        (trace_out.export, trace_out.EXPORT_EXAMPLE),
        (trace_out.view, trace_out.VIEW_EXAMPLE),
    ):
        add(trace_app, function, examples)
    trace_app.callback(help=help_text(trace), epilog=EXAMPLE)(trace)
    app.add_typer(trace_app, name="trace")

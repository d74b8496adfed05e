"""How the answers of `hanse trace` look in a terminal."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, NamedTuple

from services.cli.console import dollars, say, say_table
from services.cli.trace_lines import plain, show, text

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

    from services.telemetry.inspection.diff import Deal, Difference, Gap, Side
    from services.telemetry.inspection.explanation import Explanation
    from services.telemetry.inspection.find import Found
    from services.telemetry.inspection.late import LateSum
    from services.telemetry.inspection.steps import Node, Step
    from services.telemetry.inspection.story import Line, Story
    from services.telemetry.inspection.summary import Summary

_HANDLERS = 10
_KINDS = 40
_PAYERS = 4
_NAME = 60
_BACKGROUND = 16
_AFTER_TIME = 9
"""Where the words of a story's line begin."""
_HANG = 2
_WIDE = 100
"""Columns of a terminal in which all figures of a handler have room."""
_DEALS = 8
_DAYS = 12


def _wall(step: Step, began: int | None) -> str:
    if step.wall is None or began is None:
        return ""
    return f" +{(step.wall - began) / 1e9:.3f}s"


def _step(step: Step, began: int | None, day: int | None = None) -> Text:
    from services.telemetry.inspection.words import time_of_day, when

    same = day is not None and step.minute // 1440 == day
    at = time_of_day(step.minute) if same else when(step.minute)
    agent, rest = step.agent, step.words
    if rest.startswith(f"{agent} "):
        told: list[tuple[str, str] | str] = [(agent, "bold"), rest[len(agent) :]]
    else:
        told = [rest]
    if step.refused or step.failed:
        told = [*told[:-1], *_red(str(told[-1]))]
    return text((f"{at}  ", "cyan"), *told, (f"   {step.id}{_wall(step, began)}", "dim"))


def _red(told: str) -> list[tuple[str, str] | str]:
    """A sentence whose end, from the refusal or the error on, is red."""
    from services.telemetry.inspection.words import FAILED

    mark = ": refused, " if ": refused, " in told else FAILED
    before, mark, reason = told.partition(mark)
    return [before, (f"{mark}{reason}", "red")]


def _grow(tree: Tree, nodes: Iterable[Node], began: int | None, day: int | None) -> None:
    for node in nodes:
        branch = tree.add(_step(node.step, began, day))
        _grow(branch, node.children, began, day)
        if node.more:
            branch.add(text((f"... {node.more} more, show with --all", "dim")))


def show_why(found: Explanation) -> None:
    """The order, the causes and the effects as one tree."""
    from rich.tree import Tree

    tree = Tree(text((found.id, "bold"), f"  {found.title}"))
    if found.notes:
        notes = tree.add(text(("In short", "bold magenta")))
        for line in found.notes:
            notes.add(text(line))
    if found.order:
        order = tree.add(text((_titles(found.kind)[0], "bold magenta")))
        for step in found.order:
            order.add(_step(step, found.began))
    if found.background:
        branch = tree.add(text((_titles(found.kind)[1], "bold magenta")))
        for step in found.background[-_BACKGROUND:]:
            branch.add(_step(step, found.began))
    for cause in found.causes:
        branch = tree.add(text((cause.question, "bold magenta")))
        chain = cause.chain
        day = chain.steps[0].minute // 1440 if chain.steps else None
        for place, step in enumerate(chain.steps):
            branch.add(_step(step, found.began, day if place else None))
            if place == 0 and chain.left_out:
                branch.add(text((f"... {chain.left_out} more, show with --all", "dim")))
    effects = found.effects
    if effects is not None and (effects.children or effects.more):
        branch = tree.add(text(("What came of it on that day", "bold magenta")))
        _grow(branch, effects.children, found.began, effects.step.minute // 1440)
        if effects.more:
            branch.add(text((f"... {effects.more} more, show with --all", "dim")))
    show(tree)


def _titles(kind: str) -> tuple[str, str]:
    """What stands above the order of an explanation, and above its background."""
    from services.telemetry.inspection.watched import TITLES

    order = "Its bids and deals" if kind == "listing" else "From listing to payment"
    background = "What the seller met with before it changed the price"
    return TITLES.get(kind, (order, background))


def show_story(found: Story) -> None:
    """Shortages first, then day by day."""
    role = f", a {found.role}" if found.role else ""
    show(text((found.agent, "bold"), role))
    if found.shortages:
        show(text(("In short", "bold magenta")))
        for shortage in found.shortages:
            show(text(f"  {shortage.words}"), 4)
            for detail in shortage.details:
                show(text((f"    {detail}", "dim")), 6)
    for day in found.days:
        evening = day.evening
        morning = (
            ""
            if evening is None or evening.before is None
            else (f"   {dollars(evening.before)} $ in cash")
        )
        show(text((f"\nday {day.day}", "bold magenta"), (morning, "dim")))
        for told in day.lines:
            show(_line(told), _AFTER_TIME)
        if evening is not None:
            gained = "" if evening.before is None else f" ({evening.cash - evening.before:+,.2f})"
            stock = "; ".join(map(str, evening.shelves)) or "no stock"
            show(text(("  evening  ", "green"), f"{dollars(evening.cash)} ${gained}; {stock}"), 11)


def _line(line: Line) -> Text:
    from services.telemetry.inspection.words import time_of_day

    at = (f"  {time_of_day(line.minute)}  ", "cyan")
    who = "" if line.own else "· "
    parts: list[tuple[str, str] | str] = [line.words]
    if line.refused or line.failed:
        parts = [*_red(line.words), *(f"; {note}" for note in line.notes)]
    ids = line.ids[0] if len(line.ids) == 1 else f"{line.ids[0]} and {len(line.ids) - 1} more"
    return text(at, who, *parts, (f"   {ids}", "dim"))


def show_found(found: Sequence[Found], tell: Callable[[Found], str | None]) -> None:
    """A line for each row.

    Args:
        found: The rows.
        tell: The words of a row, where it knows better ones than the row's own.
    """
    from services.telemetry.inspection.words import short

    for row in found:
        told, at = tell(row) or short(row.words()), f"day {row.day} {row.time}  "
        show(
            text(
                (at, "cyan"),
                (f"{row.name}  ", "magenta"),
                *(_red(told) if row.failed else [told]),
                (f"   {row.id}", "dim"),
            ),
            len(at),
        )


# ---- diff ----------------------------------------------------------------------------------------


class Earned(NamedTuple):
    """Net income of all firms of two runs, in dollars."""

    day: int
    """The last day that both have; up to its end."""
    first: float
    second: float


def show_diff(found: Difference, first: str, second: str, earned: Earned | None) -> None:
    """Where the runs part, why, and what follows."""
    if found.settings:
        for key, one, two in found.settings:
            say(f"setting {key}: {_value(one)} in {first}, {_value(two)} in {second}")
    if found.equal:
        say(f"equal: the same log for all {found.days[0]} days")
        return
    if found.day is None:
        short, long = sorted(((found.days[0], first), (found.days[1], second)))
        say(
            f"equal for {short[0]} days, where {short[1]} ends; {long[1]} goes on to day"
            f" {long[0] - 1}"
        )
        return
    assert found.first is not None and found.second is not None
    same = f"equal until day {found.day - 1}; " if found.day else ""
    say(f"{same}they part on day {found.day}")
    _side(first, found.first)
    _side(second, found.second)
    for name, one, two in found.fields:
        say(f"{name}: {_value(one)} in {first}, {_value(two)} in {second}")
    _gaps(found.gaps)
    if earned is not None:
        say(
            f"net income of all firms up to day {earned.day}: {dollars(earned.first)} $ in {first},"
            f" {dollars(earned.second)} $ in {second}: {earned.second - earned.first:+,.2f} $"
        )
    for name, deals in ((first, found.deals[0]), (second, found.deals[1])):
        _deals(name, deals)
    if found.messages:
        say_table(
            ["messages", f">in {first}", f">in {second}", ">difference"],
            [
                [kind, f"{one:,}", f"{two:,}", f"{two - one:+,}"]
                for kind, (one, two) in sorted(
                    found.messages.items(), key=lambda entry: -abs(entry[1][1] - entry[1][0])
                )
            ],
        )


def _value(value: object) -> str:
    return "nothing" if value is None else str(value)


def _side(name: str, side: Side) -> None:
    from rich.tree import Tree

    tree = Tree(text(("in ", ""), (name, "bold")))
    if side.step is None:
        tree.add(text("nothing more happens on that day"))
    else:
        steps = [] if side.causes is None else side.causes.steps
        for step in steps:
            tree.add(_step(step, None))
        if not steps or steps[-1].words != side.step.words:
            tree.add(_step(side.step, None))
    show(tree)


def _gaps(gaps: Sequence[Gap]) -> None:
    if not gaps:
        say("the books are the same at the end of every day")
        return
    by_day: dict[int, dict[str, float]] = defaultdict(dict)
    for gap in gaps:
        by_day[gap.day][gap.firm] = gap.equity
    most = sorted(
        {gap.firm for gap in gaps},
        key=lambda firm: -max(abs(day.get(firm, 0.0)) for day in by_day.values()),
    )
    firms = sorted(most[:8])
    days = sorted(by_day)
    chosen = days
    if len(days) > _DAYS:
        chosen = sorted({*(days[len(days) * n // _DAYS] for n in range(_DAYS)), days[-1]})
    more = f"; {len(most) - 8} more firms with --json" if len(most) > 8 else ""
    say_table(
        [">day", *(f">{firm}" for firm in firms)],
        [[str(day), *(f"{by_day[day].get(firm, 0.0):+,.2f}" for firm in firms)] for day in chosen],
        title=f"equity $, the second run less the first ({len(days)} days differ{more})",
    )


def _deals(name: str, deals: Sequence[Deal]) -> None:
    if not deals:
        return
    say(f"{len(deals)} deals only in {name}, the first of them:")
    for deal in deals[:_DEALS]:
        say(f"  day {deal.day}  {deal.words}")


# ---- summary -------------------------------------------------------------------------------------


def show_summary(found: Summary) -> None:
    """Tables, and last of all whether every span is there."""
    _said(
        f"run {found.folder} ({found.run}): {found.days} days, {found.messages:,} messages,"
        f" {found.events:,} events, {found.traces:,} traces"
    )
    say_table(["spans", ">number"], _kinds(found.kinds))
    if found.handlers:
        wide = not sys.stdout.isatty() or get_terminal_size().columns >= _WIDE
        rows = [
            [
                f"{h.agents}: {h.message}",
                f"{h.times:,}",
                f"{h.total:,.1f}",
                *(f"{ms:,.3f}" for ms in ((h.p50, h.p95) if wide else ())),
                f"{h.p99:,.3f}",
                f"{h.longest:,.3f}",
                h.slowest,
            ]
            for h in found.handlers[:_HANDLERS]
        ]
        whose = "agent" if found.by_agent else "role"
        title = f"slowest handlers by {whose}, in ms, sorted by the 99th percentile (p99)"
        shares = [">p50", ">p95"] if wide else []
        columns = ["handler", ">times", ">total", *shares, ">p99", ">longest", "which was"]
        say_table(columns, rows, title)
    pairs = [[f"{p.one} and {p.two}", f"{p.messages:,}"] for p in found.pairs]
    say_table(["busiest pairs", ">messages"], pairs)
    _trouble(found)
    wall = found.wall_seconds
    if wall is None:
        _said("wall time: not known; this run has no timings")
    else:
        days = found.virtual_minutes / 1440
        _said(
            f"virtual time {days:,.0f} days, wall time {wall:,.2f} s"
            f" ({found.busy_seconds or 0:,.2f} s of it in agents' handlers)"
        )
    for reason, number in {**found.missing, **found.doubtful}.items():
        _said(f"{number:,} times: {reason}")
    _said(
        f"spans {found.found:,} of {found.expected:,} are there"
        f" (all kinds; of them {found.of_messages:,} of messages: send, receive, process)"
    )


def _said(line: str) -> None:
    show(text(line), _HANG)


def _kinds(kinds: Mapping[str, int]) -> list[list[str]]:
    from services.telemetry.inspection.words import short

    rows = [[plain(short(kind, _NAME)), f"{n:,}"] for kind, n in kinds.items()]
    rest = sum(list(kinds.values())[_KINDS:])
    return [*rows[:_KINDS], *([[f"{len(rows) - _KINDS} more kinds", f"{rest:,}"]] if rest else [])]


def _trouble(found: Summary) -> None:
    for line in found.troubles[:_HANDLERS]:
        _said(f"trouble: {line}")
    for line in found.errors[:_HANDLERS]:
        _said(f"errors: {line}")
    if len(found.errors) > _HANDLERS:
        _said(f"errors: {len(found.errors) - _HANDLERS} more kinds; see find --kind trouble")
    if not found.troubles and not found.errors:
        _said("no errors, no missed turns")
    refused = sorted(found.refused.items(), key=lambda entry: -entry[1][1])
    if refused:
        parts = [f"{firm} {n} of {all_:,} (mostly {code})" for firm, (all_, n, code) in refused[:6]]
        more = f" and {len(refused) - 6} more firms" if len(refused) > 6 else ""
        _said(f"refused commands: {', '.join(parts)}{more}")
    _late(found.late)


def _late(late: LateSum) -> None:
    from services.telemetry.inspection.words import count

    if not late.payers:
        _said("paid late: no invoice")
        return
    line = f"paid late: {count(late.paid, 'invoice')}"
    if late.paid:
        line += f", {late.mean_days:.1f} days on average, at most {late.most_days} ({late.longest})"
    if late.open:
        line += f"; past due and not paid: {late.open:,}, {dollars(late.open_dollars)} $ in all"
    most = list(late.payers.items())[:_PAYERS]
    _said(f"{line}; by {', '.join(f'{payer} {n}' for payer, n in most)}")

"""What a user sees when a run has ended: a row for each firm, where it is, what to type next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from services.cli.console import dollars, say, say_json, say_table, typed

if TYPE_CHECKING:
    from services.cli.monitor_account import Account
    from services.cli.monitor_recovery import Recovery
    from services.runs import Run
    from services.runs.result import FirmResult, RunResult
    from services.runs.troubles import Refusals

_ROWS_AT_EACH_END = 10
_ALL_UP_TO = 30
"""A table of more firms than this shows the best and the worst."""
_LINES_OF_TROUBLE = 8


def show_result(result: RunResult, folder: Path, *, as_json: bool) -> None:
    """The table of the firms and what belongs to it, or the same as JSON."""
    from services.runs import Run

    run = Run(folder)
    account = _account(run)
    if as_json:
        seen = {}
        if account is not None:
            recovery = recovery_in(run, account)
            told = None if recovery is None else recovery.document()
            seen = {"monitor": {**account.document(), "recovery": told}}
        say_json({**result.model_dump(mode="json"), **seen})
        return
    from services.runs.troubles import refusals

    refused = refusals(run)
    _show_firms(result, refused)
    _show_refusals(refused)
    failing = _show_troubles(run, result)
    troubles = [
        f"{name.replace('_', ' ')} {count}" for name, count in result.counters.items() if count
    ]
    speed = f", {result.messages / result.seconds:,.0f} messages/s" if result.seconds > 0 else ""
    say(
        f"{result.days} days, {result.messages:,} messages, {result.actions:,} actions "
        f"in {result.seconds:.1f} s{speed}"
    )
    say(f"seed {result.seed}, rules {result.rules}, placement {_placement(result)}")
    if troubles:
        say(f"troubles: {', '.join(troubles)}")
    if result.spans_expected:
        say(f"spans {result.spans:,} of {result.spans_expected:,}")
    if account is not None:
        _show_account(run, account)
    say(f"log_sha256 {result.log_sha256[:12]}")
    say(f"run {folder}")
    say()
    say(f"next: {typed('hanse', 'report', folder)}    (charts, as one HTML page)")
    if failing:
        say(f"      its section Events lists every error and missed turn of {failing}")
    if result.spans_expected:
        say(f"      {typed('hanse', 'trace', folder)}    (who told whom what, and what came of it)")
    if account is not None:
        if account.alerts:
            verify = typed("hanse", "monitor", "verify", folder)
            say(f"      {verify}    (is it the suspects' doing?)")
        say(f"      {typed('hanse', 'monitor', 'watch', folder)}    (what the monitors saw)")
    say(f"      {typed('hanse', 'export', folder, '--to', 'csv')}")


def _account(run: Run) -> Account | None:
    """What its monitors have noted; None if nobody watched."""
    monitor = run.manifest.config.get("monitor")
    if monitor is None:
        return None
    from services.cli.monitor_account import account_of

    return account_of(run, monitor.get("tick_minutes", 60))


def recovery_in(run: Run, account: Account) -> Recovery | None:
    """Whether the firms of a watched run have recovered; None where nobody talks."""
    from actors.cast import Cast
    from actors.replaying import config_of
    from services.cli.monitor_recovery import recovery_of

    return recovery_of(run, Cast(config_of(run), str(run.folder)), account.alarmed)


def _show_account(run: Run, account: Account) -> None:
    from services.telemetry.inspection.cascade_report import report_in
    from services.telemetry.inspection.watch_words import alert_line, roles

    say(f"monitor: {account.summary()}")
    lines = []
    for body in account.alerts.values():
        if (report := report_in(body)) is not None:
            lines.append(f"{alert_line(report, account.tick_minutes)}; {roles(report)}")
    _say_some(lines)
    recovery = recovery_in(run, account)
    for line in recovery.lines() if recovery is not None else ():
        say(line)


def _show_refusals(refused: dict[str, Refusals]) -> None:
    """A firm of which more than half is refused has misunderstood something: say what."""
    from services.economy.refusals import REFUSALS

    lines = [
        f"{firm}: {found.refused:,} of {found.commands:,} commands were refused, most often "
        f"{found.code}: {REFUSALS.get(found.code, 'the report lists them')}"
        for firm, found in refused.items()
        if found.refused * 2 > found.commands
    ]
    _say_some(lines)


def _show_troubles(run: Run, result: RunResult) -> str:
    """What failed, each firm's first error; returns the name of the agent that failed most."""
    if not any(result.counters.get(name) for name in ("agent_errors", "turns_missed")):
        return ""
    from services.runs.troubles import troubles

    found = troubles(run)
    _say_some([f"{trouble.agent}: {trouble}" for trouble in found])
    return found[0].agent if found else ""


def _say_some(lines: list[str]) -> None:
    for line in lines[:_LINES_OF_TROUBLE]:
        say(line)
    if len(lines) > _LINES_OF_TROUBLE:
        say(f"and {len(lines) - _LINES_OF_TROUBLE} more; the report has them all")


def _placement(result: RunResult) -> str:
    return result.placement + (f" on {result.hosts} hosts" if result.placement == "packed" else "")


def _show_firms(result: RunResult, refused: dict[str, Refusals]) -> None:
    firms = list(result.firms)
    left_out = 0
    if len(firms) > _ALL_UP_TO:
        firms.sort(key=lambda firm: -firm.net_income)
        left_out = len(firms) - 2 * _ROWS_AT_EACH_END
        firms = firms[:_ROWS_AT_EACH_END] + firms[-_ROWS_AT_EACH_END:]
    several_towns = len({firm.town for firm in result.firms}) > 1
    say_table(
        [
            "firm",
            *(["town"] if several_towns else []),
            "role",
            "strategy",
            ">net income $",
            ">revenue $",
            ">stock kg",
            ">letters",
            ">deals",
            ">refused",
        ],
        [
            *(_row(firm, several_towns, refused.get(firm.firm)) for firm in firms),
            _total(result.firms, several_towns, refused),
        ],
    )
    if left_out:
        say(f"The {_ROWS_AT_EACH_END} best and worst; {left_out} more: --json, or the report.")
    bankrupt = [firm for firm in result.firms if firm.bankrupt_day is not None]
    if len(bankrupt) > _ROWS_AT_EACH_END:
        say(f"{len(bankrupt)} firms went bankrupt")
    else:
        for firm in bankrupt:
            say(f"{firm.firm} went bankrupt on day {firm.bankrupt_day}")


def _row(firm: FirmResult, several_towns: bool, refused: Refusals | None) -> list[str]:
    return [
        firm.firm,
        *([firm.town] if several_towns else []),
        firm.role,
        short_strategy(firm.strategy),
        dollars(firm.net_income),
        dollars(firm.revenue),
        f"{firm.stock_kg:,}",
        f"{firm.messages_sent:,}",
        f"{firm.deals:,}",
        f"{refused.refused if refused else 0:,}",
    ]


def _total(
    firms: Sequence[FirmResult], several_towns: bool, refused: dict[str, Refusals]
) -> list[str]:
    """The sums over all firms; a deal has two of them, so that deals have no sum."""
    return [
        f"all {len(firms):,} firms",
        *([""] if several_towns else []),
        "",
        "",
        dollars(sum(firm.net_income for firm in firms)),
        dollars(sum(firm.revenue for firm in firms)),
        f"{sum(firm.stock_kg for firm in firms):,}",
        f"{sum(firm.messages_sent for firm in firms):,}",
        "",
        f"{sum(found.refused for found in refused.values()):,}",
    ]


def short_strategy(strategy: str) -> str:
    """A strategy without the folders of its file."""
    return strategy.replace("\\", "/").rpartition("/")[2]

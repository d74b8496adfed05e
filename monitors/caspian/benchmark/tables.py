"""A benchmark's results as tables for a terminal."""

from __future__ import annotations

from rich.table import Table

from monitors.caspian.benchmark.detectors import CASPIAN, KEYWORDS
from monitors.caspian.benchmark.results import Detection, Estimate, Results


def tables(results: Results) -> list[Table]:
    """All tables, in the order of reading."""
    found = [_detections(results), _attributions(results), _checks(results)]
    if results.settings:
        found.append(_settings(results))
    if results.evasions:
        found.append(_evasions(results))
    return [*found, _claims(results)]


def _detections(results: Results) -> Table:
    table = Table(
        title=f"Detection: {extent(results)}",
        caption="In brackets 95 % over traces. FPR at frozen thresholds, the rest at 5 % FPR.",
    )
    table.add_column("detector")
    for name in ("AUROC", "TPR", "FPR", "EDR@5", "EDR@10", "delay", "gradual TPR", "delay"):
        table.add_column(name, justify="right")
    for row in results.detections:
        table.add_row(row.detector, *_row(row), style="bold" if row.detector == CASPIAN else "")
    table.add_row(KEYWORDS, "text mode only", *[""] * 7, style="dim")
    return table


def _row(row: Detection) -> list[str]:
    return [
        shown(row.auroc),
        shown(row.tpr, 2),
        shown(row.false_alarms),
        shown(row.edr5, 2),
        shown(row.edr10, 2),
        ticks(row.abrupt_delay),
        shown(row.gradual_tpr, 2),
        ticks(row.gradual_delay),
    ]


def _attributions(results: Results) -> Table:
    table = Table(
        title="Attribution: the first named is right", caption="In brackets 95 % over traces."
    )
    for name in ("method", "cascades"):
        table.add_column(name)
    for name in ("origin", "bridge", "amplifier", "spines (Jaccard@3)", "onset error"):
        table.add_column(name, justify="right")
    for row in results.attributions:
        error = "" if row.onset_error is None else f"{row.onset_error:+g}"
        spines = "" if row.spine_jaccard is None else shown(row.spine_jaccard, 2)
        roles = [shown(role, 2) for role in (row.origin, row.bridge, row.amplifier)]
        table.add_row(row.method, row.kind, *roles, spines, error)
    return table


def _checks(results: Results) -> Table:
    table = Table(title="Requirements")
    for name in ("id", "requirement", "measured"):
        table.add_column(name)
    table.add_column("pass")
    for check in results.checks:
        verdict = "[green]yes[/]" if check.passed else "[bold red]no[/]"
        table.add_row(check.id, check.requirement, check.measured, verdict)
    return table


def _settings(results: Results) -> Table:
    table = Table(title="Other conditions")
    table.add_column("condition")
    table.add_column("detector")
    for name in ("AUROC", "TPR", "FPR", "EDR@5", "EDR@10", "delay", "gradual TPR", "delay"):
        table.add_column(name, justify="right")
    for row in results.settings:
        cells = _row(row.detection)
        if row.group == "left out":
            missing = row.name.rsplit(" ", 1)[-1]
            rate = row.detection.false_alarms_by_kind.get(missing)
            cells[2] += "" if rate is None else f"; {missing} {rate:.3f}"
        table.add_row(row.name, row.detection.detector, *cells)
    return table


def _evasions(results: Results) -> Table:
    table = Table(title="Attacks made to evade, thresholds frozen")
    table.add_column("attack")
    table.add_column("detector")
    for name in ("TPR", "EDR@10", "delay"):
        table.add_column(name, justify="right")
    for row in results.evasions:
        cells = (shown(row.tpr, 2), shown(row.edr10, 2), ticks(row.delay))
        table.add_row(row.kind, row.detector, *cells)
    return table


def _claims(results: Results) -> Table:
    table = Table(title="The paper's claims")
    for name in ("claim", "test", "measured", "verdict"):
        table.add_column(name)
    for claim in results.claims:
        table.add_row(claim.claim, claim.test, claim.measured, claim.verdict)
    return table


def extent(results: Results) -> str:
    """How much was measured, in a line."""
    size = results.size
    seeds = "1 seed" if len(size.seeds) == 1 else f"{len(size.seeds)} seeds"
    return (
        f"{seeds} x {size.traces} traces, {results.agents} agents, payload share {results.share:g}"
    )


def shown(one: Estimate | None, digits: int = 3) -> str:
    """A share with its interval: ``0.993 (0.981-0.999)``."""
    if one is None or one.value is None:
        return "-"
    if one.low is None or one.high is None:
        return f"{one.value:.{digits}f}"
    return f"{one.value:.{digits}f} ({one.low:.{digits}f}-{one.high:.{digits}f})"


def ticks(one: Estimate) -> str:
    """A delay with its interval: ``5 (4-7)``, ``29 (23-never)`` or ``never``."""
    low, value, high = ("never" if x is None else f"{x:g}" for x in (one.low, one.value, one.high))
    return value if low == high or value == "never" else f"{value} ({low}-{high})"

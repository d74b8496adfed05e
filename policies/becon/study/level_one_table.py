"""Level 1 over several seeds: the table beside the note's figures, and what of it is met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from policies.acceptance import (
    Check,
    Figure,
    Record,
    at_least,
    at_most,
    checks_table,
    difference,
    mean,
    ratio,
    saved,
    this_machine,
)
from policies.becon.metrics import standard_error
from policies.becon.study.level_one import LATE, LINES, METHODS, LevelOne, Method, Regime
from policies.becon.study.seeds import described
from policies.environments.tradeoff_desk import CORRUPTIONS

if TYPE_CHECKING:
    from rich.table import Table as RichTable

NOTE: Final[Mapping[str, Mapping[str, tuple[float, float | None]]]] = {
    "clean": {
        "oracle": (0.011, 2.4),
        "exposed": (0.017, 3.8),
        "filter": (0.075, 17.7),
        "history": (0.073, 16.2),
        "becon": (0.018, 4.2),
        "becon_note": (0.017, 3.6),
    },
    "moderate": {
        "oracle": (0.011, None),
        "exposed": (0.093, 17.5),
        "filter": (0.075, 17.7),
        "history": (0.073, 16.2),
        "becon": (0.071, 15.9),
        "becon_note": (0.072, 8.3),
    },
    "severe": {
        "oracle": (0.011, None),
        "exposed": (0.152, 24.9),
        "filter": (0.075, 17.7),
        "history": (0.073, 16.2),
        "becon": (0.078, 17.7),
        "becon_note": (0.094, 7.3),
    },
    "no_feedback": {
        "oracle": (0.011, None),
        "exposed": (0.055, 11.5),
        "filter": (0.187, 40.3),
        "history": (0.187, 40.3),
        "becon": (0.055, 13.0),
        "becon_note": (0.051, 10.5),
    },
}
"""Safe regret and violations in per cent that the note measured, seed 0 (section 7)."""
NOTE_ERRORS: Final[Mapping[str, Mapping[str, float]]] = {
    "clean": {"becon": 0.0005, "exposed": 0.0004},
    "moderate": {"becon": 0.042, "exposed": 0.075},
    "severe": {"becon": 0.049, "exposed": 0.217},
    "no_feedback": {"becon": 0.030, "exposed": 0.031},
}
"""Squared error of w that the note measured."""
HOLDING_BACK: Final[Mapping[Method, str]] = {
    "becon_safe": "our kappa",
    "becon_note": "note's kappa",
}
NOTE_GATES: Final = {"clean": 0.03, "moderate": 0.65, "severe": 0.89, "no_feedback": 0.10}


class Spread(Record):
    """A figure over seeds."""

    mean: float
    error: float
    """Standard error; NaN for one seed."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Mean and standard error."""
        return cls(mean=float(np.mean(values)), error=standard_error(values))


class Row(Record):
    """One method in one regime."""

    regime: str
    method: str
    safe_regret: Spread
    violation: Spread
    """Per cent of steps."""
    excess: Spread
    utility: Spread
    post_shift: Spread
    """Safe regret over the 8 steps after a jump."""
    recovery: Spread
    preference_error: Spread
    budget_error: Spread
    note: tuple[float, float | None] | None
    """The note's safe regret and violations."""
    note_error: float | None
    """The note's squared error of w."""


class GateRow(Record):
    """What the gates did in one regime."""

    regime: str
    gate_w: Spread
    gate_d: Spread
    agreement: Spread
    coverage_w: Spread
    coverage_d: Spread
    epistemic: Spread
    aleatoric: Spread
    note: float | None
    """The note's mean gate of w."""


class Table(Record):
    """The whole of level 1."""

    rows: tuple[Row, ...]
    gates: tuple[GateRow, ...]
    checks: tuple[Check, ...]
    seeds: tuple[int, ...]
    quick: bool
    machine: str
    cpu_seconds: Spread
    """Of one seed."""

    @property
    def passed(self) -> bool:
        """Whether every demand is met."""
        return all(check.passed for check in self.checks if check.counts)

    @classmethod
    def of(cls, studies: Sequence[LevelOne], *, quick: bool = False) -> Table:
        """The table of one study per seed.

        Raises:
            ValueError: there is none.
        """
        if not studies:
            raise ValueError("no studies to tabulate")
        return cls(
            rows=tuple(_row(studies, regime, m) for regime in LINES for m in METHODS),
            gates=tuple(_gate_row(studies, regime) for regime in LINES),
            checks=demands(studies),
            seeds=tuple(each.seed for each in studies),
            quick=quick,
            machine=this_machine(),
            cpu_seconds=Spread.of([each.seconds for each in studies]),
        )

    def rich(self) -> tuple[RichTable, ...]:
        """For a terminal."""
        from rich.table import Table as RichTable

        seeds = described(self.seeds)
        main = RichTable(title=f"Safe regret (violations %), seeds {seeds}; note: seed 0")
        main.add_column("method")
        for head in (*CORRUPTIONS, "mean"):
            main.add_column(head, justify="right")
        for method in METHODS:
            mine = [row for row in self.rows if row.method == method]
            ours = [row for row in mine if row.regime in CORRUPTIONS]
            overall = f"{np.mean([row.safe_regret.mean for row in ours]):.3f}"
            main.add_row(
                method,
                *(cell(row.safe_regret.mean, row.violation.mean) for row in ours),
                overall,
            )
            if len(self.seeds) > 1:
                main.add_row("  ± s.e.", *(_error(row) for row in ours), style="dim")
            main.add_row("  note", *(_noted(row.note) for row in ours), style="dim")
        more = RichTable(
            title="EU: utility; after: regret over 8 steps after a jump; recovery: steps"
        )
        named = ("regime", "method")
        for head in (*named, "regret", "EU", "after", "recovery", "|w|^2", "|d|"):
            more.add_column(head, justify="left" if head in named else "right")
        for row in self.rows:
            more.add_row(
                row.regime,
                row.method,
                f"{row.safe_regret.mean:.3f}",
                f"{row.utility.mean:.3f}",
                f"{row.post_shift.mean:.3f}",
                f"{row.recovery.mean:.1f}",
                f"{row.preference_error.mean:.3f}",
                f"{row.budget_error.mean:.3f}",
            )
        errors = RichTable(title="Squared error of w")
        errors.add_column("method")
        for head in CORRUPTIONS:
            errors.add_column(head, justify="right")
        for method in ("becon", "exposed"):
            ours = [row for row in self.rows if row.method == method and row.note_error]
            errors.add_row(method, *(f"{row.preference_error.mean:.4f}" for row in ours))
            errors.add_row("  note", *(f"{row.note_error:.4f}" for row in ours), style="dim")
        gates = RichTable(title="Gates: 0 trusts the descriptor, 1 the belief")
        heads = ("regime", "g_w", "note", "g_d", "right", "80% w", "80% d", "epi", "ale")
        for head in heads:
            gates.add_column(head, justify="left" if head == "regime" else "right")
        for each in self.gates:
            gates.add_row(
                each.regime,
                f"{each.gate_w.mean:.2f}",
                "-" if each.note is None else f"{each.note:.2f}",
                f"{each.gate_d.mean:.2f}",
                f"{each.agreement.mean:.2f}",
                f"{each.coverage_w.mean:.2f}",
                f"{each.coverage_d.mean:.2f}",
                f"{each.epistemic.mean:.1e}",
                f"{each.aleatoric.mean:.1e}",
            )
        return main, more, errors, gates, checks_table(self.checks)


def demands(studies: Sequence[LevelOne]) -> tuple[Check, ...]:
    """Acceptance (a) to (e) of the note, section 7, on means over seeds.

    Laid down before `seeds.LEVEL_ONE` were run. The better one of exposed and history, in (a) and
    (b), is the one whose mean over seeds is the smaller. (d) is asked of how BECON holds back
    (`becon_safe`: for what belief does not know and for the descriptor's error). The note's
    proposal (`becon_note`: for what belief does not know) is shown beside it. (e) is asked of
    every seed.
    """

    def regret(method: Method, *regimes: str) -> list[float]:
        chosen = regimes or tuple(CORRUPTIONS)
        return [
            float(np.mean([each.regimes[name].cells[method].safe_regret for name in chosen]))
            for each in studies
        ]

    def violation(method: Method, regime: str) -> list[float]:
        return [each.regimes[regime].cells[method].violation for each in studies]

    def gate(regime: str) -> Figure:
        return mean([each.regimes[regime].gate_w for each in studies])

    def better(*regimes: str) -> list[float]:
        return min(regret("exposed", *regimes), regret("history", *regimes), key=np.mean)

    overall = ratio(regret("becon"), better())
    checks = [at_most("(a) BECON / better of exposed, history", overall, 0.80)]
    for regime in CORRUPTIONS:
        worse = difference(regret("becon", regime), better(regime))
        checks.append(at_most(f"(b) {regime}: BECON - better one", worse, 0.015))
    checks += [
        at_most("(c) g_w clean", gate("clean"), 0.15),
        at_most("(c) g_w no feedback", gate("no_feedback"), 0.25),
        at_least("(c) g_w severe", gate("severe"), 0.7),
    ]
    for method, whose in HOLDING_BACK.items():
        for regime in ("moderate", "severe"):
            cut = saved(violation(method, regime), violation("becon", regime))
            extra = difference(regret(method, regime), regret("becon", regime))
            both = (
                at_least(f"(d) {regime}: violations cut by {whose}", cut, 0.30),
                at_most(f"(d) {regime}: what {whose} costs", extra, 0.03),
            )
            checks += both if method == "becon_safe" else [check.shown() for check in both]
    rises = max(each.gate_rises for each in studies)
    checks.append(at_most("(e) steps where disagreement opens a gate", float(rises), 0.0))
    return tuple(checks)


def _row(studies: Sequence[LevelOne], regime: str, method: Method) -> Row:
    cells = [_regime(each, regime).cells[method] for each in studies]
    return Row(
        regime=regime,
        method=method,
        safe_regret=Spread.of([cell.safe_regret for cell in cells]),
        violation=Spread.of([100 * cell.violation for cell in cells]),
        excess=Spread.of([cell.excess for cell in cells]),
        utility=Spread.of([cell.utility for cell in cells]),
        post_shift=Spread.of([cell.post_shift[1] for cell in cells]),
        recovery=Spread.of([cell.recovery for cell in cells]),
        preference_error=Spread.of([cell.preference_error for cell in cells]),
        budget_error=Spread.of([cell.budget_error for cell in cells]),
        note=NOTE.get(regime, {}).get(method),
        note_error=NOTE_ERRORS.get(regime, {}).get(method),
    )


def _gate_row(studies: Sequence[LevelOne], regime: str) -> GateRow:
    made = [_regime(each, regime) for each in studies]
    return GateRow(
        regime=regime,
        gate_w=Spread.of([each.gate_w for each in made]),
        gate_d=Spread.of([each.gate_d for each in made]),
        agreement=Spread.of([each.agreement for each in made]),
        coverage_w=Spread.of([each.coverage_w for each in made]),
        coverage_d=Spread.of([each.coverage_d for each in made]),
        epistemic=Spread.of([each.epistemic for each in made]),
        aleatoric=Spread.of([each.aleatoric for each in made]),
        note=NOTE_GATES.get(regime),
    )


def _regime(study: LevelOne, regime: str) -> Regime:
    return study.late if regime == LATE else study.regimes[regime]


def _error(row: Row) -> str:
    return cell(row.safe_regret.error, row.violation.error)


def _noted(note: tuple[float, float | None] | None) -> str:
    if note is None:
        return "-"
    return cell(*note)


def cell(regret: float, violation: float | None) -> str:
    """As the note prints it, without the zero before the point."""
    shown = f"{regret:.3f}".removeprefix("0")
    return shown if violation is None else f"{shown} ({violation:.1f})"

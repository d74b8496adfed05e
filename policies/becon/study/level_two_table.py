"""Level 2 over several seeds: variants beside each other, and what of the note's demand is met."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from policies.acceptance import Check, Record, at_most, checks_table, ratio, this_machine
from policies.becon.study.level_one_table import Spread, cell
from policies.becon.study.level_two import HELD_BACK, LevelTwo
from policies.becon.study.seeds import described
from policies.environments.tradeoff_desk import CORRUPTIONS

if TYPE_CHECKING:
    from rich.table import Table as RichTable

OURS: Final = {
    "becon": "without kappa",
    "becon_note": "note's kappa",
    "becon_safe": "our kappa",
}


class Row(Record):
    """One variant in one regime."""

    variant: str
    regime: str
    safe_regret: Spread
    violation: Spread
    """Per cent of steps."""
    excess: Spread
    utility: Spread
    segment_violation: Spread
    """Per cent of segments whose mean cost is above the budget."""
    post_shift: tuple[Spread, ...]
    """Over 4, 8 and 16 steps."""
    recovery: Spread
    preference_error: Spread
    budget_error: Spread
    gate_w: Spread
    price: Spread


class Sweep(Record):
    """One variant over fixed preferences."""

    variant: str
    hypervolume: Spread
    feasible: Spread
    train_seconds: Spread
    """CPU seconds."""


class Table(Record):
    """The whole of level 2."""

    rows: tuple[Row, ...]
    sweeps: tuple[Sweep, ...]
    checks: tuple[Check, ...]
    seeds: tuple[int, ...]
    iterations: int
    machine: str

    @property
    def passed(self) -> bool:
        """Whether every demand is met."""
        return all(check.passed for check in self.checks)

    @classmethod
    def of(cls, studies: Sequence[LevelTwo], iterations: int) -> Table:
        """The table of all variants and seeds.

        Raises:
            ValueError: there is none.
        """
        if not studies:
            raise ValueError("no studies to tabulate")
        variants = list(dict.fromkeys(each.variant for each in studies))
        return cls(
            rows=tuple(_row(studies, v, r) for r in CORRUPTIONS for v in variants),
            sweeps=tuple(_sweep(studies, v) for v in variants),
            checks=demands(studies),
            seeds=tuple(sorted({each.seed for each in studies})),
            iterations=iterations,
            machine=this_machine(),
        )

    @property
    def cpu_minutes(self) -> float:
        """Of all trainings together; variants of one training count once."""
        trained = [each for each in self.sweeps if each.variant not in HELD_BACK]
        return sum(each.train_seconds.mean for each in trained) * len(self.seeds) / 60

    def rich(self) -> tuple[RichTable, ...]:
        """For a terminal."""
        from rich.table import Table as RichTable

        seeds = described(self.seeds)
        title = f"Safe regret (violations %), {self.iterations} iterations, seeds {seeds}"
        main = RichTable(title=title)
        main.add_column("variant")
        for head in (*CORRUPTIONS, "mean"):
            main.add_column(head, justify="right")
        for sweep in self.sweeps:
            rows = [row for row in self.rows if row.variant == sweep.variant]
            mean = f"{np.mean([row.safe_regret.mean for row in rows]):.3f}"
            values = (cell(row.safe_regret.mean, row.violation.mean) for row in rows)
            main.add_row(sweep.variant, *values, mean)
            if len(self.seeds) > 1:
                errors = (cell(row.safe_regret.error, row.violation.error) for row in rows)
                main.add_row("  ± s.e.", *errors, style="dim")
        severe = RichTable(title="Severe corruption; after: regret over 8 steps after a jump")
        heads = ("variant", "EU", "excess", "segm. %", "after", "|w|^2", "|d|", "g_w", "lambda")
        for head in heads:
            severe.add_column(head, justify="left" if head == "variant" else "right")
        for row in (row for row in self.rows if row.regime == "severe"):
            severe.add_row(
                row.variant,
                f"{row.utility.mean:.3f}",
                f"{row.excess.mean:.4f}",
                f"{row.segment_violation.mean:.1f}",
                cell(row.post_shift[1].mean, None),
                cell(row.preference_error.mean, None),
                cell(row.budget_error.mean, None),
                f"{row.gate_w.mean:.2f}",
                f"{row.price.mean:.1f}",
            )
        swept = RichTable(title="Over 21 fixed preferences, moderate corruption, budget 0.5")
        for head in ("variant", "hypervolume", "± s.e.", "within budget", "CPU s to train"):
            swept.add_column(head, justify="left" if head == "variant" else "right")
        for sweep in self.sweeps:
            swept.add_row(
                sweep.variant,
                f"{sweep.hypervolume.mean:.4f}",
                f"{sweep.hypervolume.error:.4f}",
                f"{sweep.feasible.mean:.0f}",
                f"{sweep.train_seconds.mean:.0f}",
            )
        return main, severe, swept, checks_table(self.checks, "Acceptance, under severe corruption")


def demands(studies: Sequence[LevelTwo]) -> tuple[Check, ...]:
    """The note's acceptance of level 2 (section 7), under severe corruption; every line counts.

    Laid down before `seeds.LEVEL_TWO` were run: safe regret is at most 0.85 and violations are at
    most 0.80 of those of `exposed`, of the means over seeds. The note does not say whether its
    BECON holds back, so both are asked of BECON without kappa (`becon`), with the note's kappa
    (`becon_note`) and with ours (`becon_safe`), all three from one training: six lines.
    """

    def severe(variant: str, figure: str) -> list[float]:
        chosen = sorted((each for each in studies if each.variant == variant), key=_seed)
        return [getattr(each.regimes["severe"], figure) for each in chosen]

    there = {each.variant for each in studies}
    if "exposed" not in there:
        return ()
    return tuple(
        at_most(
            f"{figure.replace('_', ' ')}, {whose} / exposed",
            ratio(severe(variant, figure), severe("exposed", figure)),
            most,
        )
        for variant, whose in OURS.items()
        if variant in there
        for figure, most in (("safe_regret", 0.85), ("violation", 0.80))
    )


def _seed(study: LevelTwo) -> int:
    return study.seed


def _row(studies: Sequence[LevelTwo], variant: str, regime: str) -> Row:
    judged = [each.regimes[regime] for each in studies if each.variant == variant]
    return Row(
        variant=variant,
        regime=regime,
        safe_regret=Spread.of([each.safe_regret for each in judged]),
        violation=Spread.of([100 * each.violation for each in judged]),
        excess=Spread.of([each.excess for each in judged]),
        utility=Spread.of([each.utility for each in judged]),
        segment_violation=Spread.of([100 * each.segment_violation for each in judged]),
        post_shift=tuple(Spread.of([each.post_shift[n] for each in judged]) for n in range(3)),
        recovery=Spread.of([each.recovery for each in judged]),
        preference_error=Spread.of([each.preference_error for each in judged]),
        budget_error=Spread.of([each.budget_error for each in judged]),
        gate_w=Spread.of([each.gate_w for each in judged]),
        price=Spread.of([each.price for each in judged]),
    )


def _sweep(studies: Sequence[LevelTwo], variant: str) -> Sweep:
    chosen = [each for each in studies if each.variant == variant]
    return Sweep(
        variant=variant,
        hypervolume=Spread.of([each.hypervolume for each in chosen]),
        feasible=Spread.of([float(each.feasible) for each in chosen]),
        train_seconds=Spread.of([each.train_seconds for each in chosen]),
    )

"""The table of the league study, in the format of the note's, and what of the claim is met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
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
    this_machine,
)
from policies.becon.procurement.artefact import read_manifest
from policies.becon.procurement.study import ARMS, REGIMES, REPORTED, TUNING, Cell, run_study

if TYPE_CHECKING:
    from rich.table import Table as RichTable

RIVALS: Final = ("exposed", "history")
"""What BECON must be better than, by less regret and fewer violations."""
DAYS: Final = 90
"""Of the study's leagues."""
_Figures = Callable[[Cell], float]


class Row(Record):
    """One arm in one regime, or in the mean of them; figures with 95 % intervals over seeds."""

    arm: str
    regime: str
    safe_regret: Figure
    violation: Figure
    """Per cent of days."""
    excess: Figure
    utility: Figure
    post_shift: float
    preference_error: float
    budget_error: float
    gate_w: float
    gate_d: float
    price: float


class Table(Record):
    """The whole study."""

    rows: tuple[Row, ...]
    demands: tuple[Check, ...]
    also: tuple[Check, ...]
    """Shown for comparison; no part of the claim."""
    seeds: tuple[int, ...]
    days: int
    policy: str
    kappa: float
    train_seconds: float
    """CPU seconds."""
    machine: str

    @property
    def passed(self) -> bool:
        """Whether the claim holds."""
        return all(check.passed for check in self.demands)

    @classmethod
    def of(
        cls, cells: Sequence[Cell], days: int, policy: str, kappa: float, train_seconds: float
    ) -> Table:
        """The table of what was played.

        Raises:
            ValueError: nothing was.
        """
        if not cells:
            raise ValueError("no runs to tabulate")
        arms = [name for name in ARMS if any(cell.arm == name for cell in cells)]
        return cls(
            rows=tuple(_row(cells, a, r) for a in arms for r in (*REGIMES, "mean")),
            demands=demands(cells),
            also=also(cells),
            seeds=tuple(sorted({cell.seed for cell in cells})),
            days=days,
            policy=policy,
            kappa=kappa,
            train_seconds=train_seconds,
            machine=this_machine(),
        )

    def rich(self) -> tuple[RichTable, ...]:
        """For a terminal."""
        from rich.table import Table as RichTable

        seeds = described(self.seeds)
        main = RichTable(
            title=f"Safe regret (violations %), whole leagues of {self.days} days, {seeds}"
        )
        main.add_column("controller")
        for head in (*REGIMES, "mean"):
            main.add_column(head, justify="right")
        for arm in dict.fromkeys(row.arm for row in self.rows):
            rows = [row for row in self.rows if row.arm == arm]
            main.add_row(arm, *(_cell(row.safe_regret.value, row.violation.value) for row in rows))
            halves = [(_half(row.safe_regret), _half(row.violation)) for row in rows]
            if len(self.seeds) > 1:
                main.add_row("  ± 95 %", *(_cell(*half) for half in halves), style="dim")
        about = RichTable(title="The policy as it is (becon); after: over 8 days from a jump")
        heads = ("regime", "g_w", "g_d", "lambda", "|w|^2", "|d|", "after", "utility", "excess")
        for head in heads:
            about.add_column(head, justify="left" if head == "regime" else "right")
        for row in (row for row in self.rows if row.arm == "becon"):
            about.add_row(
                row.regime,
                *(f"{x:.2f}" for x in (row.gate_w, row.gate_d, row.price)),
                *(f"{x:.3f}" for x in (row.preference_error, row.budget_error, row.post_shift)),
                f"{row.utility.value:.3f}",
                f"{row.excess.value:.4f}",
            )
        claim = checks_table(self.demands, "The claim; differences seed by seed, over all regimes")
        if not self.also:
            return main, about, claim
        return main, about, claim, checks_table(self.also, "For comparison; no part of the claim")


def study_table(
    policy: Path,
    seeds: Sequence[int],
    *,
    arms: Sequence[str] = tuple(ARMS),
    keep: Path | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Table:
    """Plays the league study of a policy (:func:`run_study`, in leagues of 90 days): its table.

    Raises:
        HanseError: the policy is not there, or damaged.
    """
    manifest = read_manifest(policy)
    cells = run_study(policy, seeds, arms=arms, days=DAYS, keep=keep, say=say)
    seconds = manifest.metrics.get("cpu_seconds", float("nan"))
    return Table.of(cells, DAYS, manifest.name, manifest.kappa, seconds)


def described(seeds: Sequence[int]) -> str:
    """Which seeds these are, and whether they had been looked at."""
    named = f"seeds {min(seeds)} to {max(seeds)}" if len(seeds) > 1 else f"seed {seeds[0]}"
    if set(seeds) & set(TUNING):
        return f"{named}: settings were TUNED on some of them"
    held = "held out: no setting was chosen by them"
    return f"{named} ({held})" if set(seeds) <= set(REPORTED) else named


def demands(cells: Sequence[Cell]) -> tuple[Check, ...]:
    """The claim: lower safe regret and fewer violations than either, and gates that know when."""
    checks = []
    for rival in RIVALS:
        checks += _against(cells, "becon", rival)
    gates = {regime: _by_seed(cells, "becon", (regime,), _gate_w) for regime in REGIMES}
    if all(gates.values()):
        checks += [
            at_most("gate_w, clean line", mean(gates["clean"]), 0.15),
            at_most("gate_w, no feedback", mean(gates["no_feedback"]), 0.25),
            at_least("gate_w, severe line", mean(gates["severe"]), 0.70),
        ]
    return tuple(checks)


def also(cells: Sequence[Cell]) -> tuple[Check, ...]:
    """The same against rivals that hold back as well, and without holding back."""
    checks = []
    for one, other in (
        ("becon", "exposed_safe"),
        ("becon", "history_safe"),
        ("becon_0", "exposed"),
        ("becon_0", "history"),
        ("becon", "base_stock"),
    ):
        checks += [check.shown() for check in _against(cells, one, other)]
    return tuple(checks)


def _against(cells: Sequence[Cell], one: str, other: str) -> list[Check]:
    found = []
    for name, figure in (("safe regret", _regret), ("violations %", _violation)):
        these, those = (_by_seed(cells, arm, REGIMES, figure) for arm in (one, other))
        if these and those:
            found.append(at_most(f"{name}: {one} less {other}", difference(these, those), 0.0))
    return found


def _by_seed(
    cells: Sequence[Cell], arm: str, regimes: Sequence[str], figure: _Figures
) -> list[float]:
    """A figure of an arm, mean over regimes, seed by seed."""
    seeds = sorted({cell.seed for cell in cells if cell.arm == arm})
    return [
        float(
            np.mean(
                [
                    figure(cell)
                    for cell in cells
                    if cell.arm == arm and cell.seed == seed and cell.regime in regimes
                ]
            )
        )
        for seed in seeds
    ]


def _row(cells: Sequence[Cell], arm: str, regime: str) -> Row:
    regimes = REGIMES if regime == "mean" else (regime,)
    own = [cell for cell in cells if cell.arm == arm and cell.regime in regimes]

    def over_seeds(figure: _Figures) -> Figure:
        return mean(_by_seed(cells, arm, regimes, figure))

    def known(values: list[float]) -> float:
        there = [value for value in values if not np.isnan(value)]
        return float(np.mean(there)) if there else float("nan")

    return Row(
        arm=arm,
        regime=regime,
        safe_regret=over_seeds(_regret),
        violation=over_seeds(_violation),
        excess=over_seeds(lambda cell: cell.excess),
        utility=over_seeds(lambda cell: cell.utility),
        post_shift=known([cell.post_shift for cell in own]),
        preference_error=known([cell.preference_error for cell in own]),
        budget_error=known([cell.budget_error for cell in own]),
        gate_w=known([cell.gate_w for cell in own]),
        gate_d=known([cell.gate_d for cell in own]),
        price=known([cell.price for cell in own]),
    )


def _regret(cell: Cell) -> float:
    return cell.safe_regret


def _violation(cell: Cell) -> float:
    return 100.0 * cell.violation


def _gate_w(cell: Cell) -> float:
    return cell.gate_w


def _half(figure: Figure) -> float:
    if figure.low is None or figure.high is None:
        return float("nan")
    return (figure.high - figure.low) / 2


def _cell(regret: float, violation: float) -> str:
    """As the note prints it, without the zero before the point."""
    shown = f"{abs(regret):.3f}".removeprefix("0")
    return f"{'-' if regret < 0 else ''}{shown} ({violation:.1f})"

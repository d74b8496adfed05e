"""How rules for combining gradients fare on least squares with conflicting optima (section 5).

    table = run_study()
    Console().print(table.rich())

Five tasks share 30 parameters; each has 12 equations, an optimum of its own and a scale of its own,
and every rule takes 300 steps of the same length. The second block multiplies the losses by 10⁻³
to 10³: a rule that depends on the unit of a loss fares otherwise then. A third experiment has three
tasks that nearly agree and one against them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from policies.acceptance import Check, Record, at_least, at_most, checks_table
from policies.balanced.baselines import BASELINES, equal_projection_weights
from policies.balanced.curvature import Mode
from policies.balanced.direction import STALLED, Balancer, BalanceSettings
from policies.balanced.solver import Balance, balance

if TYPE_CHECKING:
    from rich.console import RenderableType

Array = NDArray[np.float64]

TASKS, PARAMETERS, EQUATIONS = 5, 30, 12
STEPS, LENGTH = 300, 0.05
SCALES: Final = {
    "equal": np.ones(TASKS),
    "skewed": 10.0 ** np.array([-3.0, -1.5, 0.0, 1.5, 3.0]),
}
OURS: Final[dict[str, Mode]] = {
    "balanced, common": "common",
    "balanced, normalized": "normalized",
    "balanced, secant": "secant",
}
NOTED: Final = {
    "mean gradient": (1.02, 0.39, 2.04, 0.76),
    "MGDA": (0.83, 0.51, 0.94, 0.58),
    "CAGrad .5": (1.00, 0.39, 1.47, 0.61),
    "Nash-MTL": (0.98, 0.33, 0.98, 0.33),
    "FAMO": (0.90, 0.42, 0.90, 0.42),
    "IMTL-G": (0.36, 0.27, 0.36, 0.27),
    "balanced, common": (0.47, 0.31, 1.82, 0.72),
    "balanced, normalized": (0.36, 0.27, 0.36, 0.27),
    "balanced, secant": (0.42, 0.26, 0.42, 0.26),
}
"""What the note measured on its own instances: worst and mean, equal and then skewed."""
INSTANCES: Final = 60


class Row(Record):
    """One rule: final loss over initial loss, worst and mean over tasks, mean over seeds."""

    rule: str
    equal_worst: float
    equal_mean: float
    skewed_worst: float
    skewed_mean: float
    equal_spread: float
    """Standard deviation over seeds of the worst with equal scales."""


class Opposed(Record):
    """Three tasks that nearly agree and one against them: one step."""

    draws: int
    negative: float
    """Share of draws in which IMTL-G gives a task a weight below 0."""
    imtl_rate: float
    """Mean of the worst task's rate under IMTL-G's direction with its best length."""
    balanced_rate: float
    mean_rate: float
    """The same of the mean of unit gradients."""


class Table(Record):
    """The whole study."""

    rows: tuple[Row, ...]
    opposed: Opposed
    checks: tuple[Check, ...]
    seeds: int
    cpu_seconds: float

    @property
    def passed(self) -> bool:
        """Whether all demands are met."""
        return all(check.passed for check in self.checks)

    def rich(self) -> RenderableType:
        """For a terminal."""
        from rich.console import Group
        from rich.table import Table as RichTable

        losses = RichTable(
            title=f"Final over initial loss, mean over {self.seeds} seeds (in brackets: the note)"
        )
        losses.add_column("rule")
        for head in ("worst", "mean", "skewed worst", "skewed mean", "spread"):
            losses.add_column(head, justify="right")
        for row in self.rows:
            found = (row.equal_worst, row.equal_mean, row.skewed_worst, row.skewed_mean)
            shown = (f"{a:.2f} ({b:.2f})" for a, b in zip(found, NOTED[row.rule], strict=True))
            losses.add_row(row.rule, *shown, f"{row.equal_spread:.2f}")
        opposed = RichTable(title="Three tasks that nearly agree, one against them")
        for head in ("rule", "rate of the worst-served task", "weights below 0"):
            opposed.add_column(head, justify="left" if head == "rule" else "right")
        opposed.add_row("mean of unit gradients", f"{self.opposed.mean_rate:.3f}", "0 %")
        negative = f"{100 * self.opposed.negative:.0f} %"
        opposed.add_row("IMTL-G", f"{self.opposed.imtl_rate:.3f}", negative)
        opposed.add_row("balanced, normalized", f"{self.opposed.balanced_rate:.3f}", "0 %")
        return Group(losses, opposed, checks_table(self.checks))


class Problem:
    """Five least-squares tasks.

    Args:
        seed: Of everything.
        scales: (K,), multiplies the losses.
    """

    def __init__(self, seed: int, scales: Array) -> None:
        rng = np.random.default_rng(seed)
        common = rng.normal(size=PARAMETERS)
        self.scales = scales
        self._equations: list[tuple[Array, Array]] = []
        for _ in range(TASKS):
            matrix = rng.normal(size=(EQUATIONS, PARAMETERS)) * np.exp(rng.normal())
            optimum = common + rng.normal(size=PARAMETERS)
            self._equations.append((matrix, matrix @ optimum))

    def losses(self, point: Array) -> Array:
        """(K,)."""
        errors = [matrix @ point - right for matrix, right in self._equations]
        losses: Array = self.scales * np.array([0.5 * float(e @ e) / EQUATIONS for e in errors])
        return losses

    def gradients(self, point: Array) -> Array:
        """(K, p)."""
        rows = [a.T @ (a @ point - b) / EQUATIONS for a, b in self._equations]
        gradients: Array = self.scales[:, None] * np.array(rows)
        return gradients


def descend(rule: str, problem: Problem, steps: int = STEPS) -> Array:
    """Final over initial loss of every task, after steps of equal length (falling in the end).

    Ours stops where the rate is below `STALLED`: there no step helps all tasks, and a step of a
    fixed length would make a direction of what is little more than rounding errors. Only `common`
    goes on, whose rates are that small from the start where losses differ in unit.
    """
    names = tuple(str(k) for k in range(TASKS))
    balancer = Balancer(BalanceSettings(mode=OURS[rule], ridge=1e-10)) if rule in OURS else None
    baseline = None if balancer else BASELINES[rule]()
    point = np.zeros(PARAMETERS)
    first = problem.losses(point)
    moved: Array | None = None
    for step in range(steps):
        gradients = problem.gradients(point)
        if balancer is not None:
            found = balancer.direction(names, gradients, moved)
            if found.rate < STALLED and OURS[rule] != "common":
                break
            weights = np.array([found.weights.get(name, 0.0) for name in names])
            direction = weights @ gradients
        else:
            assert baseline is not None
            direction = baseline.direction(gradients, problem.losses(point))
        length = float(np.linalg.norm(direction))
        if length < 1e-15:
            break
        moved = -LENGTH * min(1.0, 2 * (steps - step) / steps) / length * direction
        point = point + moved
        if baseline is not None:
            baseline.after(problem.losses(point))
    ratio: Array = problem.losses(point) / first
    return ratio


def run_study(seeds: int = 4, on_rule: Callable[[str], None] | None = None) -> Table:
    """Runs everything.

    Args:
        seeds: Instances of the least-squares problem.
        on_rule: Told each rule before it runs.
    """
    began = time.process_time()
    rows = []
    for rule in NOTED:
        if on_rule is not None:
            on_rule(rule)
        found = {
            name: np.array([descend(rule, Problem(seed, scales)) for seed in range(seeds)])
            for name, scales in SCALES.items()
        }
        equal, skewed = found["equal"], found["skewed"]
        rows.append(
            Row(
                rule=rule,
                equal_worst=float(equal.max(1).mean()),
                equal_mean=float(equal.mean()),
                skewed_worst=float(skewed.max(1).mean()),
                skewed_mean=float(skewed.mean()),
                equal_spread=float(equal.max(1).std()),
            )
        )
    opposed = three_against_one()
    checks = (
        *demands_of_rules({row.rule: row for row in rows}),
        *_of_solver(),
        *_of_opposed(opposed),
    )
    return Table(
        rows=tuple(rows),
        opposed=opposed,
        checks=checks,
        seeds=seeds,
        cpu_seconds=time.process_time() - began,
    )


def three_against_one(draws: int = 50) -> Opposed:
    """Gradients of length about 1 in ten dimensions: three close together, one against them."""
    rng = np.random.default_rng(0)
    negative, rates = 0, np.zeros((draws, 3))
    for draw in range(draws):
        towards = rng.normal(size=10)
        towards /= np.linalg.norm(towards)
        rows = np.stack([towards, towards, towards, -0.5 * towards])
        rows = rows + np.array([0.05, 0.05, 0.05, 0.3])[:, None] * rng.normal(size=(4, 10))
        weights = equal_projection_weights(rows)
        negative += bool(weights.min() < 0)
        units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        rates[draw] = (
            best_rate(units, weights @ units),
            balance(rows @ rows.T, np.linalg.norm(rows, axis=1)).rate,
            best_rate(units, units.mean(axis=0)),
        )
    imtl, balanced, mean = rates.mean(axis=0)
    return Opposed(
        draws=draws,
        negative=negative / draws,
        imtl_rate=float(imtl),
        balanced_rate=float(balanced),
        mean_rate=float(mean),
    )


def best_rate(units: Array, direction: Array) -> float:
    """The worst task's rate with the best length of a direction; 0 if it makes any task worse."""
    along = float((units @ direction).min())
    return max(along, 0.0) ** 2 / float(direction @ direction)


def brute_force(products: Array, q: Array) -> float:
    """The best worst rate by minimising the dual with a general solver, from several starts."""
    count = len(q)

    def dual(shares: Array) -> float:
        return float(shares @ products @ shares / (q @ shares))

    def slope(shares: Array) -> Array:
        weight = float(q @ shares)
        along = products @ shares
        gradient: Array = 2 * along / weight - q * float(shares @ along) / weight**2
        return gradient

    starts = [np.full(count, 1 / count), *np.random.default_rng(0).dirichlet(np.ones(count), 3)]
    return min(
        float(
            minimize(
                dual,
                start,
                jac=slope,
                bounds=[(0, 1)] * count,
                constraints={"type": "eq", "fun": lambda s: s.sum() - 1},
                method="SLSQP",
                options={"maxiter": 500, "ftol": 1e-14},
            ).fun
        )
        for start in starts
    )


def instance(seed: int) -> tuple[Array, Array]:
    """Two to five random gradients and curvatures: common, or of each task."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 6))
    gradients = rng.normal(size=(count, 8)) * np.exp(rng.normal(size=(count, 1)))
    curvatures = np.full(count, 1.0) if seed % 2 else np.exp(rng.normal(size=count))
    return gradients, curvatures


def residual(found: Balance) -> float:
    """How far a solution is from the conditions of Karush, Kuhn and Tucker."""
    binding = found.rates[list(found.active)]
    return max(
        float(-found.weights.min()),
        float(np.ptp(binding)),
        float(binding.max() - found.rates.min()),
    )


def demands_of_rules(rows: dict[str, Row]) -> list[Check]:
    """What section 5 asks of the rows."""
    ours, secant = rows["balanced, normalized"], rows["balanced, secant"]
    others = [rows[name] for name in ("mean gradient", "MGDA", "CAGrad .5")]
    equal = ours.equal_worst / min(row.equal_worst for row in others)
    skewed = ours.skewed_worst / min(row.skewed_worst for row in others)
    return [
        at_most("normalized's worst over the best of mean, MGDA, CAGrad: equal", equal, 0.6),
        at_most("the same: skewed", skewed, 0.6),
        *(
            at_most(
                f"change from equal to skewed: {row.rule}",
                max(abs(row.equal_worst - row.skewed_worst), abs(row.equal_mean - row.skewed_mean)),
                1e-6,
            )
            for row in (ours, secant)
        ),
    ]


def _of_solver() -> list[Check]:
    residuals, apart, rates = [], [], []
    for seed in range(INSTANCES):
        gradients, h = instance(seed)
        inner = gradients @ gradients.T
        found = balance(inner, h)
        scale = h / np.diagonal(inner)
        residuals.append(residual(found))
        rates.append(found.rate)
        apart.append(
            abs(found.rate - brute_force(inner * np.outer(scale, scale), h**2 / np.diagonal(inner)))
        )
    return [
        at_most(
            f"residual of the optimality conditions, {INSTANCES} instances", max(residuals), 1e-6
        ),
        at_most("distance from brute force", max(apart), 1e-4),
        at_most("highest rate", max(rates), 1.0),
        at_least("lowest rate", min(rates), 0.0),
    ]


def _of_opposed(opposed: Opposed) -> list[Check]:
    return [
        at_least("three against one: share with a weight below 0 in IMTL-G", opposed.negative, 0.5),
        at_least(
            "rate of balanced less that of IMTL-G", opposed.balanced_rate - opposed.imtl_rate, 0
        ),
    ]

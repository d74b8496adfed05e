"""The tables of `hanse evaluate`: income, business, objectives and cost, firm by firm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from services.cli.comparison import Sweep, numbers
from services.cli.console import dollars, note, say, say_json, say_table
from services.cli.evaluation_names import JUDGED
from services.cli.summary import short_strategy
from services.errors import HanseError
from services.statistics import Estimate, estimate, paired

if TYPE_CHECKING:
    from policies.training.tally import Outcome
    from services.cli.judged_policies import Judged
    from services.config import RunConfig

Measures: TypeAlias = "dict[str, dict[int, Outcome]]"
"""By strategy and seed."""


@dataclass(frozen=True)
class Evaluation:
    """What was played, and what came of it."""

    judged: Judged
    config: RunConfig
    """The league, before places were taken in it."""
    source: str
    """Where it is from."""
    folder: Path
    seats: Mapping[str, RunConfig]
    """By strategy, what was played."""
    sweeps: Mapping[str, Sweep]
    """By strategy, how it ended."""

    def opponents(self) -> dict[str, str]:
        """The firms that were not judged, and what they played."""
        return {
            firm.name: firm.strategy
            for firm in self.config.firms
            if firm.name not in self.judged.folders
        }


@dataclass(frozen=True)
class FirmAccount:
    """How strategies did in the place of a firm."""

    firm: str
    incomes: dict[str, dict[int, float]]
    """By strategy and seed, dollars."""
    deeds: dict[str, dict[str, float]]
    """By strategy, figures of its business by name."""
    measures: Measures = field(default_factory=dict)
    """Where objectives or cost are asked for."""

    @property
    def differences(self) -> dict[str, Estimate]:
        """By strategy, how much more the policy earns, seed by seed."""
        return {
            strategy: difference
            for strategy, values in self.incomes.items()
            if strategy != JUDGED
            and (difference := paired(self.incomes[JUDGED], values)) is not None
        }

    @property
    def won(self) -> bool:
        """Whether the policy beats each of them: the interval above 0."""
        return all(d.excludes_zero and d.mean > 0 for d in self.differences.values())


def tell(evaluation: Evaluation, quiet: bool, as_json: bool) -> bool:
    """Prints what came of it; whether the policies beat all that was played in their places."""
    measures = _measures(evaluation, quiet)
    accounts = [_account(evaluation, firm, measures) for firm in evaluation.judged.folders]
    won = all(account.won for account in accounts)
    if as_json:
        _tell_json(evaluation, accounts, won)
        return won
    for account in accounts:
        _tell_firm(evaluation, account)
    opponents = evaluation.opponents()
    others = ", ".join(f"{firm} {short_strategy(what)}" for firm, what in opponents.items())
    say(f"league: {evaluation.source}, {evaluation.config.days} days; others: {others or 'none'}")
    say(f"runs {evaluation.folder}")
    return won


def _account(evaluation: Evaluation, firm: str, measures: dict[str, Measures]) -> FirmAccount:
    from services.cli.business import average, business
    from services.cli.consumer_sales import consumer_sales

    incomes, deeds = {}, {}
    for strategy, sweep in evaluation.sweeps.items():
        incomes[strategy] = sweep.net_income()[firm]
        runs = [sweep.folder / f"seed-{seed}" for seed in sweep.results]
        deeds[strategy] = average(business(run, firm) | consumer_sales(run, firm) for run in runs)
    return FirmAccount(firm, incomes, deeds, measures.get(firm, {}))


def _measures(evaluation: Evaluation, quiet: bool) -> dict[str, Measures]:
    """By firm; empty where profit alone was asked for, or an episode cannot play the league."""
    from policies.training.measuring import measured
    from policies.training.settings import EnvironmentConfig

    training = evaluation.judged.training
    about = training.environment
    usual = EnvironmentConfig()
    asked = (about.cost, about.budget) != (usual.cost, usual.budget) or training.lagrangian.enabled
    if len(about.objectives) == 1 and not asked:
        return {}
    if not quiet:
        note("measuring objectives and cost")
    found: dict[str, Measures] = {firm: {} for firm in evaluation.judged.folders}
    for strategy, seat in evaluation.seats.items():
        for seed in evaluation.sweeps[strategy].results:
            try:
                outcomes = measured(
                    seat.with_overrides(seed=seed), found, tuple(about.objectives), about.cost
                )
            except HanseError as error:
                note(f"objectives and cost are not measured: {error}")
                return {}
            for firm, outcome in outcomes.items():
                found[firm].setdefault(strategy, {})[seed] = outcome
    return found


def _tell_json(evaluation: Evaluation, accounts: list[FirmAccount], won: bool) -> None:
    told = [_document(evaluation, account) for account in accounts]
    document: dict[str, Any] = {"policy": str(evaluation.judged.path)}
    document |= told[0] if len(told) == 1 else {"firms": {one["firm"]: one for one in told}}
    say_json(
        {
            **document,
            "folder": str(evaluation.folder),
            "league": {
                "from": evaluation.source,
                "days": evaluation.config.days,
                "others": evaluation.opponents(),
            },
            "beats_all": won,
        }
    )


def _document(evaluation: Evaluation, account: FirmAccount) -> dict[str, Any]:
    incomes = account.incomes
    document: dict[str, Any] = {
        "firm": account.firm,
        "net_income": {
            s: {**numbers(estimate(list(v.values()))), "by_seed": v} for s, v in incomes.items()
        },
        "policy_minus": {s: numbers(d) for s, d in account.differences.items()},
        "business": account.deeds,
    }
    if account.measures:
        about = evaluation.judged.training.environment
        document["objectives"] = {
            name: {
                s: numbers(estimate([one.objectives[name] for one in v.values()]))
                for s, v in account.measures.items()
            }
            for name in about.objectives
        }
        document["cost"] = {
            "name": about.cost,
            "budget": about.budget,
            "mean": {
                s: numbers(estimate([one.cost for one in v.values()]))
                for s, v in account.measures.items()
            },
            "share_above_budget": {
                s: _share_above(v, about.budget) for s, v in account.measures.items()
            },
        }
    return document


def _share_above(outcomes: Mapping[int, Outcome], budget: float) -> float:
    return sum(one.cost > budget for one in outcomes.values()) / len(outcomes)


def _tell_firm(evaluation: Evaluation, account: FirmAccount) -> None:
    from services.cli.business import lines
    from services.cli.consumer_sales import sales_lines

    manifest = evaluation.judged.manifests[account.firm]
    differences = account.differences
    rows = []
    for strategy, values in account.incomes.items():
        mean, difference = estimate(list(values.values())), differences.get(strategy)
        cells = ["", "", ""]
        if difference is not None:
            verdict = "better" if difference.mean > 0 else "worse"
            verdict = verdict if difference.excludes_zero else ""
            cells = [dollars(difference.mean), dollars(difference.half_width), verdict]
        rows.append(
            [strategy, str(mean.count), dollars(mean.mean), dollars(mean.half_width),
             dollars(mean.low), dollars(mean.high), *cells]
        )  # fmt: skip
    say_table(
        ["strategy", ">seeds", ">net income $", ">± 95 %", ">lowest", ">highest",
         ">policy less this $", ">± 95 %", "policy is"],
        rows,
        title=f"{account.firm} by policy {manifest.name!r} (iteration {manifest.iteration}),"
        " and by others in its place",
    )  # fmt: skip
    if account.measures:
        _tell_measures(evaluation, account)
    deeds = account.deeds
    names = dict.fromkeys(name for one in deeds.values() for name in one)
    say_table(
        ["", *(f">{strategy}" for strategy in deeds)],
        [
            [name.replace("_kg ", " "), *(_amount(one.get(name)) for one in deeds.values())]
            for name in [*sales_lines(names), *lines(names)]
        ],
        title=f"{account.firm}'s business in a run, means of all seeds",
    )


def _tell_measures(evaluation: Evaluation, account: FirmAccount) -> None:
    about = evaluation.judged.training.environment
    columns = ["strategy"]
    for name, weight in about.objectives.items():
        columns += [f">{name} a day ({weight:g})", ">± 95 %"]
    columns += [f">{about.cost}", ">± 95 %", f">above {about.budget:g}"]
    rows = []
    for strategy, outcomes in account.measures.items():
        given = list(outcomes.values())
        row = [strategy]
        for name in about.objectives:
            row += _mean([one.objectives[name] for one in given])
        row += _mean([one.cost for one in given])
        rows.append([*row, f"{_share_above(outcomes, about.budget):.0%} of runs"])
    kept = "kept to in training" if evaluation.judged.training.lagrangian.enabled else "not kept to"
    say_table(
        columns,
        rows,
        title=f"{account.firm}'s objectives (weights in brackets) and mean cost;"
        f" budget {about.budget:g}, {kept}",
    )


def _mean(values: list[float]) -> list[str]:
    found = estimate(values)
    return [f"{found.mean:.3f}", "" if found.half_width is None else f"{found.half_width:.3f}"]


def _amount(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"

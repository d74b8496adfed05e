"""The finished replicas of a sweep, and the tables that are made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from services.cli.console import dollars, note, say, say_json, say_table
from services.cli.folders import replica_folders
from services.cli.summary import short_strategy
from services.errors import HanseError
from services.seeds import format_seeds
from services.statistics import Estimate, estimate, paired

if TYPE_CHECKING:
    from services.runs.result import RunResult

_SHOWN_FIRMS = 40
_ALL = "all firms"


@dataclass
class Sweep:
    """A folder of runs that differ in their seeds only."""

    folder: Path
    results: dict[int, RunResult]
    """The finished replicas by seed, in ascending order."""
    failures: dict[int, str] = field(default_factory=dict)
    skipped: list[int] = field(default_factory=list)
    """Seeds that were finished before."""
    seconds: float | None = None
    """Wall time of the replicas that were run now."""
    ray_start_seconds: float | None = None

    @classmethod
    def read(cls, folder: Path) -> Sweep:
        """The sweep in a folder; replicas that are not finished are left out with a note."""
        from services.runs import Run

        if not folder.is_dir():
            raise HanseError(
                f"{folder}: there is no such sweep; name a folder that hanse sweep made"
            )
        results: dict[int, RunResult] = {}
        unfinished = 0
        for seed, replica in replica_folders(folder).items():
            result = Run(replica).result
            if result is None:
                unfinished += 1
            else:
                results[seed] = result
        if not results:
            raise HanseError(
                f"{folder}: holds no finished replica (seed-<n>); name a finished sweep"
            )
        if unfinished:
            note(f"{folder}: {unfinished} replicas are not finished and are left out")
        return cls(folder, results)

    def net_income(self) -> dict[str, dict[int, float]]:
        """Net income by firm and seed."""
        table: dict[str, dict[int, float]] = {}
        for seed, result in self.results.items():
            for firm in result.firms:
                table.setdefault(firm.firm, {})[seed] = firm.net_income
        return table

    def total(self) -> dict[int, float]:
        """Net income of all firms together, by seed."""
        return {
            seed: round(sum(firm.net_income for firm in result.firms), 6)
            for seed, result in self.results.items()
        }


def show(this: Sweep, other: Sweep | None, *, as_json: bool) -> None:
    """Print the sweep, and how it differs from another one."""
    differences = {} if other is None else _differences(this, other)
    if as_json:
        document = _document(this)
        if other is not None:
            in_all = paired(this.total(), other.total())
            document["against"] = {
                **_document(other),
                "differences": [
                    {"firm": firm, **numbers(difference)}
                    for firm, difference in differences.items()
                ],
                "difference_of_all": None if in_all is None else numbers(in_all),
            }
        say_json(document)
        return
    _show_one(this)
    if other is not None:
        _show_one(other)
        _show_differences(this, other, differences)


def _differences(this: Sweep, other: Sweep) -> dict[str, Estimate]:
    those = other.net_income()
    found = {
        firm: difference
        for firm, values in this.net_income().items()
        if (difference := paired(values, those.get(firm, {}))) is not None
    }
    if this.results and not found:
        raise HanseError(
            f"{other.folder}: shares no seed and firm with {this.folder}; run the same --seeds"
        )
    return found


def _show_one(sweep: Sweep) -> None:
    if not sweep.results:
        return
    last = next(reversed(sweep.results.values()))
    facts = {firm.firm: firm for firm in last.firms}
    income = sweep.net_income()
    rows = [
        [
            name,
            facts[name].role if name in facts else "",
            short_strategy(facts[name].strategy) if name in facts else "",
            *_cells(estimate(list(values.values()))),
        ]
        for name, values in list(income.items())[:_SHOWN_FIRMS]
    ]
    rows.append([_ALL, "", "", *_cells(estimate(list(sweep.total().values())))])
    say_table(
        ["firm", "role", "strategy", ">seeds", ">net income $", ">± 95 %", ">lowest", ">highest"],
        rows,
    )
    if len(income) > _SHOWN_FIRMS:
        say(f"{len(income) - _SHOWN_FIRMS} more firms: --json")
    timing = "" if sweep.seconds is None else f", {sweep.seconds:.1f} s"
    if sweep.ray_start_seconds is not None:
        timing += f" and {sweep.ray_start_seconds:.1f} s for Ray to start"
    kept = f", {len(sweep.skipped)} finished before" if sweep.skipped else ""
    say(f"sweep {sweep.folder}: seeds {format_seeds(list(sweep.results))}{kept}{timing}")


def _cells(numbers: Estimate) -> list[str]:
    return [
        str(numbers.count),
        dollars(numbers.mean),
        dollars(numbers.half_width),
        dollars(numbers.low),
        dollars(numbers.high),
    ]


def _show_differences(this: Sweep, other: Sweep, differences: dict[str, Estimate]) -> None:
    say()
    shown = list(differences.items())[:_SHOWN_FIRMS]
    in_all = paired(this.total(), other.total())
    if in_all is not None:
        shown.append((_ALL, in_all))
    say_table(
        ["firm", ">pairs", ">difference $", ">± 95 %", ">lowest", ">highest", ""],
        [
            [firm, *_cells(difference), "differs" if difference.excludes_zero else ""]
            for firm, difference in shown
        ],
        title=f"{this.folder} minus {other.folder}, net income of equal seeds",
    )


def _document(sweep: Sweep) -> dict[str, Any]:
    return {
        "sweep": str(sweep.folder),
        "seeds": list(sweep.results),
        "skipped": sweep.skipped,
        "failures": {str(seed): message for seed, message in sweep.failures.items()},
        "seconds": sweep.seconds,
        "ray_start_seconds": sweep.ray_start_seconds,
        "log_sha256": {str(seed): result.log_sha256 for seed, result in sweep.results.items()},
        "firms": [
            {
                "firm": name,
                **numbers(estimate(list(values.values()))),
                "net_income": {str(seed): value for seed, value in values.items()},
            }
            for name, values in sweep.net_income().items()
        ],
        "all": {
            **numbers(estimate(list(total.values()))),
            "net_income": {str(seed): value for seed, value in total.items()},
        }
        if (total := sweep.total())
        else None,
    }


def numbers(found: Estimate) -> dict[str, Any]:
    """An estimate for JSON."""
    return {
        "count": found.count,
        "mean": found.mean,
        "half_width": found.half_width,
        "lowest": found.low,
        "highest": found.high,
    }

"""`hanse evaluate` of a router's policy: what buyers in other towns save and get, rule by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from services.cli.comparison import numbers
from services.cli.console import note, say, say_json, say_table
from services.cli.evaluation_names import JUDGED, named
from services.config import ROUTER_RULES
from services.errors import HanseError
from services.statistics import Estimate, estimate, paired
from services.strategy_lines import POLICY

if TYPE_CHECKING:
    from services.cli.judged_policies import Judged
    from services.config import RunConfig

MEASURES: Final = {
    "surplus": "surplus $",
    "filled": "filled %",
    "empty_handed": "got nothing %",
    "net_income": "all firms' income $",
}
"""What is measured, and how a column is headed."""
Measured = dict[str, dict[str, dict[int, float]]]
"""By who decides, measure and seed."""


def evaluate_router(
    found: Judged,
    league: tuple[RunConfig, str],
    seeds: list[int],
    against: str | None,
    quiet: bool,
    as_json: bool,
) -> bool:
    """Plays the league with the policy and with each rule in its place, and shows the table.

    Args:
        found: The policy.
        league: What is played, and where it is from.
        seeds: Of the leagues.
        against: Rules, separated by commas; ``None``: all.
        quiet: Whether nothing is said while it works.
        as_json: Whether it is told as one JSON document.

    Returns:
        Whether buyers save more by the policy than by each rule: intervals above 0.

    Raises:
        HanseError: there is no such rule or router, or the policy does not fit the league.
    """
    config, source = league
    (router,) = found.folders
    rules = _rules(against)
    measured: Measured = {}
    for decider in (JUDGED, *rules):
        if not quiet:
            note(f"{decider}: {len(seeds)} leagues")
        policy = f"{POLICY}{found.folders[router].absolute().as_posix()}"
        told = {"policy": policy} if decider == JUDGED else {"rule": decider}
        measured[decider] = _played(_routed(config, router, told), router, seeds)
    differences = {
        rule: difference
        for rule in rules
        if (difference := paired(measured[JUDGED]["surplus"], measured[rule]["surplus"]))
    }
    won = all(one.excludes_zero and one.mean > 0 for one in differences.values())
    if as_json:
        say_json(_document(found, router, source, measured, differences, won))
        return won
    _tell(found, router, measured, differences)
    say(f"league: {source}")
    return won


def _rules(against: str | None) -> tuple[str, ...]:
    if against is None:
        return ROUTER_RULES
    given = named(against)
    for rule in given:
        if rule not in ROUTER_RULES:
            raise HanseError(
                f"--against: there is no rule {rule!r} for routers; allowed:"
                f" {', '.join(ROUTER_RULES)}"
            )
    if not given:
        raise HanseError(f"--against: names no rule; allowed: {', '.join(ROUTER_RULES)}")
    return tuple(given)


def _routed(config: RunConfig, router: str, told: dict[str, Any]) -> RunConfig:
    """The same league, in which the router decides as told."""
    from actors.cast import Cast
    from policies.environments.routing_episode import routable
    from services.config import RunConfig

    routable(config, router)
    values = config.dump()
    partners = [one["options"] for one in values["routers"] if one["name"] == router]
    kept = {"options": partners[0]} if told.get("rule") == "direct" and partners else {}
    values["routers"] = [{"name": router, **told, **kept}]
    routed = RunConfig.parse(values, "evaluate")
    Cast(routed, "evaluate").check()
    return routed


def _played(config: RunConfig, router: str, seeds: list[int]) -> dict[str, dict[int, float]]:
    from policies.environments.routing_episode import RoutingEpisode

    found: dict[str, dict[int, float]] = {name: {} for name in MEASURES}
    for seed in seeds:
        episode = RoutingEpisode(config.with_overrides(seed=seed), router)
        episode.proceed()
        trade = episode.trade
        if not trade.orders:
            raise HanseError(
                f"evaluate: nobody orders anything abroad in this league (seed {seed}); give a"
                " roaster the strategy importing"
            )
        found["surplus"][seed] = trade.surplus
        found["filled"][seed] = 100 * trade.filled_kg / trade.asked_kg
        found["empty_handed"][seed] = 100 * trade.empty_handed / trade.orders
        found["net_income"][seed] = episode.net_income()
    return found


def _tell(found: Judged, router: str, measured: Measured, differences: dict[str, Estimate]) -> None:
    manifest = found.manifests[router]
    say_table(
        ["by", ">seeds", *(cell for head in MEASURES.values() for cell in (f">{head}", ">± 95 %"))],
        [
            [decider, str(len(values["surplus"])), *_means(values)]
            for decider, values in measured.items()
        ],
        title=f"{router} by policy {manifest.name!r} (iteration {manifest.iteration}), and by rules"
        " in its place",
    )
    say_table(
        ["than by", ">more surplus $", ">± 95 %", "the policy is"],
        [
            [rule, *_mean(one), _verdict(one) if one.excludes_zero else ""]
            for rule, one in differences.items()
        ],
        title="what buyers save more by the policy, seed by seed",
    )
    note("surplus: what buyers paid less than they would have; freight apart")


def _verdict(difference: Estimate) -> str:
    return "better" if difference.mean > 0 else "worse"


def _means(values: dict[str, dict[int, float]]) -> list[str]:
    return [cell for name in MEASURES for cell in _mean(estimate(list(values[name].values())))]


def _mean(found: Estimate) -> list[str]:
    digits = 0 if abs(found.mean) >= 1_000 else 1
    half = "" if found.half_width is None else f"{found.half_width:,.{digits}f}"
    return [f"{found.mean:,.{digits}f}", half]


def _document(
    found: Judged,
    router: str,
    source: str,
    measured: Measured,
    differences: dict[str, Estimate],
    won: bool,
) -> dict[str, Any]:
    return {
        "policy": str(found.path),
        "router": router,
        "league": {"from": source},
        "measured": {
            decider: {
                name: {**numbers(estimate(list(by_seed.values()))), "by_seed": by_seed}
                for name, by_seed in values.items()
            }
            for decider, values in measured.items()
        },
        "policy_minus": {rule: numbers(one) for rule, one in differences.items()},
        "beats_all": won,
    }

"""What a run came to: the result, gathered from the agents' summaries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from actors.cast import Cast
from services.runs import DayMark, Mark
from services.runs.result import FirmResult, RunResult


def gather_result(
    cast: Cast, mark: Mark | DayMark, summaries: Iterable[dict[str, Any]], **about: Any
) -> RunResult:
    """Draws up the result.

    Args:
        cast: Who played.
        mark: The last whole day with its digests.
        summaries: What every agent says of itself; exchanges speak for their firms.
        **about: The result's other fields: run, placement, hosts, seconds, counters.
    """
    firms: list[FirmResult] = []
    actions = 0
    for summary in summaries:
        actions += summary.get("actions", 0)
        firms += [_firm(cast, row) for row in summary.get("firms", ())]
    order = {firm.name: place for place, firm in enumerate(cast.firms)}
    config = cast.config
    return RunResult(
        name=config.name,
        seed=config.seed,
        days=mark.day + 1,
        rules=config.rules,
        log_sha256=mark.log_sha256,
        ledger_sha256=mark.ledger_sha256,
        messages=mark.messages,
        actions=actions,
        firms=sorted(firms, key=lambda firm: order[firm.firm]),
        **about,
    )


def _firm(cast: Cast, row: dict[str, Any]) -> FirmResult:
    statement = row["statement"]
    return FirmResult(
        firm=row["firm"],
        town=row["town"],
        role=row["role"],
        strategy=cast.strategy_name(row["firm"]),
        net_income=statement["net_income"],
        revenue=round(statement["revenue_net"], 2),
        cash=round(statement["cash"], 2),
        stock_kg=row["stock_kg"],
        messages_sent=row["messages_sent"],
        deals=row["deals"],
        bankrupt_day=row["bankrupt_day"],
    )

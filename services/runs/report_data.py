"""What the report of a run says, as plain data: read from the store, nothing estimated.

Means, sums and counts are taken over stored rows; a figure that the store lacks is ``None``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from services.economy.setup import TownSetup
from services.runs import Mark, Run
from services.runs.bodies import body_of
from services.runs.report_events import collect_events
from services.runs.report_ledger import collect_ledger
from services.runs.report_messages import collect_messages
from services.runs.report_rerun import to_toml
from services.runs.report_scope import ROLES, Scope, plural

MEASURES: Final = {
    "net_income": "money",
    "cash": "money",
    "equity": "money",
    "revenue": "money",
    "inventory_value": "money",
    "in_flight_value": "money",
    "accounts_receivable": "money",
    "accounts_payable": "money",
    "pending_inbound_kg": "kg",
    "open_listings": "count",
    "messages_sent": "count",
    "deals": "count",
}
"""What is drawn as one curve for each firm, and its unit."""


def collect(run: Run, folder: Path) -> dict[str, Any]:
    """Everything the page of a run shows, ready to be written as JSON.

    A run that is being written grows meanwhile: the page keeps to the days that are whole now.
    """
    marks = run.marks()
    mark = marks[-1] if marks else None
    days = mark.day + 1 if mark else 0
    result = run.result
    finished = result.model_dump(mode="json") if result else {}
    manifest = run.manifest.model_dump(mode="json")
    last = {
        agent: body
        for _, agent, text in run.rows("metrics", "day = ?", (days - 1,))
        if (body := figures_of(text)) is not None
    }
    firms = finished["firms"] if finished else unfinished_firms(run, manifest, last)
    scope = Scope(firms, days, run.count("ledger", days=range(days)))
    events = collect_events(run, scope)
    shown = set(scope.shown)
    page = {
        "run": header(run, folder, manifest, mark, finished),
        "notes": scope.notes,
        "aggregated": scope.aggregated,
        "last_day": days - 1,
        "step": scope.step,
        "roles": scope.roles,
        "firms": [f for f in firms if f["firm"] in shown],
        "firm_count": len(firms),
        "role_summary": role_summary(firms, scope),
        "curves_differ": curves_differ(finished, last),
        **curves(run, scope, events.pop("deal_prices")),
        **events,
        "messages": collect_messages(run, scope),
        "ledger": collect_ledger(run, scope),
    }
    if scope.unreadable:
        scope.notes.append(
            f"The run's database is damaged: {scope.unreadable:,} of its events, letters and "
            "figures cannot be read and are left out."
        )
    return page


def figures_of(text: str | bytes) -> dict[str, Any] | None:
    """The body of a metric row; ``None`` if it is none, or its figures are no numbers."""
    body = body_of(text)
    if body is None or not isinstance(body.get("role"), str):
        return None
    figures = [body.get(measure) for measure in MEASURES]
    for table in ("stock", "asking_prices", "retail_prices"):
        prices = body.get(table) or {}
        if not isinstance(prices, dict):
            return None
        figures += prices.values()
    return body if all(isinstance(x, int | float | None) for x in figures) else None


def header(
    run: Run,
    folder: Path,
    manifest: Mapping[str, Any],
    mark: Mark | None,
    finished: Mapping[str, Any],
) -> dict[str, Any]:
    """Name, seed, state, versions, digests, and how to run it again."""
    days = mark.day + 1 if mark else 0
    config = manifest["config"]
    return {
        **{key: value for key, value in manifest.items() if key != "config"},
        "folder": folder.resolve().name,
        "state": run.state,
        "log_sha256": mark.log_sha256 if mark else None,
        "ledger_sha256": mark.ledger_sha256 if mark else None,
        "seconds": finished.get("seconds"),
        "counters": finished.get("counters", {}),
        "counts": {
            name: run.count(name, days=range(days)) for name in ("messages", "events", "ledger")
        },
        "festival_days": festival(config.get("economy") or {}),
        "festival_factor": festival_factor(config.get("economy") or {}),
        "run_file": to_toml(config),
    }


def festival(economy: Mapping[str, Any]) -> list[int] | None:
    """First and last day of the festival: the configured ones, or else the rules' own."""
    if festival_factor(economy) == 1:
        return None
    return list(economy.get("festival_days") or TownSetup.festival_days)


def festival_factor(economy: Mapping[str, Any]) -> float:
    """How many times as much consumers want meanwhile."""
    factor = economy.get("festival_factor")
    return TownSetup.festival_factor if factor is None else float(factor)


def unfinished_firms(
    run: Run, manifest: Mapping[str, Any], last: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Where every firm stands on the last whole day, in the order in which the run names firms."""
    configured = {firm["name"]: firm for firm in manifest["config"].get("firms") or ()}
    order = {name: place for place, name in enumerate(configured)}
    busts: dict[str, int] = {}
    for *_, text in run.rows("events", "kind = ?", ("bankruptcy",)):
        event = body_of(text) or {}
        busts[str(event.get("firm"))] = event.get("day", 0)
    return [
        {
            "firm": name,
            "town": configured.get(name, {}).get("town"),
            "role": body["role"],
            "strategy": body.get("strategy"),
            "net_income": body.get("net_income"),
            "revenue": body.get("revenue"),
            "cash": body.get("cash"),
            "stock_kg": sum((body.get("stock") or {}).values()),
            "messages_sent": None,  # the metrics count a day's; the total is in the result
            "deals": body.get("deals"),
            "bankrupt_day": busts.get(name),
        }
        for name, body in sorted(
            last.items(),
            key=lambda entry: (
                order.get(entry[0], len(order)),
                ROLES.index(entry[1]["role"]) if entry[1]["role"] in ROLES else len(ROLES),
            ),
        )
    ]


def curves_differ(finished: Mapping[str, Any], last: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a final delivery pass moved a firm's net income after the last evening's figures."""
    return any(
        abs(firm["net_income"] - last[firm["firm"]]["net_income"]) >= 0.005
        for firm in finished.get("firms", ())
        if last.get(firm["firm"], {}).get("net_income") is not None
    )


def quantile(values: list[float], share: float) -> float:
    """The value below which ``share`` of the sorted ``values`` lie (linear interpolation)."""
    place = (len(values) - 1) * share
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def role_summary(firms: Iterable[Mapping[str, Any]], scope: Scope) -> list[dict[str, Any]]:
    """For each role of a large league: how many firms, and how their net income is spread."""
    if not scope.aggregated:
        return []
    summary = []
    for role in scope.roles:
        members = [f for f in firms if f["role"] == role]
        incomes = sorted(f["net_income"] for f in members if f["net_income"] is not None)
        row: dict[str, Any] = {
            "role": plural(role),
            "firms": len(members),
            "bankrupt": sum(f["bankrupt_day"] is not None for f in members),
        }
        if incomes:
            row |= {
                "mean": _rounded(sum(incomes) / len(incomes)),
                "lowest": _rounded(incomes[0]),
                "tenth": _rounded(quantile(incomes, 0.1)),
                "median": _rounded(quantile(incomes, 0.5)),
                "ninetieth": _rounded(quantile(incomes, 0.9)),
                "highest": _rounded(incomes[-1]),
            }
        summary.append(row)
    return summary


def curves(
    run: Run, scope: Scope, deal_prices: Mapping[tuple[str, int], tuple[float, float]]
) -> dict[str, Any]:
    """One value a day: the books of every line, its stock, and the prices of every item.

    A line is a firm or, in a large league, also the mean of a role; means come first.
    """
    days = scope.sample_days()
    place = {day: index for index, day in enumerate(days)}
    lines = _lines(scope)
    index = {line["firm"]: i for i, line in enumerate(lines) if "firm" in line}
    means = {line["role"]: i for i, line in enumerate(lines) if "firm" not in line}

    series = {measure: [_empty(days) for _ in lines] for measure in MEASURES}
    stock: dict[str, list[list[Any]]] = defaultdict(lambda: [_empty(days) for _ in lines])
    asks: dict[str, list[Any]] = defaultdict(lambda: _empty(days))
    retail: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(lambda: _empty(days)))
    sums: dict[tuple[Any, ...], list[float]] = defaultdict(lambda: [0.0, 0])
    items: dict[str, None] = {}

    for day, agent, text in run.rows("metrics", "day < ?", (scope.days,)):
        at = place.get(day)
        if at is None:
            continue
        body = figures_of(text)
        if body is None:
            scope.unreadable += 1
            continue
        line, mean = index.get(agent), means.get(body["role"])
        for measure in MEASURES:
            value = body.get(measure)
            if value is None:
                continue
            if line is not None:
                series[measure][line][at] = _rounded(value)
            if mean is not None:
                _add(sums[measure, mean, at], value)
        for item, kg in (body.get("stock") or {}).items():
            items.setdefault(item)
            if line is not None:
                stock[item][line][at] = kg
            if mean is not None:
                _add(sums["stock", item, mean, at], kg)
        for item, price in (body.get("asking_prices") or {}).items():
            items.setdefault(item)
            if price is not None and (asks[item][at] is None or price < asks[item][at]):
                asks[item][at] = price
        for item, price in (body.get("retail_prices") or {}).items():
            if price is None or body.get("bankrupt"):
                continue
            if not scope.aggregated:
                retail[item][agent][at] = price
                continue
            _add(sums["retail", item, at], price)
            for name, better in (("lowest", min), ("highest", max)):
                known = retail[item][name][at]
                retail[item][name][at] = price if known is None else better(known, price)

    for key, (total, count) in sums.items():
        value = _rounded(total / count)
        if key[0] == "stock":
            stock[key[1]][key[2]][key[3]] = value
        elif key[0] == "retail":
            retail[key[1]]["mean"][key[2]] = value
        else:
            series[key[0]][key[1]][key[2]] = value

    traded = dict.fromkeys(item for item, _ in deal_prices)
    prices = {
        item: {
            "ask": asks[item],
            "deal": [_mean(deal_prices.get((item, scope.bucket(day)))) for day in days],
            "deal_kg": [deal_prices.get((item, scope.bucket(day)), (0, 0))[1] for day in days],
            "retail": retail[item],
        }
        for item in (*items, *(t for t in traded if t not in items))
    }
    return {
        "days": days,
        "lines": lines,
        "measures": MEASURES,
        "series": series,
        "items": list(prices),
        "stock": stock,
        "prices": prices,
    }


def _lines(scope: Scope) -> list[dict[str, str]]:
    means = [{"label": f"mean of {plural(role)}", "role": role} for role in scope.roles]
    firms = [{"label": f, "role": scope.role(f) or "", "firm": f} for f in scope.shown]
    return [*means, *firms] if scope.aggregated else firms


def _empty(days: list[int]) -> list[Any]:
    return [None] * len(days)


def _add(total: list[float], value: float) -> None:
    total[0] += value
    total[1] += 1


def _mean(pair: tuple[float, float] | None) -> float | None:
    return None if pair is None else round(pair[0] / pair[1], 4)


def _rounded(value: float) -> float:
    return round(value, 2)

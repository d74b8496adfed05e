"""What happened in a run: trade, commands, and the events worth reading one by one."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final

from services.runs import Run
from services.runs.bodies import body_of
from services.runs.report_scope import CONSUMERS, Scope
from services.runs.troubles import told

MOST_OF_A_KIND: Final = 1_000
"""Events of one kind that the page lists; the rest are counted."""

UNUSED: Final = frozenset({"invoice", "payment", "day_end"})
"""Kinds that the ledger or the calendar says already."""


class Incidents:
    """The events that a reader wants to see one by one, as sentences, with a cap for each kind."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._rows: list[tuple[int, str, str, str]] = []
        self._failed: dict[tuple[int, str], int | None] = {}

    def add(self, minute: int, kind: str, subject: str, body: Mapping[str, Any]) -> None:
        """Notes one event; the first thousand of a kind are kept with their text.

        A turn that was missed because of an error is told in the error's row.
        """
        if kind == "turn_missed" and body.get("reason") in ("error", "rubbish"):
            key = minute, str(body.get("agent") or subject)
            if key in self._failed:
                place = self._failed.pop(key)
                if place is not None:
                    *head, text = self._rows[place]
                    self._rows[place] = (*head, f"{text}; it missed the turn")  # type: ignore[assignment]
                return
        self._counts[kind] += 1
        if self._counts[kind] <= MOST_OF_A_KIND:
            tell = SENTENCES.get(kind, _anything)
            try:
                text = tell(subject, body)
            except (KeyError, TypeError, ValueError, AttributeError):
                # A body of an unexpected shape must not cost the reader the whole page.
                text = _anything(subject, body)
            self._rows.append((minute, kind, subject, text))
        if kind == "agent_error":
            kept = self._counts[kind] <= MOST_OF_A_KIND
            agent = str(body.get("agent") or subject)
            self._failed[minute, agent] = len(self._rows) - 1 if kept else None

    def data(self) -> dict[str, Any]:
        """Counts by kind, and the rows in the order of the run."""
        return {"counts": dict(self._counts), "rows": self._rows, "most": MOST_OF_A_KIND}


def _goods(body: Mapping[str, Any]) -> str:
    item = str(body["item"]).removesuffix("_kg").replace("_", " ")
    return f"{body['qty']:,} kg of {item}"


def _dollars(value: float) -> str:
    return f"{'−' if value < 0 else ''}${abs(value):,.2f}"


def _shipment(fate: str) -> Callable[[str, Mapping[str, Any]], str]:
    def tell(subject: str, body: Mapping[str, Any]) -> str:
        return f"{_goods(body)} from {body['seller']} to {body['buyer']} {fate} ({body['deal']})"

    return tell


def _missed(subject: str, body: Mapping[str, Any]) -> str:
    reasons = {
        "timeout": "it did not answer in time",
        "error": "it failed",
        "rubbish": "its answer was no command",
        "suspended": "it is suspended",
    }
    reason = str(body.get("reason", ""))
    text = reasons.get(reason, reason)
    if body.get("detail") and reason in ("timeout", "suspended"):
        text = str(body["detail"])
    return f"{body.get('agent') or subject} missed a turn: {text}"


def _refused(subject: str, body: Mapping[str, Any]) -> str:
    return f"{subject}: {body['tool']} was refused: {body.get('error_code') or 'no reason given'}"


def _anything(subject: str, body: Mapping[str, Any]) -> str:
    details = ", ".join(
        f"{key} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for key, value in body.items()
    )
    return f"{subject}: {details}" if subject else details


SENTENCES: Final[dict[str, Callable[[str, Mapping[str, Any]], str]]] = {
    "lost": _shipment("was lost"),
    "delayed": _shipment("is a day late"),
    "bankruptcy": lambda subject, body: (
        f"{body['firm']} is bankrupt; its equity is {_dollars(body['equity'])}"
    ),
    "agent_error": lambda subject, body: f"{body.get('agent') or subject} failed: {told(body)}",
    "turn_missed": _missed,
    "mail_refused": lambda subject, body: (
        f"the mailbox of {subject or body.get('agent')} was full: {body['count']:,} refused"
    ),
    "refused": _refused,
    "return": lambda subject, body: (
        f"{subject} sent back {_goods(body)} of {body['deal']} for {_dollars(body['credit'])}"
        f"{': ' + body['reason'] if body.get('reason') else ''}"
    ),
    "spoilage": lambda subject, body: (
        f"{_goods(body)} worth {_dollars(body['value'])} spoiled at {body['firm']}"
    ),
}


class Trade:
    """Who sold what to whom: deals and consumers' purchases, added up by day, pair and item."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._flows: dict[tuple[int, str, str, str], list[float]] = defaultdict(lambda: [0, 0.0, 0])
        self._roles: dict[str, str] = {}
        self._prices: dict[tuple[str, int], list[float]] = defaultdict(lambda: [0.0, 0])
        self._outcomes: Counter[str] = Counter()
        self._exports: list[tuple[tuple[str, str], str, Mapping[str, Any]]] = []
        self._importers: dict[tuple[str, str], str] = {}

    def deal(self, body: Mapping[str, Any]) -> None:
        """A deal was struck; it counts on the day of acceptance."""
        kg, money = body["qty"], body["total_price"]
        self._flow(body["day"], body["seller"], body["buyer"], body["item"], kg, money)
        price = self._prices[body["item"], self._scope.bucket(body["day"])]
        price[0] += money
        price[1] += kg

    def between_towns(self, agent: str, firm: str, body: Mapping[str, Any]) -> None:
        """An order to another town was filled; seller and buyer are told of in their own town.

        What joins them is the buyer's town and the number that the order has there. It counts
        at the price of the goods, without freight.
        """
        if body["direction"] == "export":
            self._exports.append(((body["town"], body["order"]), firm, body))
        else:
            self._importers[agent.removeprefix("exchange_"), body["order"]] = firm

    def join_towns(self) -> None:
        """Books the orders between towns once all of them are known."""
        for key, seller, body in self._exports:
            # An order whose goods are not booked yet where they go is the town's.
            buyer = self._importers.get(key, key[0])
            try:
                self.deal({**body, "seller": seller, "buyer": buyer, "total_price": body["amount"]})
            except (KeyError, TypeError):
                self._scope.unreadable += 1

    def consumer_sale(self, body: Mapping[str, Any]) -> None:
        """Consumers bought from a shop."""
        if body["qty"]:
            self._flow(
                body["day"], body["shop"], CONSUMERS, body["item"], body["qty"], body["revenue"]
            )

    def delivery(self, outcome: str) -> None:
        """A shipment arrived, was delayed or was lost."""
        self._outcomes[outcome] += 1

    def _flow(self, day: int, seller: str, buyer: str, item: str, kg: int, money: float) -> None:
        names = []
        for agent in (seller, buyer):
            name = self._scope.node(agent)
            self._roles.setdefault(name, self._scope.node_role(agent))
            names.append(name)
        flow = self._flows[self._scope.bucket(day), names[0], names[1], item]
        flow[0] += kg
        flow[1] += money
        flow[2] += 1

    def prices(self) -> dict[tuple[str, int], tuple[float, float]]:
        """Money and kilograms of the deals by item and day."""
        return {key: (money, kg) for key, (money, kg) in self._prices.items()}

    def data(self) -> dict[str, Any]:
        """Nodes, items and flow rows ``[day, from, to, item, kg, dollars, number]`` by index."""
        known = self._scope.groups()
        names = [n for n in known if n in self._roles]
        names += [n for n in self._roles if n not in known and n != CONSUMERS]
        names += [CONSUMERS] if CONSUMERS in self._roles else []
        items = list(dict.fromkeys(item for *_, item in self._flows))
        node = {name: i for i, name in enumerate(names)}
        goods = {item: i for i, item in enumerate(items)}
        return {
            "nodes": [{"name": name, "role": self._roles[name]} for name in names],
            "items": items,
            "rows": [
                [day, node[seller], node[buyer], goods[item], kg, round(money, 6), number]
                for (day, seller, buyer, item), (kg, money, number) in sorted(self._flows.items())
            ],
            "outcomes": dict(self._outcomes),
        }


def collect_events(run: Run, scope: Scope) -> dict[str, Any]:
    """One pass over the events: ``trade``, ``deal_prices``, ``commands`` and ``incidents``."""
    trade, incidents = Trade(scope), Incidents()
    commands: Counter[tuple[str, str, bool]] = Counter()
    for minute, _, agent, _, _, kind, subject, text in run.rows("events", days=range(scope.days)):
        if kind in UNUSED:
            continue
        body = body_of(text)
        try:
            if body is None:
                scope.unreadable += 1
            elif kind == "action":
                refused = body["status"] == "error"
                commands[scope.node(subject), str(body["tool"]), refused] += 1
                if refused:
                    incidents.add(minute, "refused", subject, body)
            elif kind == "deal":
                trade.deal(body)
            elif kind == "consumer_sale":
                trade.consumer_sale(body)
            elif kind == "trade":
                trade.between_towns(agent, subject, body)
            elif kind == "delivery":
                trade.delivery(body["outcome"])
                if body["outcome"] in ("lost", "delayed"):
                    incidents.add(minute, body["outcome"], body["seller"], body)
            else:
                incidents.add(minute, kind, subject, body)
        except (KeyError, TypeError):  # the figures that its kind has are not in it
            scope.unreadable += 1
    trade.join_towns()
    return {
        "trade": trade.data(),
        "deal_prices": trade.prices(),
        "commands": [[*key, count] for key, count in sorted(commands.items())],
        "incidents": incidents.data(),
    }

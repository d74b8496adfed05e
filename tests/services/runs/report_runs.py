"""Runs for the tests of the report: a small one with figures to check by hand, and large ones."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from services.config import RunConfig
from services.runs import FirmResult, Manifest, RunResult, RunStore

HOSTILE = (
    "</script><script>document.title='taken'</script><img src=x onerror=alert(1)><!-- & \u2028"
)
"""What an agent might write to break out of the page."""

FIRMS = {"farmer_A": "farmer", "roaster_A": "roaster", "retailer_A": "retailer"}
NET_INCOME = {
    "farmer_A": [-25.0, 10.5, 60.25],
    "roaster_A": [-30.0, -60.5, -1012.34],
    "retailer_A": [100.0, 250.0, 1234.5],
}
CASH = {
    "farmer_A": [15000.0, 15040.0, 15090.0],
    "roaster_A": [14000.0, 500.0, -12.5],
    "retailer_A": [15100.0, 15250.0, 16234.5],
}
STOCK = {
    "farmer_A": [{"green_coffee_kg": 60}, {"green_coffee_kg": 20}, {"green_coffee_kg": 30}],
    "roaster_A": [{"roasted_coffee_kg": 30}, {"roasted_coffee_kg": 22}, {"roasted_coffee_kg": 4}],
    "retailer_A": [{"roasted_coffee_kg": 25}, {"roasted_coffee_kg": 25}, {"roasted_coffee_kg": 20}],
}
ASKS = {
    "farmer_A": {"green_coffee_kg": 4.0},
    "roaster_A": {"green_coffee_kg": 3.9, "roasted_coffee_kg": 9.8},
    "retailer_A": {"roasted_coffee_kg": None},
}


class Recorder:
    """Numbers rows as their agents would, and gathers those of a day."""

    def __init__(self) -> None:
        self._numbers: Counter[tuple[str, str]] = Counter()
        self.clear()

    def clear(self) -> None:
        self.rows: dict[str, list[tuple[Any, ...]]] = {
            "messages": [],
            "events": [],
            "ledger": [],
            "metrics": [],
        }

    def _next(self, table: str, agent: str) -> int:
        self._numbers[table, agent] += 1
        return self._numbers[table, agent]

    def message(
        self, minute: int, sender: str, recipient: str, channel: str, kind: str, **body: Any
    ) -> None:
        number = self._next("messages", sender)
        self.rows["messages"].append(
            (
                minute,
                0,
                sender,
                number,
                recipient,
                channel,
                kind,
                None,
                None,
                None,
                json.dumps(body),
            )
        )

    def event(
        self, minute: int, kind: str, subject: str, agent: str = "exchange", **body: Any
    ) -> None:
        ordinal = self._next("events", agent)
        self.rows["events"].append(
            (minute, 0, agent, ordinal, None, kind, subject, json.dumps(body))
        )

    def entry(
        self, minute: int, firm: str, debit: str, credit: str, micros: int, reference: str = ""
    ) -> None:
        ordinal = self._next("ledger", "exchange")
        self.rows["ledger"].append(
            (minute, 0, "exchange", ordinal, firm, debit, credit, micros, reference)
        )

    def metric(self, day: int, firm: str, **body: Any) -> None:
        self.rows["metrics"].append((day, firm, json.dumps(body)))

    def end_day(self, store: RunStore, day: int) -> None:
        store.append(**self.rows)
        store.end_day(day, b"state")
        self.clear()


def config(**values: Any) -> RunConfig:
    firms = [{"name": name, "role": role} for name, role in FIRMS.items()]
    return RunConfig.parse(
        {"name": "small", "seed": 7, "days": 3, "firms": firms, **values}, "test"
    )


def manifest(run: RunConfig) -> Manifest:
    return Manifest.describe(
        run.dump(),
        name=run.name,
        seed=run.seed,
        days=run.days,
        rules=run.rules,
        placement="inline",
        hosts=1,
    )


def result(
    folder: Path, run: RunConfig, firms: Mapping[str, tuple[str, str, float]], **values: Any
) -> RunResult:
    """A result; ``firms`` maps a name to its role, town and net income."""
    return RunResult(
        run=str(folder),
        name=run.name,
        seed=run.seed,
        days=run.days,
        rules=run.rules,
        placement="inline",
        hosts=1,
        log_sha256="unused",
        ledger_sha256="unused",
        messages=0,
        actions=0,
        seconds=1.25,
        counters={"agent_errors": 1, "turns_missed": 1, "mail_refused": 12, "host_restarts": 0},
        firms=[
            FirmResult(
                firm=name,
                town=town,
                role=role,
                strategy="scripted",
                net_income=net_income,
                revenue=40.0,
                cash=1.5,
                stock_kg=30,
                messages_sent=2,
                deals=3,
                **values.get(name, {}),
            )
            for name, (role, town, net_income) in firms.items()
        ],
    )


def small_run(folder: Path, *, finished: bool = True, talk: str = HOSTILE, **values: Any) -> Path:
    """Three firms, three days; of an unfinished one the first two days."""
    run = config(**values)
    days = 3 if finished else 2
    record = Recorder()
    with RunStore.create(folder, manifest(run)) as store:
        for day in range(days):
            _happenings(record, day, talk)
            for firm, role in FIRMS.items():
                record.metric(
                    day,
                    firm,
                    role=role,
                    strategy="scripted",
                    cash=CASH[firm][day],
                    net_income=NET_INCOME[firm][day],
                    equity=15_000.0 + NET_INCOME[firm][day],
                    revenue=100.0 * day,
                    stock=STOCK[firm][day],
                    deals=day,
                    retail_prices={"roasted_coffee_kg": 18.0 + day} if role == "retailer" else {},
                    asking_prices=ASKS[firm],
                    bankrupt=False,
                )
            record.end_day(store, day)
        if finished:
            firms = {name: (role, "town", NET_INCOME[name][2]) for name, role in FIRMS.items()}
            store.finish(result(folder, run, firms, roaster_A={"bankrupt_day": 2}))
        else:
            store.interrupt()
    return folder


def _happenings(record: Recorder, day: int, talk: str) -> None:
    nine = day * 1440 + 540
    for firm in FIRMS:
        record.message(nine, "exchange", firm, "exec", "your_turn")
        record.message(nine + 1, firm, "exchange", "tool", "command", tool="wait")
        record.entry(nine, firm, "operating_expense", "cash", 25_000_000, "opex")
    if day == 0:
        _deal(record, nine + 30, "D1", "farmer_A", "roaster_A", "green_coffee_kg", 10, 4.0)
        _deal(record, nine + 60, "D2", "farmer_A", "roaster_A", "green_coffee_kg", 30, 5.0)
        record.event(nine, "action", "farmer_A", tool="post_listing", args={}, status="success")
        record.event(
            nine + 90,
            "action",
            "roaster_A",
            tool="accept_offer",
            args={"tool": "a red herring"},
            status="error",
            error_code="seller_short_stock",
        )
        record.message(
            nine + 90, "exchange", "roaster_A", "comm", "letter",
            letter_id="M1", author="farmer_A", title="a plan", body=talk,
        )  # fmt: skip
        record.entry(nine, "farmer_A", "interest_expense", "cash", 388_000, "I1")
    if day == 1:
        _deal(record, nine + 30, "D3", "roaster_A", "retailer_A", "roasted_coffee_kg", 8, 10.0)
        _shipment(record, nine, "D1", "delivered", "farmer_A", "roaster_A", "green_coffee_kg", 10)
        _shipment(record, nine, "D2", "lost", "farmer_A", "roaster_A", "green_coffee_kg", 30)
        record.event(nine + 1, "turn_missed", "roaster_A", reason="timeout")
        record.event(nine + 2, "agent_error", "roaster_A", "roaster_A", error="Error", detail=talk)
        record.event(
            nine + 2, "turn_missed", "roaster_A", agent="roaster_A", reason="error", detail=talk
        )
        record.event(nine + 3, "mail_refused", "retailer_A", count=12)
        record.event(nine + 4, "comet", "", seen_from="the harbour", tails=2)
        record.event(nine + 5, "spoilage", "farmer_A", qty="a body without its item")
    if day == 2:
        _shipment(record, nine, "D3", "delayed", "roaster_A", "retailer_A", "roasted_coffee_kg", 8)
        record.event(nine, "bankruptcy", "roaster_A", firm="roaster_A", day=2, equity=-1012.34)
        record.event(
            nine + 600, "consumer_sale", "retailer_A", day=2, shop="retailer_A",
            item="roasted_coffee_kg", qty=5, unit_price=18.0, revenue=90.0,
        )  # fmt: skip
    record.event(nine + 600, "day_end", "", day=day)


def _deal(
    record: Recorder, minute: int, deal: str, seller: str, buyer: str, item: str, qty: int,
    price: float,
) -> None:  # fmt: skip
    record.event(
        minute, "deal", seller, deal=deal, seller=seller, buyer=buyer, item=item, qty=qty,
        unit_price=price, total_price=price * qty, day=minute // 1440,
    )  # fmt: skip


def _shipment(
    record: Recorder, minute: int, deal: str, outcome: str, seller: str, buyer: str, item: str,
    qty: int,
) -> None:  # fmt: skip
    record.event(
        minute, "delivery", seller, deal=deal, outcome=outcome, seller=seller, buyer=buyer,
        item=item, qty=qty, day=minute // 1440,
    )  # fmt: skip


def large_run(folder: Path, firms: int = 300, days: int = 2, towns: int = 2) -> Path:
    """A league whose firm number n ends with a net income of n dollars a day."""
    run = RunConfig.parse(
        {"name": "large", "days": days, "generate": {"firms": firms, "towns": towns}}, "test"
    )
    roles = ("farmer", "roaster", "retailer")
    names = {f"{roles[n % 3]}_{n:04}": (roles[n % 3], f"town_{n % towns}", n) for n in range(firms)}
    record = Recorder()
    with RunStore.create(folder, manifest(run)) as store:
        for day in range(days):
            for name, (role, town, number) in names.items():
                record.message(day * 1440, f"exchange_{town}", name, "exec", "your_turn")
                record.entry(day * 1440, name, "operating_expense", "cash", 25_000_000, "opex")
                record.metric(
                    day,
                    name,
                    role=role,
                    strategy="scripted",
                    cash=1000.0 + number,
                    net_income=float(number * (day + 1)),
                    stock={"green_coffee_kg": 2},
                    retail_prices={"roasted_coffee_kg": 18.0} if role == "retailer" else {},
                    asking_prices={},
                )
            _deal(
                record, day * 1440 + 600, f"D{day}", "farmer_0000", "roaster_0001",
                "green_coffee_kg", 10, 4.0,
            )  # fmt: skip
            record.end_day(store, day)
        results = {n: (role, town, float(k * days)) for n, (role, town, k) in names.items()}
        store.finish(result(folder, run, results))
    return folder

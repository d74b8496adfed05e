"""A roaster that asks a controller how much to buy, and buys no more than that."""

from __future__ import annotations

import json
from pathlib import Path

from actors.league import League
from services.config import BaseStockLevels, ControllerConfig, FirmConfig, RunConfig, standard_firms
from services.economy.catalogue import GREEN
from services.runs import Run


def config(days: int = 10) -> RunConfig:
    firms = [f for f in standard_firms() if f.name != "roaster_A"]
    buyer = FirmConfig(name="roaster_A", role="roaster", strategy="managed", controller="buyer")
    return RunConfig(
        days=days,
        placement="inline",
        firms=[*firms, buyer],
        controllers=[ControllerConfig(name="buyer", options={GREEN: LEVELS})],
    )


LEVELS = BaseStockLevels(reorder_at=40, up_to=50, most=12)


def test_every_day_it_reports_its_stock_and_bids_for_what_the_controller_says(
    tmp_path: Path,
) -> None:
    with League.create(config(), tmp_path / "run") as league:
        league.run()
    run = Run(tmp_path / "run")
    reports = list(run.rows("messages", "type = 'stock_report'"))
    answers = list(run.rows("messages", "type = 'purchase_orders'"))
    assert len(reports) == len(answers) == 10
    assert {(row[2], row[4]) for row in answers} == {("buyer", "roaster_A")}
    bids = dict.fromkeys(range(10), 0)
    for *_, body in run.rows("events", "kind = 'action' AND subject = 'roaster_A'"):
        action = json.loads(body)
        if action["tool"] == "make_offer":
            bids[action["day"]] += action["args"]["qty"]
    for report, answer in zip(reports, answers, strict=True):
        position = json.loads(report[-1])["position"]
        ordered = json.loads(answer[-1])["kg"].get(GREEN, 0)
        # Reorders at 40 up to 50, twelve kilograms at the most.
        assert ordered == (min(50 - position[GREEN], 12) if position[GREEN] <= 40 else 0)
        assert bids[report[0] // 1440] <= ordered
    assert sum(bids.values()) > 0

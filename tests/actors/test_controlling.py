"""A controller that acts by a policy: what it sees and says, and that it is the same anywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("safetensors", reason="a policy needs safetensors: make rl")

from actors.cast import Cast
from actors.league import League
from services.config import RunConfig, load
from services.errors import HanseError
from services.runs import Run
from tests.policies.becon.procurement.untrained import written

DAYS = 12
FIRM = {
    "name": "roaster_A",
    "role": "roaster",
    "strategy": "managed",
    "controller": "buyer",
    "options": {"drift": "jumps", "line": "moderate"},
}


def config(folder: Path, firm: dict[str, Any] | None = None, **controller: Any) -> RunConfig:
    others = ("farmer_A", "farmer_B", "roaster_B", "retailer_A", "retailer_B")
    firms = [{"name": name, "role": name.split("_")[0]} for name in others]
    buyer = {"name": "buyer", "policy": f"policy:{folder}", **controller}
    values = {"days": DAYS, "placement": "inline", "firms": [*firms, firm or FIRM]}
    return RunConfig.parse({**values, "controllers": [buyer]}, "test")


def played(made: RunConfig, folder: Path, hosts: int = 1, until: int | None = None) -> str:
    with League.create(made, folder, hosts=hosts) as league:
        result = league.run(until_day=until)
    return result.log_sha256


def test_a_decision_is_an_event_with_what_it_stands_on(tmp_path: Path) -> None:
    made = config(written(tmp_path / "policy"))
    played(made, tmp_path / "run")
    rows = list(Run(tmp_path / "run").rows("events", "kind = 'purchasing_decision'"))
    assert len(rows) == DAYS
    for *_, body in rows:
        told = json.loads(body)
        assert {
            "becon.gate_w",
            "becon.gate_d",
            "becon.epistemic",
            "becon.lambda",
            "becon.budget_safe",
        } <= told.keys()
        assert 0.0 < told["becon.gate_w"] < 1.0
        # What may be bid is within the budget that it holds safe.
        assert told["at_most"] <= 150.0 * told["becon.budget_safe"] + 1e-9


def bids(run: Run) -> tuple[list[float], list[float]]:
    """Dollars that roaster_A may bid, and has bid, day by day."""
    may = [
        json.loads(row[-1])["at_most"] for row in run.rows("events", "kind = 'purchasing_decision'")
    ]
    spent = [0.0] * len(may)
    for *_, body in run.rows("events", "kind = 'action' AND subject = 'roaster_A'"):
        action = json.loads(body)
        if action["tool"] == "make_offer" and action["status"] == "success":
            spent[action["day"]] += action["args"]["qty"] * action["args"]["offered_price"]
    return may, spent


def test_a_firm_bids_no_more_than_it_may(tmp_path: Path) -> None:
    made = config(written(tmp_path / "policy"))
    played(made, tmp_path / "run")
    run = Run(tmp_path / "run")
    may, spent = bids(run)
    assert sum(spent) > 0
    assert all(day <= most + 1e-9 for day, most in zip(spent, may, strict=True))
    costs = [
        json.loads(row[-1])["cost"] for row in run.rows("events", "kind = 'purchasing_outcome'")
    ]
    assert costs == pytest.approx([min(1.0, day / 150.0) for day in spent[:-1]])


def test_the_truth_goes_to_no_one(tmp_path: Path) -> None:
    played(config(written(tmp_path / "policy")), tmp_path / "run")
    run = Run(tmp_path / "run")
    truths = [
        json.loads(row[-1])["budget"] for row in run.rows("events", "kind = 'purchasing_outcome'")
    ]
    said = "".join(str(row[-1]) for row in run.rows("messages", "type = 'stock_report'"))
    assert "score" in said
    assert not any(repr(truth) in said for truth in truths)


def test_one_seed_gives_one_log_on_any_number_of_hosts_and_after_a_resume(tmp_path: Path) -> None:
    made = config(written(tmp_path / "policy"))
    whole = played(made, tmp_path / "whole")
    assert played(made, tmp_path / "two", hosts=2) == whole
    played(made, tmp_path / "torn", until=5)
    with League.resume(tmp_path / "torn") as league:
        assert league.run().log_sha256 == whole


def test_a_firm_without_an_intent_is_served_too(tmp_path: Path) -> None:
    plain = {key: value for key, value in FIRM.items() if key != "options"}
    played(config(written(tmp_path / "policy"), plain, kappa=0.0), tmp_path / "run")
    assert len(list(Run(tmp_path / "run").rows("events", "kind = 'purchasing_decision'"))) == DAYS
    assert not list(Run(tmp_path / "run").rows("events", "kind = 'purchasing_outcome'"))
    may, spent = bids(Run(tmp_path / "run"))
    # The purse is that of a day, not of the run.
    assert sum(spent) > max(may)
    assert all(day <= most + 1e-9 for day, most in zip(spent, may, strict=True))


def test_each_firm_is_believed_in_by_itself(tmp_path: Path) -> None:
    made = config(written(tmp_path / "policy")).dump()
    for firm in made["firms"]:
        if firm["name"] == "roaster_B":
            firm.update(FIRM, name="roaster_B")
    played(RunConfig.parse(made, "test"), tmp_path / "run")
    gates: dict[str, list[float]] = {"roaster_A": [], "roaster_B": []}
    for row in Run(tmp_path / "run").rows("events", "kind = 'purchasing_decision'"):
        firm = "roaster_A" if "roaster_A" in row else "roaster_B"
        gates[firm].append(json.loads(row[-1])["becon.gate_d"])
    assert len(gates["roaster_A"]) == len(gates["roaster_B"]) == DAYS
    assert gates["roaster_A"] != gates["roaster_B"]


def test_a_policy_that_does_not_fit_is_refused_before_the_run(tmp_path: Path) -> None:
    made = config(written(tmp_path / "policy")).with_overrides(rules="coffeebench")
    with pytest.raises(HanseError, match=r"controllers\.buyer\.policy: policy 'untrained' does no"):
        Cast(made).check()
    with pytest.raises(HanseError, match=r"controllers\.buyer\.policy: .*is not a trained policy"):
        Cast(config(tmp_path / "nowhere")).check()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"policy": "somewhere"}, "names no policy"),
        ({"options": {"green_coffee_kg": {"reorder_at": 1, "up_to": 2}}}, "has no stock levels"),
        ({"policy": None, "kappa": 0.5}, "is for a policy"),
        ({"source": "rumour"}, "rumour"),
    ],
)
def test_keys_that_do_not_go_together_are_refused(
    tmp_path: Path, keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(HanseError, match=message):
        config(tmp_path, **keys)


def test_the_folder_is_meant_as_seen_from_the_run_file(tmp_path: Path) -> None:
    text = '[[controllers]]\nname = "buyer"\npolicy = "policy:trained"\n'
    (tmp_path / "run.toml").write_text(text)
    assert load(tmp_path / "run.toml").controllers[0].policy == f"policy:{tmp_path / 'trained'}"

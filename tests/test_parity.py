"""Our economy against CoffeeBench's own ledgers: to the cent and the kilogram, day by day."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actors.league import League
from services.config import FirmConfig, RunConfig
from services.economy.commands import COMMANDS
from services.runs import Run
from tests.parity.__main__ import main
from tests.parity.compare import Outcome, check_folder, compare
from tests.parity.play import drive
from tests.parity.reference import read_reference

DATA = Path(__file__).parent / "data" / "coffeebench"
WORLDS = sorted(DATA.glob("seed*/*"))
SMALL = DATA / "seed0" / "all_passive"


def name_of(world: Path) -> str:
    return f"{world.parent.name}-{world.name}"


def test_there_are_five_scenarios_of_two_seeds() -> None:
    assert len(WORLDS) == 10


@pytest.mark.parametrize("world", WORLDS, ids=name_of)
def test_the_firms_decide_as_recorded_and_every_ledger_is_equal(world: Path) -> None:
    outcome = check_folder(world)
    assert outcome.equal, str(outcome)


@pytest.mark.parametrize("world", WORLDS, ids=name_of)
def test_the_recorded_actions_lead_to_the_recorded_ledgers(world: Path) -> None:
    outcome = check_folder(world, replay=True)
    assert outcome.equal, str(outcome)


def test_every_column_of_every_file_is_compared() -> None:
    reference = read_reference(SMALL)
    cells = sum(len(row) for table in reference.tables.values() for row in table)
    loyalties, bankruptcies = 2, 6
    assert check_folder(SMALL) == Outcome(cells + loyalties + bankruptcies, None)


# ---- the same world as a whole run ---------------------------------------------------------------


@pytest.fixture(scope="module")
def league_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder of a league of the six reference firms, without Ray."""
    folder = tmp_path_factory.mktemp("runs") / "reference"
    firms = [
        FirmConfig(name=f"{role}_{letter}", role=role, strategy="scripted")
        for role in ("farmer", "roaster", "retailer")
        for letter in "AB"
    ]
    config = RunConfig(seed=0, rules="coffeebench", placement="inline", firms=firms)
    with League.create(config, folder) as league:
        league.run()
    return folder


def test_a_league_ends_with_the_reference_net_incomes(league_run: Path) -> None:
    expected = {
        "farmer_A": 684.84,
        "farmer_B": 891.46,
        "roaster_A": 400.33,
        "roaster_B": 586.38,
        "retailer_A": 5745.70,
        "retailer_B": 7768.67,
    }
    result = Run(league_run).result
    assert result is not None
    assert {firm.firm: firm.net_income for firm in result.firms} == expected


def test_a_league_writes_the_reference_action_log_to_its_store(league_run: Path) -> None:
    recorded = read_reference(DATA / "seed0" / "all_scripted").tables["actions"]
    rows = Run(league_run).rows("events", "kind = 'action'")
    written = [written_action(*row) for row in rows]
    assert len(written) == 7556
    assert written == [recorded_action(row) for row in recorded]


def written_action(*row: Any) -> tuple[Any, ...]:
    minute, _round, _agent, _ordinal, _cause, _kind, firm, text = row
    body = json.loads(text)
    outcome = (body["status"], body.get("new_id"), body.get("error_code"))
    return (body["seq"], minute, firm, body["tool"], body["args"], *outcome)


def recorded_action(row: dict[str, str]) -> tuple[Any, ...]:
    minute = int(row["day"]) * 1440 + int(row["minute_of_day"])
    arguments = COMMANDS[row["tool"]].model_validate_json(row["args_json"]).arguments()
    outcome = (row["status"], row["new_id"] or None, row["error_code"] or None)
    return (int(row["seq"]), minute, row["agent"], row["tool"], arguments, *outcome)


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A copy of the smallest world, for damage."""
    return Path(shutil.copytree(SMALL, tmp_path / "world"))


def rewrite(world: Path, table: str, old: str, new: str) -> None:
    """Replaces the first ``old`` in a table, which becomes a plain ``.csv``."""
    packed = world / f"{table}.csv.gz"
    text = gzip.decompress(packed.read_bytes()).decode()
    assert old in text
    (world / f"{table}.csv").write_text(text.replace(old, new, 1))
    packed.unlink()


def test_the_command_prints_equal_and_the_number_of_cells(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(world)]) == 0
    assert capsys.readouterr().out == f"{world}: equal: 22806 cells\n"


def test_plain_and_compressed_tables_are_read_alike(world: Path) -> None:
    rewrite(world, "daily", "day", "day")
    assert check_folder(world) == check_folder(SMALL)


def test_the_first_difference_is_named_with_day_firm_and_column(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(world, "daily", "\n1,farmer_B,14950.0000,", "\n1,farmer_B,14950.0100,")
    assert main([str(world)]) == 1
    assert capsys.readouterr().out == (
        f"{world}: differs on day 1, farmer_B, daily.csv, column cash:"
        " expected '14950.0100', got 14950.0\n"
    )


def test_half_a_cent_is_no_difference_but_a_kilogram_is(world: Path) -> None:
    rewrite(world, "daily", "\n1,farmer_B,14950.0000,60,", "\n1,farmer_B,14950.0050,60,")
    assert check_folder(world).equal
    text = (world / "daily.csv").read_text()
    (world / "daily.csv").write_text(text.replace(",14950.0050,60,", ",14950.0050,61,"))
    outcome = check_folder(world)
    assert "day 1, farmer_B, daily.csv, column green_coffee_kg" in str(outcome)


def test_the_earliest_day_counts_whatever_file_it_is_in(world: Path) -> None:
    rewrite(world, "daily", "\n5,farmer_A,14850.0000,", "\n5,farmer_A,1.0000,")
    rewrite(world, "consumer_sales", "\n0,retailer_A,", "\n0,retailer_B,")
    assert "day 0, retailer_B, consumer_sales.csv, column shop" in str(check_folder(world))


def test_a_row_too_few_or_too_many_is_a_difference(world: Path) -> None:
    reference = read_reference(world)
    course = drive(reference)
    reference.tables["actions"].append(dict(reference.tables["actions"][-1]))
    assert "actions.csv, column seq (a whole row): expected '540', got None" in str(
        compare(reference, course, replayed=False)
    )
    del reference.tables["actions"][-2:]
    assert "actions.csv, column seq (a whole row): expected None, got '540'" in str(
        compare(reference, course, replayed=False)
    )


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda w: shutil.rmtree(w), "there is no such folder"),
        (lambda w: (w / "meta.json").unlink(), "meta.json: cannot be read"),
        (lambda w: (w / "meta.json").write_text("{"), "meta.json: meta.json: Invalid JSON"),
        (lambda w: (w / "meta.json").write_text('{"seed": "x"}'), "meta.json: seed: "),
        (lambda w: (w / "daily.csv.gz").unlink(), "neither daily.csv nor daily.csv.gz"),
        (lambda w: (w / "daily.csv.gz").write_bytes(b"x"), "daily.csv.gz: cannot be read"),
        (lambda w: rewrite(w, "deals", "qty", "kg"), "deals.csv: column qty is missing"),
        (lambda w: rewrite(w, "final", "agent", "x,agent"), "final.csv: cannot be read"),
    ],
)
def test_a_bad_folder_costs_one_line_and_exit_code_2(
    world: Path, capsys: pytest.CaptureFixture[str], damage: Callable[[Path], object], said: str
) -> None:
    damage(world)
    assert main([str(world)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("parity: ")
    assert said in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("farmer_A,wait_for_next_day", "nobody,pay_invoice", "there is no firm 'nobody'"),
        ("wait_for_next_day", "pay_invoice", "'pay_invoice' is no command: 1 validation error"),
        ("wait_for_next_day", "dance", "'dance' is no command"),
        ("\n1,0,540,farmer_A,wait_for_next_day", "\n1,0,noon,farmer_A,pay_invoice", "'noon'"),
    ],
)
def test_a_replay_names_the_recorded_action_that_it_cannot_apply(
    world: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    rewrite(world, "actions", old, new)
    assert main([str(world), "--replay"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"parity: {world}: actions: seq 1: ")
    assert said in error
    assert error.count("\n") == 1


def test_an_unknown_strategy_is_named(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    meta = json.loads((world / "meta.json").read_text())
    (world / "meta.json").write_text(json.dumps({**meta, "focal": "clever"}))
    assert main([str(world)]) == 2
    assert "meta.json: firms.roaster_A.strategy: unknown strategy 'clever'" in (
        capsys.readouterr().err
    )


def test_a_bad_folder_does_not_keep_the_others_from_being_checked(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(world / "nowhere"), str(world)]) == 2
    assert "equal: 22806 cells" in capsys.readouterr().out

"""Bad input is one line on stderr that names the file, the key and the remedy, and exit code 2."""

from pathlib import Path

import pytest

THREE = """
[[firms]]
name = "Ada"
role = "farmer"
cash = 100
[[firms]]
name = "Bo"
role = "roaster"
strategy = "passive"
[[firms]]
name = "Cy"
role = "retailer"
"""

CASES = {
    "unknown strategy": (
        THREE.replace("passive", "pasive"),
        "hanse: run.toml: firms.Bo.strategy: 'pasive' is not a known strategy "
        "(did you mean 'passive'?); allowed: passive, heuristic, repaired, scripted, managed, "
        "importing, informed, random, human, "
        "your own as module:Class or path.py:Class, or a trained policy as policy:FOLDER",
    ),
    "missing role": (
        THREE.replace('"retailer"', '"roaster"'),
        "hanse: run.toml: firms: missing role: there is no retailer; "
        'add [[firms]] with role = "retailer"',
    ),
    "negative cash": (
        THREE.replace("100", "-100"),
        "hanse: run.toml: firms.Ada.cash: -100 does not fit;"
        " allowed: a number from 0 to 1000000000",
    ),
    "seed that is not a number": (
        'seed = "lucky"',
        "hanse: run.toml: seed: 'lucky' does not fit; "
        "allowed: a whole number from 0 to 9223372036854775807",
    ),
    "newer version": (
        "format = 2",
        "hanse: run.toml: format: 2 is newer than this hanse reads; "
        "allowed: 1 (or upgrade: pip install --upgrade hanse)",
    ),
    "unknown key": (
        "[economy]\nfestival_dys = [1, 2]",
        "hanse: run.toml: economy.festival_dys: 'festival_dys' is not a known key "
        "(did you mean 'festival_days'?); allowed: loss_probability, delay_probability, "
        "spoilage_per_day, late_fee_per_day, return_window_days, roast_cap_kg, demand_sigma, "
        "market_cap, festival_days, festival_factor, credit_limit, listing_days, max_terms_days, "
        "freight_days, freight_per_kg",
    ),
    "unknown firm": (
        f'stop_when_bankrupt = "Bob"\n{THREE}',
        "hanse: run.toml: stop_when_bankrupt: 'Bob' is not a known firm (did you mean 'Bo'?); "
        "allowed: Ada, Bo, Cy",
    ),
    "name of a monitor": (
        f"{THREE.replace('Ada', 'caspian')}[monitor]",
        "hanse: run.toml: the name 'caspian' is used twice (a firm, router, controller, exchange,"
        " board, forecaster, monitor or other agent of the league's may have it); choose another",
    ),
    "TOML syntax": (
        "seed 3",
        "hanse: run.toml: not valid TOML: expected '=' after a key in a key/value pair "
        "(at line 1, column 6); mend that line",
    ),
}


@pytest.mark.parametrize(("text", "message"), CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("command", ["run", "sweep"])
def test_a_wrong_run_file_is_refused_before_anything_is_made(hanse, command, text, message):
    Path("run.toml").write_text(text)
    assert hanse(command, "run.toml").refusal == message
    assert not Path("runs").exists()


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_a_strategy_that_imports_what_is_not_there_is_refused_before_anything_is_made(
    hanse, command
):
    Path("mine.py").write_text("import a_module_that_is_not_there\n")
    Path("run.toml").write_text(THREE.replace("passive", "mine.py:Mine"))
    refusal = hanse(command, "run.toml").refusal
    assert refusal.startswith("hanse: run.toml: firms.Bo.strategy: ")
    assert "No module named 'a_module_that_is_not_there'" in refusal
    assert not Path("runs").exists()


def test_a_missing_run_file_is_refused(hanse):
    assert hanse("run", "absent.toml").refusal == (
        "hanse: absent.toml: there is no such file; write one with: hanse new absent.toml"
    )


def test_a_folder_in_place_of_a_run_file_is_refused(hanse):
    Path("folder").mkdir()
    message = "hanse: folder: this is a folder; name the run file in it"
    assert hanse("run", "folder").refusal == message


def test_a_run_folder_that_exists_is_refused_and_left_alone(hanse):
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("years of work")
    assert hanse("run", "--out", "mine").refusal == (
        "hanse: mine: this folder exists and is not empty; choose another with --out, "
        "or continue the run in it with: hanse resume mine"
    )
    assert [path.name for path in Path("mine").iterdir()] == ["thesis.txt"]


def test_a_file_in_place_of_a_run_folder_is_refused(hanse):
    Path("mine").write_text("years of work")
    message = "hanse: mine: this is a file; choose another folder with --out"
    assert hanse("run", "--out", "mine").refusal == message
    assert hanse("run", "--out", "mine/deeper").refusal.startswith("hanse: mine/deeper: cannot be")
    assert hanse("sweep", "--out", "mine").refusal == message


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--days", 0, "days: 0 does not fit; allowed: a whole number from 1 to 3660"),
        ("--seed", -1, "seed: -1 does not fit; allowed: a whole number from 0 to 922337203685477"),
        ("--rules", "chess", "rules: 'chess' is not a known rules; allowed: hanse, coffeebench"),
        ("--placement", "cloud", "placement: 'cloud' is not a known placement; allowed: auto, in"),
        ("--hosts", 65, "hosts: 65 does not fit; allowed: a whole number from 1 to 64"),
    ],
)
def test_a_wrong_option_is_refused_like_the_key_it_overrides(hanse, option, value, message):
    assert hanse("run", option, value).refusal.startswith(f"hanse: command line: {message}")


@pytest.mark.parametrize("command", ["resume", "report", "doctor"])
def test_a_run_that_does_not_exist_is_refused(hanse, command):
    Path("runs/coffee-seed0-001").mkdir(parents=True)
    assert hanse(command, "coffee-seed0-01").refusal == (
        "hanse: coffee-seed0-01: there is no such run (did you mean 'coffee-seed0-001'?); "
        "list them with: hanse runs"
    )


def test_a_folder_that_is_no_run_is_refused(hanse):
    Path("runs/photos").mkdir(parents=True)
    assert hanse("resume", "photos").refusal.startswith("hanse: runs/photos: not a run folder")


def test_a_file_in_place_of_a_run_is_refused(hanse):
    Path("x").write_text("")
    assert hanse("report", "x").refusal == "hanse: x: this is a file; name the run's folder"


def test_a_damaged_run_is_refused(hanse, league):
    hanse("run", "--days", 1)
    database = Path("runs/coffee-seed0-001/run.db")
    database.write_bytes(database.read_bytes()[:1000])
    refusal = hanse("resume", "coffee-seed0-001").refusal
    assert refusal.startswith("hanse: runs/coffee-seed0-001/run.db: ")


def test_a_name_with_a_line_break_cannot_make_a_second_line(hanse):
    assert hanse("run", "a\nb.toml").refusal.startswith("hanse: a b.toml: there is no such file")


def test_the_process_itself_shows_one_line_and_no_traceback(hanse_process):
    Path("run.toml").write_text("seed = 'lucky'")
    outcome = hanse_process("run", "run.toml")
    assert outcome.refusal.startswith("hanse: run.toml: seed: 'lucky' does not fit; allowed: ")
    assert hanse_process("run", "--seed", "x").refusal.startswith("hanse: invalid value for '--se")

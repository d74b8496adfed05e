"""`hanse new`, `runs`, `report` and `export`."""

import json
from pathlib import Path

import pytest

from services.config import load, standard
from services.runs import Run


def test_new_writes_a_run_file_that_is_the_standard_run_under_its_own_name(hanse):
    outcome = hanse("new", "harbour.toml")
    assert (outcome.code, outcome.out) == (0, "harbour.toml\n")
    assert outcome.err == "start it with: hanse run harbour.toml\n"
    assert load("harbour.toml") == standard().with_overrides(name="harbour")
    assert "# A run of the coffee league. Start it with:  hanse run harbour.toml" in (
        Path("harbour.toml").read_text()
    )


def test_a_file_whose_name_cannot_be_a_runs_is_called_coffee(hanse):
    assert hanse("new", "my run.toml", "--json").document == {"file": "my run.toml"}
    assert load("my run.toml").name == "coffee"
    assert "hanse run 'my run.toml'" in Path("my run.toml").read_text()


def test_new_does_not_overwrite(hanse):
    Path("x.toml").write_text("precious")
    message = "hanse: x.toml: exists already; choose another name, or remove it"
    assert hanse("new", "x.toml").refusal == message
    assert Path("x.toml").read_text() == "precious"


def test_new_needs_a_folder_that_exists(hanse):
    message = "hanse: deep/x.toml: there is no folder deep; make it first"
    assert hanse("new", "deep/x.toml").refusal == message


def test_without_runs_the_list_says_how_to_start_one(hanse):
    outcome = hanse("runs")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "no runs in runs/; start one with: hanse run\n"
    assert hanse("runs", "--json").document == []


def test_a_root_that_does_not_exist_is_refused(hanse):
    assert hanse("runs", "x").refusal.startswith("hanse: x: there is no such folder; ")


def test_runs_are_listed_with_state_seed_days_result_and_size(hanse, league):
    hanse("run", "--days", 2, "--seed", 5)
    league.interrupt_in_day = 1
    hanse("run", "--days", 3)
    Path("runs/notes.txt").write_text("not a run")
    rows = {
        line.split()[0]: line.split() for line in hanse("runs").out.splitlines() if "coffee" in line
    }
    finished, stopped = rows["coffee-seed5-001"], rows["coffee-seed0-001"]
    # The sixth firm of the league has earned the most: 600 + 5.
    assert finished[1:8] == ["finished", "5", "2", "hanse", "one", "retailer_B", "605.00"]
    assert finished[8:10] == ["2", "missed"]
    assert finished[-1] == "kB"
    assert stopped[1:8] == ["resumable", "0", "1", "of", "3", "hanse", "auto"]
    assert stopped[8] == "–"
    documents = hanse("runs", "--json").document
    assert {run["folder"]: run["state"] for run in documents} == {
        "runs/coffee-seed5-001": "finished",
        "runs/coffee-seed0-001": "resumable",
    }
    assert all(run["bytes"] > 0 for run in documents)


def test_the_newest_run_is_last(hanse, league):
    for seed in (9, 10, 2):
        hanse("run", "--days", 1, "--seed", seed)
    seeds = [run["seed"] for run in hanse("runs", "--json").document]
    assert seeds == [9, 10, 2]


def test_a_sweep_is_no_run_but_has_some(hanse, league):
    for seed in (2, 10):
        hanse("run", "--days", 1, "--seed", seed, "--out", f"runs/s/seed-{seed}")
    message = "hanse: runs/s: this is a sweep of 2 runs; name one of them, such as runs/s/seed-2"
    for command in ("report", "export", "resume", "doctor"):
        arguments = ("--to", "csv") if command == "export" else ()
        assert hanse(command, "s", *arguments).refusal == message


def test_doctor_answers_first_what_was_asked(hanse, league):
    hanse("run", "--days", 1)
    lines = hanse("doctor", "coffee-seed0-001").out.splitlines()
    assert lines[0] == "runs/coffee-seed0-001: the run is finished"


def test_a_running_run_is_listed_as_running(hanse, league):
    league.interrupt_in_day = 1
    hanse("run", "--days", 3)
    with league.resume(Path("runs/coffee-seed0-001")):
        assert hanse("runs", "--json").document[0]["state"] == "running"


def test_a_damaged_run_does_not_hide_the_others(hanse, league):
    for _ in range(2):
        hanse("run", "--days", 1)
    Path("runs/coffee-seed0-001/run.db").write_bytes(b"rubbish")
    outcome = hanse("runs")
    assert "finished" in outcome.out and "damaged" in outcome.out
    assert outcome.err.startswith("runs/coffee-seed0-001/run.db: ")


@pytest.fixture
def run(hanse, league) -> str:
    return hanse("run", "--days", 2, "--json").document["run"]


def test_a_run_is_exported_into_its_own_folder(hanse, run):
    outcome = hanse("export", run, "--to", "csv")
    files = [Path(line) for line in outcome.out.splitlines()]
    assert {file.name for file in files} >= {"messages.csv", "events.csv", "ledger.csv"}
    assert {file.parent for file in files} == {Path(run) / "export"}
    messages = next(file for file in files if file.name == "messages.csv")
    assert len(messages.read_text().splitlines()) == 1 + 20


def test_an_export_goes_where_it_is_told_to(hanse, run):
    pytest.importorskip("pyarrow")
    files = hanse("export", run, "--to", "parquet", "--out", "tables", "--json").document["files"]
    assert "tables/ledger.parquet" in files
    assert all(Path(file).is_file() for file in files)


def test_the_exported_log_is_what_the_digest_is_of(hanse, run):
    (log,) = hanse("export", run, "--to", "log").out.splitlines()
    assert Path(log).read_text().splitlines(keepends=True) == list(Run(run).log_lines())


def test_an_export_does_not_overwrite(hanse, run):
    hanse("export", run, "--to", "csv")
    assert "exists already" in hanse("export", run, "--to", "csv").refusal


def test_a_report_is_one_page_in_the_runs_folder_or_where_it_is_told_to(hanse, run):
    assert hanse("report", run).out == f"{run}/report.html\n"
    assert "<html" in (Path(run) / "report.html").read_text()
    document = hanse("report", Path(run).name, "--out", "page.html", "--json").document
    assert document == {"report": "page.html"}
    assert Path("page.html").read_text() == (Path(run) / "report.html").read_text()


def test_what_a_command_prints_as_json_is_json_only(hanse, run):
    for command in (["runs"], ["doctor", "--quick"], ["resume", run]):
        json.loads(hanse(*command, "--json").out)

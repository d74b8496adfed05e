"""What the README tells a newcomer to type works as it stands there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from services.runs import Run

README = Path(__file__).parents[1] / "README.md"


def block(language: str, containing: str) -> str:
    blocks = re.findall(rf"```{language}\n(.*?)```", README.read_text(), re.DOTALL)
    found = [text for text in blocks if containing in text]
    assert len(found) == 1, f"one {language} block of the README should hold {containing!r}"
    return found[0]


def hanse(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "services.cli.main", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_own_strategy_runs_and_its_test_passes(tmp_path: Path) -> None:
    (tmp_path / "patient.py").write_text(block("python", "class Patient"))
    (tmp_path / "patient.toml").write_text(block("toml", "patient.py:Patient"))
    (tmp_path / "test_patient.py").write_text(block("python", "def test_it_looks"))
    words = re.search(r"\$ hanse (run patient\.toml.*)", block("console", "patient.toml"))
    assert words is not None
    done = hanse(*words[1].split(), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "patient.py:Patient" in done.stdout
    assert "turns_missed" not in done.stdout
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_patient.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert tested.returncode == 0, tested.stdout


def test_the_own_strategy_is_under_thirty_lines() -> None:
    assert len(block("python", "class Patient").splitlines()) < 30


def test_the_python_example_gives_a_ledger_frame(tmp_path: Path) -> None:
    example = block("python", "from actors.league import League")
    assert len([line for line in example.splitlines() if line]) <= 12
    check = "assert len(ledger) > 100 and 'micros' in ledger.columns\n"
    done = subprocess.run(
        [sys.executable, "-c", example + check],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_file_that_the_readme_points_to_exists() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README.read_text()):
        if not target.startswith("http"):
            assert (README.parent / target).exists(), target


def test_the_strategy_that_traces_and_logs_does_so(tmp_path: Path) -> None:
    (tmp_path / "patient.py").write_text(block("python", "class Thoughtful"))
    run_file = block("toml", "patient.py:Patient").replace("Patient", "Thoughtful")
    (tmp_path / "patient.toml").write_text(run_file)
    run = "run patient.toml --placement inline --days 3 --out run"
    done = hanse(*run.split(), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    spans = [row for row in Run(tmp_path / "run").rows("spans") if row[5] == "think"]
    assert [(row[0], row[1]) for row in spans] == [(day, "roaster_A") for day in range(3)]
    logged = [json.loads(x) for x in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert [(x["day"], x["agent"], x["time"]) for x in logged if x["logger"] == "thoughtful"] == [
        (day, "roaster_A", "09:00") for day in range(3)
    ]
    assert {x["trace_id"] for x in logged if x["logger"] == "thoughtful"} == {x[3] for x in spans}


def test_the_readmes_traces_are_those_of_the_standard_run(tmp_path: Path) -> None:
    quiet = ("--placement", "inline", "--quiet")
    assert hanse("run", *quiet, folder=tmp_path).returncode == 0
    branch = block("console", "firms.roaster_A.strategy=repaired").splitlines()[0]
    assert hanse(*branch.split()[2:], "--quiet", folder=tmp_path).returncode == 0
    for command in ("why I2", "story roaster_B", "diff coffee"):
        shown = block("console", command)
        words = next(x for x in shown.splitlines() if command in x).split()[2:]
        done = hanse(*words, folder=tmp_path)
        assert done.returncode in (0, 1), done.stderr
        there = " ".join(re.sub(r"exchange:\d+|[+]\d+[.]\d+s|[^ -~]", " ", done.stdout).split())
        for line in shown.splitlines()[1:]:
            text = re.split(r"   exchange:|            [(]|    [(]", line)[0]
            text = " ".join(re.sub(r"[^ -~]", " ", text).split()).removesuffix("...")
            assert text in there or text.startswith("$"), text


def test_the_watched_league_is_attacked_contained_and_verified_as_it_says(tmp_path: Path) -> None:
    (tmp_path / "watched.toml").write_text(block("toml", "[containment]"))
    for command in ("run watched.toml", "monitor verify", "why quarantine-1"):
        shown = block("console", command)
        words = next(x for x in shown.splitlines() if command in x).split()[2:]
        done = hanse(*words, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        there = " ".join(f"{done.stderr} {done.stdout}".split())
        for line in shown.splitlines()[1:]:
            text = " ".join(line.split()).removesuffix("...").strip()
            assert text in there, text

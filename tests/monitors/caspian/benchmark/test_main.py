"""The benchmark's command."""

from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from monitors.caspian.benchmark import QUICK, Results, Size, __main__, run_benchmark

TINY = Size(calibration=1, test=1, attack=1, seeds=(1,), extras=False, resamples=2)


@pytest.fixture(scope="module")
def results() -> Results:
    return run_benchmark(TINY, processes=2)


def command() -> typer.Typer:
    app = typer.Typer()
    app.command()(__main__.main)
    return app


def test_the_command_prints_tables_and_writes_what_it_is_asked_for(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def known(size: Size, *, processes: int, progress: Any) -> Results:
        asked.extend([size, processes])
        progress(50, 100, "traces")
        progress(51, 100, "traces")
        return results

    monkeypatch.setattr(__main__, "run_benchmark", known)
    json, html = tmp_path / "figures.json", tmp_path / "page.html"
    said = CliRunner().invoke(
        command(), ["--quick", "--processes", "1", "--json", str(json), "--html", str(html)]
    )

    assert said.exit_code == 0 and asked == [QUICK, 1]
    assert said.stderr == "traces: 50 of 100\n"
    assert "Requirements" in said.output and "too few" in said.output
    assert Results.model_validate_json(json.read_text()) == results
    assert html.read_text().startswith("<!DOCTYPE html>")


def test_the_command_ends_quietly_when_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> Results:
        raise KeyboardInterrupt

    monkeypatch.setattr(__main__, "run_benchmark", interrupted)
    said = CliRunner().invoke(command(), ["--quick"])

    assert said.exit_code == 130 and "Traceback" not in said.output

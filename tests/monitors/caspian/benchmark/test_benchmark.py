"""The benchmark as a whole, at sizes that prove nothing but that it works."""

import io
import re

import pytest
from rich.console import Console

from monitors.caspian.benchmark import QUICK, Results, Size, run_benchmark
from monitors.caspian.benchmark.detectors import CASPIAN, DETECTORS, KEYWORDS, LITERAL
from monitors.caspian.benchmark.page import page
from monitors.caspian.benchmark.results import FULL
from monitors.caspian.benchmark.tables import tables

TINY = Size(calibration=2, test=1, attack=1, seeds=(1,), extras=False, resamples=10)


TOLD: list[tuple[int, int, str]] = []


@pytest.fixture(scope="module")
def results() -> Results:
    return run_benchmark(TINY, progress=lambda *said: TOLD.append(said))


def test_progress_is_told_of_every_trace(results: Results) -> None:
    assert [said for said in TOLD if said[2] == "traces"] == [
        (done, TINY.traces, "traces") for done in range(1, TINY.traces + 1)
    ]


def test_every_detector_and_method_has_its_row(results: Results) -> None:
    assert [row.detector for row in results.detections] == [row.name for row in DETECTORS]
    assert len(results.attributions) == 8
    assert [check.id for check in results.checks] == [f"A{n}" for n in range(1, 8)]


def test_the_same_size_gives_the_same_results_from_any_number_of_processes(
    results: Results,
) -> None:
    assert run_benchmark(TINY, processes=2).model_dump_json() == results.model_dump_json()


def test_results_survive_json(results: Results) -> None:
    assert Results.model_validate_json(results.model_dump_json()) == results


def test_the_literal_rule_alerts_on_every_trace_before_anything_happens(results: Results) -> None:
    literal = results.detection(LITERAL)

    assert literal.false_alarms.value == 1 and literal.before_onset == 1


def test_few_traces_come_with_a_warning(results: Results) -> None:
    assert any("too few" in text for text in results.warnings)
    assert not QUICK.enough and FULL.enough and FULL.traces == 320 and QUICK.traces == 96


def test_who_asks_for_a_detector_that_is_not_there_learns_it(results: Results) -> None:
    with pytest.raises(KeyError, match="nobody"):
        results.detection("nobody")


def test_the_tables_name_all_detectors_and_requirements(results: Results) -> None:
    console = Console(width=250, file=io.StringIO())
    with console.capture() as captured:
        for table in tables(results):
            console.print(table)
    text = captured.get()

    for name in [*(row.name for row in DETECTORS), KEYWORDS, "text mode only", "A1", "A7"]:
        assert name in text


def test_the_page_is_one_file_that_asks_for_nothing(results: Results) -> None:
    html = page(results)

    assert "default-src 'none'" in html and "<script" not in html
    assert not re.search(r"""(src|href|url)\s*[=(]\s*["']?\s*(https?:|//)""", html)
    assert html.count("<figure>") == 3 and "prefers-color-scheme: dark" in html


def test_the_page_escapes_whatever_the_results_say(results: Results) -> None:
    evil = "<img src=x onerror=alert(1)>&\"'"
    named = [
        row.model_copy(update={"detector": evil}) if row.detector != CASPIAN else row
        for row in results.detections
    ]
    html = page(results.model_copy(update={"detections": named, "warnings": [evil]}))

    assert "<img" not in html and "&lt;img src=x onerror=alert(1)&gt;&amp;" in html


@pytest.mark.slow
def test_the_extras_are_measured_as_well() -> None:
    results = run_benchmark(TINY.model_copy(update={"extras": True}))

    names = [(row.group, row.name) for row in results.settings]
    assert ("channels", "comm only") in names and ("channels", "without exec") in names
    assert ("share", "share 0.7") in names and ("size", "96 agents") in names
    assert ("left out", "calibrated without shock") in names
    assert {row.kind for row in results.evasions} == {
        "slow_drift",
        "benign_wrapper",
        "chaos_seeding",
        "adaptive",
    }

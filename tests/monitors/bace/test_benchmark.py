import math

import pytest

pytest.importorskip("torch", reason="BACE needs torch: make torch")

from rich.console import Console

from monitors.bace.benchmark import Case, Row, Table, demands, run_benchmark, smoke
from monitors.bace.synthetic import Size

TINY = Size(nodes=4, contexts=2, trials=6, ticks=80)


def row(**others: object) -> Row:
    """A row that meets every demand, with what a test changes."""
    good = dict.fromkeys(Row.model_fields, 0.0) | {
        "suite": "structured",
        "form": "ours",
        "seed": 0,
        "windows": 100,
        "auroc": 0.99,
        "transposed": 0.45,
        "f1": 0.95,
        "pooled": 0.73,
        "error_share": 0.69,
        "sign": 1.0,
        "checks": (),
    }
    return Row.model_validate(good | others)


def unmet(made: Row) -> list[str]:
    return [check.name for check in demands(made) if not check.passed]


@pytest.mark.slow
def test_the_small_fit_recovers_the_graph() -> None:
    assert smoke() >= 0.85  # note, section 8; PILOT: 0.990 after 20 epochs


@pytest.mark.parametrize(
    ("figure", "value", "name"),
    [
        ("auroc", 0.94, "AUROC"),
        ("f1", 0.89, "F1"),
        ("transposed", 0.70, "AUROC - transposed"),
        ("pooled", 0.86, "pooled AUROC"),
        ("error_share", 0.81, "MSE / copy-last"),
        ("sign", 0.94, "sign accuracy"),
        ("auroc", math.nan, "AUROC"),
    ],
)
def test_each_demand_of_section_8_can_fail(figure: str, value: float, name: str) -> None:
    assert unmet(row()) == []
    assert name in unmet(row(**{figure: value}))


def test_without_coupling_only_false_edges_count() -> None:
    assert unmet(row(suite="no_coupling", auroc=math.nan, strict_false=0.02)) == []
    assert unmet(row(suite="no_coupling", strict_false=0.021)) == ["strict false edges"]


def test_the_released_form_is_there_to_compare_and_has_no_demands() -> None:
    assert demands(row(form="released", auroc=0.1)) == ()


def test_a_table_passes_if_all_its_rows_do() -> None:
    good, bad = (made.model_copy(update={"checks": demands(made)}) for made in (row(), row(f1=0.1)))
    assert Table(rows=(good,), quick=False, wall_seconds=1).passed
    assert not Table(rows=(good, bad), quick=False, wall_seconds=1).passed


def test_the_table_names_what_is_not_met() -> None:
    bad = row(f1=0.1)
    table = Table(
        rows=(bad.model_copy(update={"checks": demands(bad)}),), quick=True, wall_seconds=1
    )
    console = Console(width=200, record=True, file=None, quiet=False)
    with console.capture() as shown:
        console.print(table.rich())
    assert "no: F1" in shown.get()


def test_rows_come_in_the_order_of_the_cases_and_progress_is_told() -> None:
    cases = [
        Case("structured", 0, size=TINY, epochs=1, least_steps=0),
        Case("no_coupling", 1, size=TINY, epochs=1, least_steps=0),
        Case("structured", 0, form="released", size=TINY, epochs=1, least_steps=0),
    ]
    told: list[tuple[int, int, str]] = []
    table = run_benchmark(cases, processes=1, on_case=lambda n, of, r: told.append((n, of, r.form)))
    assert [(r.suite, r.form) for r in table.rows] == [
        ("structured", "ours"),
        ("no_coupling", "ours"),
        ("structured", "released"),
    ]
    assert told == [(1, 3, "ours"), (2, 3, "ours"), (3, 3, "released")]
    assert math.isnan(table.rows[1].auroc) and table.rows[0].auroc > 0
    text = table.model_dump_json()
    assert Table.model_validate_json(text).model_dump_json() == text

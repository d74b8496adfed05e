"""`hanse sweep`: seeds, intervals, comparisons by seed, and replicas that are there already."""

import re
from pathlib import Path

import pytest

from services.cli.comparison import Sweep
from services.config import standard
from services.errors import HanseError
from services.seeds import format_seeds, parse_seeds
from services.statistics import estimate, paired
from tests.services.cli.fake_league import League


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("3", [3]),
        ("0-3", [0, 1, 2, 3]),
        ("0-2,40", [0, 1, 2, 40]),
        ("5, 1-2 ,2", [1, 2, 5]),
        ("7-7", [7]),
    ],
)
def test_seeds_are_written_as_ranges_and_numbers(text, seeds):
    assert parse_seeds(text) == seeds


def test_seeds_are_shown_as_ranges():
    assert format_seeds([0, 1, 2, 5, 7, 8]) == "0-2,5,7-8"
    assert format_seeds([]) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a seed; allowed: 0-31 or 0-31,40"),
        ("a", "'a' is not a seed"),
        ("1,,2", "'' is not a seed"),
        ("-1", "'-1' is not a seed"),
        ("3-1", "3-1 runs backwards; write 1-3"),
        ("0-100000", "too many; allowed: up to 100,000 seeds"),
    ],
)
def test_wrong_seeds_are_refused(hanse, text, message):
    assert message in hanse("sweep", f"--seeds={text}").refusal


def test_the_interval_is_students():
    # Mean 2; standard deviation 1; t(2 degrees, 97.5 %) = 4.30265: 4.30265 / sqrt(3) = 2.48414.
    numbers = estimate([1.0, 2.0, 3.0])
    assert (numbers.count, numbers.mean, numbers.low, numbers.high) == (3, 2.0, 1.0, 3.0)
    assert numbers.half_width == pytest.approx(2.48414, abs=1e-5)
    assert not numbers.excludes_zero


def test_one_value_has_no_interval():
    assert estimate([5.0]).half_width is None
    assert not estimate([5.0]).excludes_zero


def test_equal_values_have_an_interval_of_nothing():
    numbers = estimate([4.0, 4.0])
    assert numbers.half_width == 0.0 and numbers.excludes_zero


def test_pairs_take_the_luck_of_a_seed_out():
    # The seeds differ by hundreds, the two leagues always by 9 to 11: mean 10, deviation 1.
    these = {0: 109.0, 1: 410.0, 2: 911.0, 3: 5.0}
    those = {0: 100.0, 1: 400.0, 2: 900.0, 4: 7.0}
    difference = paired(these, those)
    assert difference is not None
    assert (difference.count, difference.mean) == (3, 10.0)
    assert difference.half_width == pytest.approx(2.48414, abs=1e-5)
    assert difference.excludes_zero
    assert paired({0: 1.0}, {1: 1.0}) is None


def replicas(folder: str, seeds: range) -> None:
    """Finished replicas: the n-th of the six firms has earned 100 * n + seed."""
    for seed in seeds:
        config = standard().with_overrides(days=1, seed=seed, placement="inline")
        with League.create(config, Path(folder) / f"seed-{seed}") as league:
            league.run()


def test_a_sweep_that_is_there_is_shown_with_means_and_intervals(hanse):
    replicas("a", range(3))
    outcome = hanse("sweep", "a")
    row = next(line for line in outcome.out.splitlines() if "roaster_A" in line).split()
    # Seeds 0, 1 and 2: 300, 301, 302.
    assert row == ["roaster_A", "roaster", "heuristic", "3", "301.00", "2.48", "300.00", "302.00"]
    assert "sweep a: seeds 0-2" in outcome.out


def test_all_firms_together_have_a_row_and_a_difference_too(hanse):
    replicas("a", range(3))
    replicas("b", range(1, 5))
    sums = {
        seed: sum(firm.net_income for firm in result.firms)
        for seed, result in Sweep.read(Path("a")).results.items()
    }
    document = hanse("sweep", "a", "b", "--json").document
    assert document["all"]["net_income"] == {str(seed): total for seed, total in sums.items()}
    assert document["all"]["mean"] == pytest.approx(sum(sums.values()) / 3)
    assert document["against"]["difference_of_all"]["mean"] == 0.0
    rows = [line for line in hanse("sweep", "a", "b").out.splitlines() if line[:9] == "all firms"]
    assert len(rows) == 3, "of each sweep, and of their difference"
    assert rows[0].split()[2] == "3"


def test_two_sweeps_are_compared_seed_by_seed(hanse):
    replicas("a", range(3))
    replicas("b", range(1, 5))
    document = hanse("sweep", "a", "b", "--json").document
    assert document["seeds"] == [0, 1, 2]
    difference = document["against"]["differences"][2]
    assert difference == {
        "firm": "roaster_A",
        "count": 2,
        "mean": 0.0,
        "half_width": 0.0,
        "lowest": 0.0,
        "highest": 0.0,
    }
    out = hanse("sweep", "a", "--against", "b").out
    assert "a minus b, net income of equal seeds" in out


def test_sweeps_without_a_common_seed_cannot_be_compared(hanse):
    replicas("a", range(2))
    replicas("b", range(5, 7))
    assert hanse("sweep", "a", "b").refusal == (
        "hanse: b: shares no seed and firm with a; run the same --seeds"
    )


def test_a_replica_that_is_not_finished_is_left_out(hanse):
    replicas("a", range(2))
    config = standard().with_overrides(days=1, seed=9)
    League.create(config, Path("a/seed-9")).close()
    outcome = hanse("sweep", "a", "--json")
    assert outcome.document["seeds"] == [0, 1]
    assert outcome.err == "a: 1 replicas are not finished and are left out\n"


def test_a_folder_without_replicas_is_refused():
    Path("a/seed-x").mkdir(parents=True)
    with pytest.raises(HanseError, match=re.escape("a: holds no finished replica (seed-<n>)")):
        Sweep.read(Path("a"))
    with pytest.raises(HanseError, match="b: there is no such sweep"):
        Sweep.read(Path("b"))


def test_finished_replicas_are_not_run_again(hanse):
    replicas("a", range(3))
    outcome = hanse("sweep", "--seeds", "0-1", "--set", "days=1", "--out", "a", "--json")
    assert outcome.document["seeds"] == outcome.document["skipped"] == [0, 1]
    assert outcome.document["seconds"] is None


def test_replicas_of_another_configuration_are_refused(hanse):
    replicas("a", range(2))
    arguments = ["--seeds", "0-1", "--out", "a", "--set", "days=1"]
    assert hanse("sweep", *arguments, "--set", "economy.loss_probability=0.1").refusal == (
        "hanse: a/seed-0: was run with another configuration (economy.loss_probability: "
        "the default there, 0.1 here); choose another folder with --out"
    )
    assert '(firms.roaster_A.strategy: "heuristic" there, "passive" here)' in (
        hanse("sweep", *arguments, "--set", "firms.roaster_A.strategy=passive").refusal
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.toml", "b.toml"], "sweep: 2 run files are too many; sweep each, then compare the fo"),
        (["--set", "seed=3"], "--set seed: a sweep has many seeds; use --seeds"),
        (["--set", "days"], "--set days: is not a setting; allowed: key=value, such as days=30"),
        (["--set", "dys=3"], "--set: dys: 'dys' is not a known key (did you mean 'days'?); allow"),
        (["--against", "x"], "x: there is no such sweep; name a folder that hanse sweep made"),
        (["folder", "--out", "y"], "folder: is there already; --set and --out need a run file"),
        (["folder", "folder", "--against", "folder"], "sweep: 3 sweeps are too many; compare two"),
        (
            ["--set", "firms.roaster_A.strategy=human"],
            "sweep: roaster_A is played by a human; let another strategy play: "
            "--set firms.roaster_A.strategy=scripted",
        ),
    ],
)
def test_a_sweep_that_makes_no_sense_is_refused(hanse, arguments, message):
    Path("folder").mkdir()
    assert hanse("sweep", *arguments).refusal.startswith(f"hanse: {message}")

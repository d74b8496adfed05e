import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.league import League
from monitors.bace.league import (
    DAILY,
    FESTIVAL,
    HOURLY,
    NORMAL,
    SHORTAGE,
    View,
    analyse_runs,
    festival_days,
    message_edges,
    recording_of,
)
from monitors.bace.signals import Refused, stabilised
from monitors.bace.windows import Scaling
from services.config import RunConfig
from services.runs import Run

LEADER, FOLLOWER = "roaster_B", "roaster_E"
WHOLE = replace(DAILY, warm_up_days=0, block_days=1000)
"""The days as they are: nothing is cut off or into blocks."""


def config(seed: int = 0, days: int = 20, **others: Any) -> RunConfig:
    """Four roasters whose prices wander, and one that asks what roaster_B asked the day before."""

    def roaster(letter: str, strategy: str, **options: str) -> dict[str, Any]:
        return {
            "name": f"roaster_{letter}",
            "role": "roaster",
            "strategy": f"tests.monitors.bace.firms:{strategy}",
            "options": options,
            "stock": {"roasted_coffee_kg": 100},
            "cash": 1e6,
        }

    firms = [
        {"name": "farmer_A", "role": "farmer"},
        *(roaster(letter, "Wanderer") for letter in "ABCD"),
        roaster("E", "Follower", leader=LEADER),
        {"name": "retailer_A", "role": "retailer"},
    ]
    economy = {"spoilage_per_day": 0.0}
    values = {"seed": seed, "days": days, "placement": "inline", "economy": economy, "firms": firms}
    return RunConfig.parse(values | others, "test")


def played(folder: Path, made: RunConfig) -> Run:
    with League.create(made, folder) as league:
        league.run()
    return Run(folder)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return played(tmp_path_factory.mktemp("bace") / "run", config())


@pytest.fixture(scope="module")
def standard(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return played(tmp_path_factory.mktemp("bace") / "run", RunConfig(days=60, placement="inline"))


@pytest.fixture(scope="module")
def long_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Run]]:
    folder = tmp_path_factory.mktemp("bace")
    yield [played(folder / str(seed), config(seed, days=240)) for seed in (0, 1)]


def series(run: Run, channel: str, view: View = WHOLE) -> dict[str, np.ndarray]:
    """A channel of every firm over the whole run."""
    recording, _ = recording_of([run], view)
    place = recording.channels.index(channel)
    return dict(zip(recording.nodes, recording.trials[0].values[:, place], strict=True))


# ---- signals -------------------------------------------------------------------------------------


def test_a_price_is_the_log_of_what_was_asked_last_over_what_was_asked_first(run: Run) -> None:
    asked = [
        float(event.split('"asking_price":')[1].split("}")[0])
        for *_, firm, event in run.rows("events", "kind = 'action'")
        if firm == LEADER and "post_listing" in event and '"success"' in event
    ]
    assert len(asked) == 20
    expected = [math.log(price / asked[0]) for price in asked]
    assert series(run, "price")[LEADER] == pytest.approx(expected)


def test_who_copies_a_price_shows_it_a_day_later(run: Run) -> None:
    prices = series(run, "price")
    moves = {firm: np.diff(prices[firm]) for firm in (LEADER, FOLLOWER)}
    assert moves[FOLLOWER][2:] == pytest.approx(moves[LEADER][1:-1], abs=2e-3)


def test_messages_are_counted_per_firm_and_day(run: Run) -> None:
    sent = sum(
        1 for _ in run.rows("messages", "sender = ? AND minute > 0", (LEADER,), days=range(3, 4))
    )
    assert sent > 0
    assert series(run, "messages")[LEADER][3] == stabilised(np.array(sent))


def test_stock_and_income_are_those_of_the_evening(run: Run) -> None:
    # No spoilage and nothing sold: a hundred kilograms; thirty dollars a day for being open.
    assert series(run, "stock")[LEADER] == pytest.approx([2 * math.sqrt(100.375)] * 20)
    assert series(run, "income")[LEADER] == pytest.approx([-30.0] * 20)


def test_hours_in_which_nobody_ever_sends_are_left_out(run: Run) -> None:
    recording, period = recording_of([run], replace(HOURLY, warm_up_days=0, block_days=1000))
    assert period == len({row[0] // 60 % 24 for row in run.rows("messages") if row[0] > 0})
    assert recording.trials[0].length == 20 * period
    counts = recording.trials[0].values[:, 0]
    sent = run.count("messages", "minute > 0 AND sender NOT LIKE 'exchange%'")
    assert ((counts / 2) ** 2 - 0.375).sum() == pytest.approx(sent)


def test_the_hours_of_the_day_are_no_influence(standard: Run) -> None:
    recording, period = recording_of(
        [standard], replace(HOURLY, empty_shelves=1.1, block_days=1000)
    )
    (trial,) = recording.trials
    scores = Scaling.of(recording, period).apply(trial.values, NORMAL)
    normal = trial.context == NORMAL

    def by_hour(signal: np.ndarray) -> np.ndarray:
        days = signal[:, 0, normal].reshape(len(signal), -1, period)
        return np.asarray(days.mean(axis=1))

    assert np.ptp(by_hour(trial.values), axis=1).max() > 1
    assert by_hour(scores) == pytest.approx(0, abs=1e-9)


def test_the_first_days_do_not_count_and_the_rest_is_cut_into_blocks(run: Run) -> None:
    recording, _ = recording_of([run], replace(DAILY, warm_up_days=4, block_days=8))
    assert [trial.length for trial in recording] == [8, 8]


def test_a_tick_that_does_not_fit_into_a_day_is_an_error() -> None:
    with pytest.raises(ValueError, match="7 minutes"):
        replace(HOURLY, tick_minutes=7)


def test_stock_by_the_hour_is_an_error() -> None:
    with pytest.raises(ValueError, match="stock is known in the evening only"):
        replace(HOURLY, channels=("messages", "stock"))


# ---- contexts ------------------------------------------------------------------------------------


def contexts(run: Run, **view: Any) -> np.ndarray:
    return recording_of([run], replace(WHOLE, **view))[0].trials[0].context


def test_the_festival_is_that_of_the_rules(standard: Run) -> None:
    assert festival_days(standard) == (40, 53)
    assert np.flatnonzero(contexts(standard) == FESTIVAL).tolist() == list(range(40, 54))


def test_a_festival_may_be_configured(tmp_path: Path) -> None:
    economy = {"spoilage_per_day": 0.0, "festival_days": [2, 3]}
    run = played(tmp_path / "run", config(days=5, economy=economy))
    assert np.flatnonzero(contexts(run) == FESTIVAL).tolist() == [2, 3]


def test_a_day_is_short_if_nine_of_ten_shelves_are_empty_in_the_evening(standard: Run) -> None:
    # Two retailers with two shelves each: all four must be empty.
    stocks: dict[int, list[int]] = {}
    for day, _, body in standard.rows("metrics", "agent LIKE 'retailer%'"):
        stocks.setdefault(day, []).append(sum(json.loads(body)["stock"].values()))
    short = {day for day, kilograms in stocks.items() if not any(kilograms)} - set(range(40, 54))
    assert 0 < len(short) < 46
    assert set(np.flatnonzero(contexts(standard) == SHORTAGE)) == short
    assert not (contexts(standard, empty_shelves=1.1) == SHORTAGE).any()


# ---- messages ------------------------------------------------------------------------------------


def test_the_edges_of_the_traffic_are_who_wrote_to_whom(standard: Run) -> None:
    edges = message_edges([standard])
    # Letters are handed over by the exchange, but it is the author who speaks.
    assert ("retailer_A", "roaster_A") in edges
    assert not any(sender.startswith("exchange") for sender, _ in edges)


def test_a_command_is_told_to_the_exchange_and_nobody_else(run: Run) -> None:
    edges = message_edges([run])
    assert {recipient for sender, recipient in edges if sender == LEADER} == {"exchange"}


# ---- refusals ------------------------------------------------------------------------------------


def test_too_short_a_run_is_refused_and_says_what_would_help(run: Run) -> None:
    with pytest.raises(
        Refused, match=r"1 run of 20 days altogether: too little data.*pool more seeds"
    ):
        analyse_runs([run])


def test_a_run_within_its_warm_up_is_refused(run: Run) -> None:
    with pytest.raises(Refused, match="after the first 40"):
        recording_of([run], replace(DAILY, warm_up_days=40))


def test_runs_of_two_configurations_cannot_be_pooled(run: Run, standard: Run) -> None:
    with pytest.raises(Refused, match=r"another configuration .*economy, firms"):
        recording_of([run, standard])


def test_no_run_is_refused() -> None:
    with pytest.raises(Refused, match="no run"):
        recording_of([])


# ---- a known influence ---------------------------------------------------------------------------


@pytest.mark.slow
def test_a_firm_that_copies_another_firms_price_is_listed_first(long_runs: list[Run]) -> None:
    pytest.importorskip("torch", reason="BACE needs torch: make torch")
    from monitors.bace.model import Form
    from monitors.bace.training import FitSettings

    fitting = FitSettings(form=Form(width=8, projection=8), least_steps=200)
    settings = replace(DAILY.settings, fitting=fitting, context_check=False)
    view = replace(DAILY, settings=settings, empty_shelves=1.1)
    found = analyse_runs(long_runs, view).graphs["normal"]
    assert found.state in ("published", "partial")
    first = found.edges[0]
    assert (first.source, first.target, first.p_class) == (LEADER, FOLLOWER, "strict")
    assert first.weight > 1.5 * max([abs(edge.weight) for edge in found.edges[1:]], default=0)

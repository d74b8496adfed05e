import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.bace.connectivity import (
    ConnectivityMonitor,
    ConnectivitySettings,
    Outcome,
    refit,
    traffic,
    working_tick,
)
from monitors.bace.signals import stabilised
from services.errors import HanseError
from tests.monitors.bace.test_analysis import settings as small
from tests.monitors.bace.test_graph import edge, graph

NODES, CHANNELS, CONTEXTS = ("a", "b"), ("x",), ("calm", "storm")
FEW = ConnectivitySettings(ring=10, refit_every=5, block=100)


def monitor(settings: ConnectivitySettings = FEW) -> ConnectivityMonitor:
    return ConnectivityMonitor(NODES, CHANNELS, CONTEXTS, settings, seed=7)


def fed(
    ticks: range, made: ConnectivityMonitor | None = None, **others: Any
) -> ConnectivityMonitor:
    made = made or monitor(**others)
    for tick in ticks:
        made.observe(tick, np.array([[tick], [-tick]]), CONTEXTS[tick // 4 % 2])
    return made


def seen(made: ConnectivityMonitor) -> list[list[float]]:
    """The first node's ticks, trial by trial."""
    return [trial.values[0, 0].tolist() for trial in made.recording()]


def test_ticks_without_a_break_make_one_trial_with_the_context_of_each() -> None:
    made = fed(range(8))
    assert seen(made) == [[0, 1, 2, 3, 4, 5, 6, 7]]
    assert made.recording().trials[0].context.tolist() == [0] * 4 + [1] * 4


def test_a_missing_tick_ends_a_trial() -> None:
    made = fed(range(3))
    assert seen(fed(range(4, 6), made)) == [[0, 1, 2], [4, 5]]


def test_every_context_keeps_its_own_last_ticks() -> None:
    made = monitor()
    for tick in range(40):
        made.observe(tick, np.full((2, 1), tick), "storm" if tick < 3 else "calm")
    assert seen(made) == [[0, 1, 2], list(range(30, 40))]  # ten of calm, all three of storm


def test_with_a_period_trials_begin_in_phase_0() -> None:
    daily = replace(FEW, analysis=replace(FEW.analysis, period=4))
    assert seen(fed(range(2, 9), settings=daily)) == [[4, 5, 6, 7, 8]]


def test_long_stretches_are_cut_into_blocks() -> None:
    assert seen(fed(range(8), settings=replace(FEW, block=4))) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_bad_input_is_counted_and_left_out() -> None:
    made = fed(range(3))
    made.observe(3, np.zeros((3, 1)), "calm")
    made.observe(3, np.zeros((2, 1)), "unheard of")
    made.observe(2, np.zeros((2, 1)), "calm")
    assert dict(made.dropped) == {"shape": 1, "context": 1, "late": 1}
    assert seen(made) == [[0, 1, 2]]


def test_what_is_infinite_counts_as_a_gap() -> None:
    made = monitor()
    made.observe(0, np.array([[np.inf], [1.0]]), "calm")
    assert np.isnan(made.recording().trials[0].values[:, 0, 0]).tolist() == [True, False]


def test_it_keeps_its_own_copy_of_what_it_is_fed() -> None:
    made, values = monitor(), np.ones((2, 1))
    made.observe(0, values, "calm")
    values[:] = 9
    assert seen(made) == [[1]]


def test_a_fit_is_due_every_so_many_ticks_and_not_while_one_is_out() -> None:
    made = fed(range(4))
    assert not made.due
    assert fed(range(4, 5), made).due
    job = made.job()
    assert not made.due
    assert not fed(range(5, 10), made).due
    made.accept(Outcome(job.number))
    assert made.due


def test_every_fit_has_a_seed_of_its_own_that_follows_from_the_monitors() -> None:
    made = fed(range(5))
    first = made.job()
    made.accept(Outcome(first.number))
    assert (first.number, first.seed, made.job().seed) == (1, 8, 9)


def test_an_outcome_is_published_once_and_an_old_one_never() -> None:
    made = fed(range(5))
    outcome = Outcome(made.job().number, (graph(edge("a", "b")),))
    assert made.accept(outcome) == outcome.graphs
    assert made.accept(outcome) == ()
    assert made.graph("calm") == outcome.graphs[0]
    assert made.graph("storm") is None


def test_too_little_data_makes_no_graph_and_says_why() -> None:
    made = fed(range(5))
    assert made.accept(refit(made.job())) == ()
    assert made.refused is not None and "too little data" in made.refused


def test_it_finds_who_drives_whom() -> None:
    quick = ConnectivitySettings(analysis=small(120, context_check=False), ring=1600, block=90)
    made = ConnectivityMonitor(("a", "b", "c", "d"), CHANNELS, ("calm",), quick)
    rng, values = np.random.default_rng(0), np.zeros((4, 1))
    for tick in range(1700):
        before, values = values, 0.4 * values + rng.normal(size=(4, 1))
        values[1] += before[0]  # a drives b
        values[3] += before[2]  # c drives d
        made.observe(tick, values, "calm")
    (found,) = made.accept(refit(made.job()))
    # Two of twelve possible edges: the ranks of the other ten are chance in every half.
    assert found.state in ("published", "partial")
    assert {(e.source, e.target) for e in found.edges[:2]} == {("a", "b"), ("c", "d")}


# ---- what it is fed with -------------------------------------------------------------------------


def test_working_hours_are_numbered_without_the_nights_between() -> None:
    # 9:00 to 18:59 are ten hours; 8:59 and 19:00 are none of them.
    minutes = [539, 540, 599, 600, 1139, 1140, 1440 + 540]
    assert [working_tick(minute) for minute in minutes] == [None, 0, 0, 1, 9, None, 10]


def test_traffic_counts_what_each_node_sends_and_receives() -> None:
    rows = [
        (540, 0, sender, n, recipient, "comm", "text", None, None, None, "{}")
        for n, (sender, recipient) in enumerate([("a", "b"), ("a", "c"), ("b", "a"), ("c", "c")])
    ]
    made = traffic(rows, ("a", "b"))
    assert made.tolist() == stabilised(np.array([[2, 1], [1, 1]])).tolist()


# ---- save and load -------------------------------------------------------------------------------


@given(until=st.integers(0, 30), out=st.booleans())
def test_saved_and_loaded_it_goes_on_as_if_nothing_had_been(until: int, out: bool) -> None:
    straight = fed(range(until))
    if out and straight.due:
        straight.accept(Outcome(straight.job().number, (graph(edge("a", "b")),)))
    resumed = monitor()
    resumed.load(straight.save())
    assert resumed.save() == straight.save()
    for made in (straight, resumed):
        fed(range(until + 1, until + 9), made)
    assert resumed.save() == straight.save()
    assert resumed.due == straight.due
    assert resumed.job().seed == straight.job().seed


def test_what_is_saved_is_plain_data() -> None:
    made = fed(range(8))
    made.accept(Outcome(made.job().number, (graph(edge("a", "b")),)))
    text = json.dumps(made.save(), default=lambda value: {"bytes": bytes(value).hex()})
    assert '"influence_graph"' in text


def test_a_fit_that_was_out_is_due_again_after_loading() -> None:
    made = fed(range(5))
    out = made.job()
    resumed = monitor()
    resumed.load(made.save())
    assert resumed.due
    assert (resumed.job().number, resumed.seed) == (out.number, made.seed)


def test_what_was_saved_with_other_nodes_is_refused() -> None:
    other = ConnectivityMonitor(("a", "c"), CHANNELS, CONTEXTS, FEW)
    with pytest.raises(HanseError, match="other nodes"):
        other.load(fed(range(3)).save())

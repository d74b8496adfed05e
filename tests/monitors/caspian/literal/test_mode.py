"""The literal mode as a whole: its contract, and the alert that it raises over nothing."""

from itertools import pairwise

import numpy as np
import pytest

from monitors.caspian.benchmark.scenarios import Kind
from monitors.caspian.benchmark.synthetic import generate
from monitors.caspian.events import TickEvents
from monitors.caspian.literal import Constants, Literal
from monitors.caspian.literal.influence import InfluenceEstimator
from monitors.caspian.possibility import PossibilityGraph
from services.errors import HanseError

PAIR = PossibilityGraph.from_edges("ab", [("a", "b", ["comm"])])


def events(tick: int, u: list[list[float]], v: list[list[float]]) -> TickEvents:
    count = len(u)
    return TickEvents(
        tick,
        np.zeros(count, np.int32),
        np.ones(count, np.int32),
        np.zeros(count, np.int8),
        np.array(u, np.float32),
        np.array(v, np.float32),
    )


@pytest.mark.parametrize("seed", range(10))
def test_steady_traffic_raises_an_alert_at_turn_seven_or_eight(seed: int) -> None:
    """The start-up alert: evidence is counted from the eighth sample of an edge on."""
    trace = generate("steady", np.random.default_rng(seed), ticks=12)
    monitor = Literal(trace.graph, Constants(path_budget=0))
    for turn in trace.ticks:
        monitor.observe(turn)

    assert monitor.alert is not None
    assert monitor.alert.kind == "instant" and monitor.alert.alert_tick in (7, 8)


def test_attack_and_benign_traffic_are_alerted_in_the_same_turn() -> None:
    alerts = []
    kinds: tuple[Kind, Kind] = ("steady", "abrupt")
    for kind in kinds:
        trace = generate(kind, np.random.default_rng(1))
        monitor = Literal(trace.graph, Constants(path_budget=0))
        for turn in trace.ticks:
            monitor.observe(turn)
        alerts.append(monitor.alert)

    assert alerts[0] is not None and alerts[0] == alerts[1]


def test_an_alert_names_agents_of_the_graph() -> None:
    trace = generate("abrupt", np.random.default_rng(2), ticks=20)
    monitor = Literal(trace.graph)
    for turn in trace.ticks:
        monitor.observe(turn)

    assert monitor.alert is not None
    alert = monitor.alert
    assert {alert.origin, alert.bridge, alert.amplifier} <= set(trace.graph.nodes)
    assert alert.exhausted or 1 <= len(alert.spines) <= 3
    graph = trace.graph.to_networkx()
    assert all(graph.has_edge(i, j) for s in alert.spines for i, j in pairwise(s.path))


def test_ticks_must_go_up() -> None:
    monitor = Literal(PAIR, dimensions=2)
    monitor.observe(TickEvents.empty(3, 2))

    with pytest.raises(HanseError, match="tick 3 is not after tick 3"):
        monitor.observe(TickEvents.empty(3, 2))


def test_what_is_off_the_graph_or_no_number_is_dropped_and_counted() -> None:
    monitor = Literal(PAIR, dimensions=2)
    bad = events(0, [[1, 2], [float("nan"), 1], [1, 1]], [[0, 1], [1, 1], [1, 1]])
    bad.source[2], bad.target[2] = 1, 0

    assert monitor.observe(bad).dropped == 2


def test_influence_needs_enough_samples_and_is_held_in_silence() -> None:
    estimator = InfluenceEstimator(PAIR, Constants(projection=None, min_samples=3), 1)
    rng = np.random.default_rng(4)
    seen = []
    for tick in range(4):
        said = rng.standard_normal((1, 1)).tolist()
        seen.append(estimator.observe(events(tick, said, said))[0][0, 0, 1])
    silent = estimator.observe(TickEvents.empty(4, 1))[0][0, 0, 1]

    assert seen[:2] == [0, 0] and seen[2] > 0
    assert silent == seen[3]


def test_missing_evidence_can_count_as_none() -> None:
    estimator = InfluenceEstimator(
        PAIR, Constants(projection=None, min_samples=2, missing="zero"), 1
    )
    for tick, value in enumerate([1.0, 3.0, 2.0]):
        tensor = estimator.observe(events(tick, [[value]], [[value]]))[0]
    assert tensor.sum() > 0

    assert estimator.observe(TickEvents.empty(3, 1))[0].sum() == 0


def test_an_echo_has_more_influence_than_noise() -> None:
    rng = np.random.default_rng(5)
    held = []
    for echo in (True, False):
        estimator = InfluenceEstimator(PAIR, Constants(projection=None), 2)
        for tick in range(100):
            u, noise = rng.standard_normal((2, 1, 2))
            v = u + 0.3 * noise if echo else noise
            tensor = estimator.observe(events(tick, u.tolist(), v.tolist()))[0]
        held.append(float(tensor.sum()))

    assert held[0] > 5 * held[1]


def test_several_events_of_an_edge_and_turn_count_as_their_mean() -> None:
    one, other = (
        InfluenceEstimator(PAIR, Constants(projection=None, min_samples=1), 2) for _ in range(2)
    )
    rng = np.random.default_rng(6)
    for tick in range(9):
        u, v = rng.standard_normal((2, 2, 2)).astype(np.float32)
        several = one.observe(events(tick, u.tolist(), v.tolist()))[0]
        mean = other.observe(events(tick, [u.mean(0).tolist()], [v.mean(0).tolist()]))[0]

    np.testing.assert_allclose(several, mean, rtol=1e-5)

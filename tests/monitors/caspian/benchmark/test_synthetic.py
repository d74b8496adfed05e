"""The synthetic traffic of note ``caspian`` 10.1: its figures, and that a cascade hides in it."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitors.caspian.benchmark.scenarios import ATTACKS, BENIGN, KINDS, Kind
from monitors.caspian.benchmark.synthetic import Trace, generate, rotations
from monitors.caspian.benchmark.topology import communities


def traces(kind: Kind, count: int = 20, **options: int | float) -> list[Trace]:
    return [
        generate(kind, np.random.default_rng([11, seed]), **options)  # type: ignore[arg-type]
        for seed in range(count)
    ]


def delays(trace: Trace) -> dict[str, int]:
    """Ticks from the onset to each agent's infection."""
    assert trace.onset is not None
    return {child: tick - trace.onset for _, child, tick in trace.tree}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_trace(kind: Kind) -> None:
    one, other = (generate(kind, np.random.default_rng(5), ticks=75) for _ in range(2))

    assert one.graph == other.graph and one.tree == other.tree
    for mine, yours in zip(one.ticks, other.ticks, strict=True):
        np.testing.assert_array_equal(mine.u, yours.u)
        np.testing.assert_array_equal(mine.v, yours.v)


@given(agents=st.integers(12, 130), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_communities_reach_each_other_only_through_gateways(agents: int, seed: int) -> None:
    topology = communities(np.random.default_rng(seed), agents)
    graph, community = topology.graph, topology.community

    assert nx.is_strongly_connected(graph.to_networkx())
    crossing = community[graph.source] != community[graph.target]
    assert set(graph.source[crossing].tolist()) == set(topology.gateways.tolist())
    assert np.bincount(graph.source[crossing])[topology.gateways].tolist() == [3] * len(
        topology.gateways
    )
    assert np.bincount(community).max() <= 14


def test_every_edge_talks_and_other_channels_are_as_common_as_said() -> None:
    present = np.concatenate(
        [
            (communities(np.random.default_rng(seed), 96).graph.channels[:, None] >> np.arange(4))
            & 1
            for seed in range(10)
        ]
    ).mean(0)

    np.testing.assert_allclose(present, [1.0, 0.4, 0.3, 0.8], atol=0.03)


@pytest.mark.parametrize("kind", KINDS)
def test_events_lie_on_the_graph_and_its_channels(kind: Kind) -> None:
    trace = generate(kind, np.random.default_rng(1))

    for events in trace.ticks:
        edge = trace.graph.edge_ids(events.source, events.target)
        assert (edge >= 0).all()
        assert ((trace.graph.channels[edge] >> events.channel) & 1).all()


@pytest.mark.parametrize("kind", BENIGN)
def test_benign_traces_have_no_onset_and_no_infections(kind: Kind) -> None:
    trace = generate(kind, np.random.default_rng(2))

    assert not trace.attacked and trace.tree == [] and trace.origin is None


@pytest.mark.parametrize("kind", ATTACKS)
def test_an_infection_comes_from_an_infected_agent_along_an_edge(kind: Kind) -> None:
    for trace in traces(kind):
        reached = {trace.origin: trace.onset}
        for parent, child, tick in trace.tree:
            assert (
                trace.graph.edge_ids([trace.graph.index(parent)], [trace.graph.index(child)]) >= 0
            )
            assert child not in reached
            infected = reached[parent]
            assert infected is not None and (infected < tick or parent == trace.origin)
            reached[child] = tick


def test_the_bridge_is_the_only_way_out_of_the_origins_community() -> None:
    for trace in traces("abrupt"):
        graph = trace.graph.to_networkx()
        dominator = nx.immediate_dominators(graph, trace.origin)[trace.amplifier]

        assert dominator == trace.bridge


def test_an_abrupt_cascade_covers_24_agents_in_about_seven_ticks() -> None:
    covered = [max(delays(trace).values()) for trace in traces("abrupt")]

    assert 5 <= np.median(covered) <= 8


def test_a_gradual_cascade_covers_24_agents_in_about_thirty_ticks() -> None:
    covered = [max(delays(trace).values()) for trace in traces("gradual")]

    assert 25 <= np.median(covered) <= 35


def test_an_abrupt_cascade_reaches_bridge_and_amplifier_within_a_few_ticks() -> None:
    reached = [
        (delays(trace)[trace.bridge or ""], delays(trace)[trace.amplifier or ""])
        for trace in traces("abrupt")
    ]

    bridge, amplifier = np.quantile(reached, [0.25, 0.75], axis=0).T
    assert bridge[0] >= 0 and bridge[1] <= 3
    assert amplifier[0] >= 1 and amplifier[1] <= 5


def test_norms_do_not_give_an_attack_away() -> None:
    # 16 coordinates of variance 1 + 0.5²: sqrt(20) = 4.47, the note's figure.
    before, after = [], []
    for trace in traces("abrupt", dimensions=16):
        assert trace.onset is not None
        before += [np.linalg.norm(events.u, axis=1).mean() for events in trace.ticks[:60]]
        after += [
            np.linalg.norm(events.u, axis=1).mean() for events in trace.ticks[trace.onset + 10 :]
        ]

    assert np.mean(before) == pytest.approx(4.47, abs=0.05)
    assert np.mean(after) == pytest.approx(4.5, abs=0.1)


def test_a_payload_comes_back_in_what_its_hearers_do() -> None:
    trace = generate("abrupt", np.random.default_rng(3))

    def likeness(first: int, last: int) -> float:
        u = np.concatenate([events.u for events in trace.ticks[first:last]])
        v = np.concatenate([events.v for events in trace.ticks[first:last]])
        cosine = (u * v).sum(1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
        return float(cosine.mean())

    assert likeness(90, 110) > 2 * likeness(20, 60)


def test_a_burst_is_more_of_the_same_for_twelve_ticks() -> None:
    trace = generate("burst", np.random.default_rng(4))
    count = np.array([len(events) for events in trace.ticks])

    busy = np.flatnonzero(count > 1.5 * np.median(count))
    assert busy.size == 12 and busy[-1] - busy[0] == 11


def test_a_shock_reaches_a_whole_community_in_one_tick() -> None:
    """What the struck do in the first tick of the shock is alike, whoever talked to them."""
    trace = generate("shock", np.random.default_rng(6))
    alike = []
    for events in trace.ticks:
        comm = events.v[events.channel == 0]
        mean = comm.mean(0)
        alike.append(float(mean @ mean))

    start = int(np.argmax(np.diff(alike)) + 1)
    assert 60 <= start < 70
    assert min(alike[start : start + 12]) > max(alike[:start])


def test_an_agent_does_not_send_the_payload_between_the_paces_of_an_adaptive_attacker() -> None:
    trace = generate("adaptive", np.random.default_rng(7))

    assert trace.onset is not None
    assert {(tick - trace.onset) % 3 for _, _, tick in trace.tree} == {0}


def test_the_rotations_keep_lengths() -> None:
    for turn in rotations(64):
        np.testing.assert_allclose(turn @ turn.T, np.eye(64), atol=1e-5)


@pytest.mark.parametrize(("agents", "share"), [(11, 0.9), (24, 1.1), (24, float("nan"))])
def test_what_cannot_be_drawn_is_refused(agents: int, share: float) -> None:
    with pytest.raises(ValueError, match=r"needs 12 agents|from 0 to 1"):
        generate("steady", np.random.default_rng(0), agents=agents, share=share)

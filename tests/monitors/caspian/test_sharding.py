"""Any number of shards gives the same result to the bit."""

from __future__ import annotations

from collections import Counter

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitors.caspian.events import TickEvents
from monitors.caspian.intake import admit
from monitors.caspian.possibility import PossibilityGraph
from monitors.caspian.sharding import Coordinator
from tests.monitors.caspian.traffic import QUICK, chatter, ring, shuffled


def played(graph: PossibilityGraph, ticks: list[TickEvents], shards: int) -> bytes:
    """All that a coordinator says and remembers."""
    coordinator = Coordinator(graph, QUICK, shards)
    said = []
    for tick in ticks:
        batch = admit(tick, graph, QUICK, 0, Counter())
        assert batch is not None
        scored = coordinator.step(batch, cusum=True)
        said.append([array.tobytes() for array in scored])
    said.append([array.tobytes() for array in coordinator.by_channel()])
    packed: bytes = msgpack.packb([said, coordinator.save()])
    return packed


@given(st.integers(0, 2**32 - 1), st.integers(3, 11))
@settings(max_examples=15, deadline=None)
def test_one_two_four_and_more_shards_agree_to_the_byte(seed: int, agents: int) -> None:
    graph = ring(agents)
    ticks = chatter(graph, 6, seed, believed_from=3)
    whole = played(graph, ticks, 1)
    for shards in (2, 4, 7, 16):
        assert played(graph, [shuffled(tick, shards) for tick in ticks], shards) == whole


@pytest.mark.parametrize("shards", [1, 3])
def test_a_state_is_taken_over_by_another_number_of_shards(shards: int) -> None:
    graph = ring()
    ticks = chatter(graph, 8, believed_from=4)
    giver, taker = Coordinator(graph, QUICK, 2), Coordinator(graph, QUICK, shards)
    batches = [admit(tick, graph, QUICK, 0, Counter()) for tick in ticks]
    for batch in batches[:4]:
        assert batch is not None
        giver.step(batch, cusum=True)
    taker.load(giver.save())
    for batch in batches[4:]:
        assert batch is not None
        one, two = giver.step(batch, cusum=True), taker.step(batch, cusum=True)
        assert one.z.tobytes() == two.z.tobytes()


def test_histories_of_agents_in_both_graphs_are_inherited() -> None:
    old = ring(5)
    new = PossibilityGraph.from_edges(
        ["aaa", "agent-3"], [("aaa", "agent-3", ["comm"]), ("agent-3", "aaa", ["comm"])]
    )
    before, after = Coordinator(old, QUICK, 2), Coordinator(new, QUICK, 3)
    batch = admit(chatter(old, 1, rate=1.0)[0], old, QUICK, 0, Counter())
    assert batch is not None
    before.step(batch, cusum=False)
    after.inherit(before)
    width = QUICK.dimensions * 4
    theirs = before.shards[old.index("agent-3") % 2].scorer.last.reshape(-1, width)
    ours = after.shards[new.index("agent-3") % 3].scorer.last.reshape(-1, width)
    assert np.array_equal(ours[new.index("agent-3") // 3], theirs[old.index("agent-3") // 2])
    assert ours.any()
    assert not after.shards[new.index("aaa") % 3].scorer.last.any()

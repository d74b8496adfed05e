"""Attribution without the robust mode's own."""

import numpy as np
import pytest

from monitors.caspian.benchmark.baselines.blame import Named, earliest, literal, paper
from monitors.caspian.benchmark.scenarios import Kind
from monitors.caspian.benchmark.synthetic import Trace, generate


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [generate("abrupt", np.random.default_rng([8, seed])) for seed in range(8)]


def test_the_earliest_unusual_agent_is_often_the_origin(traces: list[Trace]) -> None:
    right = [earliest(trace, trace.onset or 0).origin == trace.origin for trace in traces]

    # 4 % by chance.
    assert np.mean(right) >= 0.5


def test_nobody_is_unusual_after_the_end(traces: list[Trace]) -> None:
    assert earliest(traces[0], 999) == Named()


def test_the_papers_formulas_hardly_ever_name_the_amplifier(traces: list[Trace]) -> None:
    named = [paper(trace, trace.onset or 0, (trace.onset or 0) + 4) for trace in traces]

    assert np.mean([n.amplifier == t.amplifier for n, t in zip(named, traces, strict=True)]) <= 0.25
    assert all(n.origin in t.graph.nodes for n, t in zip(named, traces, strict=True))


def test_the_literal_mode_names_the_same_agents_whether_there_is_an_attack_or_not() -> None:
    """It alerts at start-up, long before an onset; the traces are the same until then."""
    kinds: tuple[Kind, Kind] = ("abrupt", "steady")
    one, other = (literal(generate(kind, np.random.default_rng(9))) for kind in kinds)

    assert one == other and one.origin is not None

"""The paper's formulas for origin, bridge, amplifier and spines, by hand (note 6)."""

import numpy as np
import pytest

from monitors.caspian.alert import Spine
from monitors.caspian.literal.attribution import Attribution, diameter
from monitors.caspian.literal.spectrum import Influence
from monitors.caspian.possibility import PossibilityGraph

# a -> b -> c, and b -> d.
GRAPH = PossibilityGraph.from_edges(
    "abcd", [("a", "b", ["comm"]), ("b", "c", ["comm", "exec"]), ("b", "d", ["tool"])]
)


def turn(ab: float, bc: float, bd: float) -> Influence:
    tensor = np.zeros((4, 4, 4))
    tensor[0, 0, 1] = ab
    tensor[3, 1, 2] = bc
    tensor[2, 1, 3] = bd
    fused = tensor.sum(0)
    return Influence(10 * fused, fused, tensor)


def named(attribution: Attribution) -> tuple[str, str, str]:
    places = (attribution.origin(), attribution.bridge(), attribution.amplifier())
    return tuple(GRAPH.nodes[place] for place in places)  # type: ignore[return-value]


def test_roles_by_hand() -> None:
    attribution = Attribution(turn(0.5, 0.2, 0.2), 1e-8)

    # Outflow: a 0.5, b 0.4. Flow: only b has both. Ratio: a has no inflow at all.
    assert named(attribution) == ("a", "b", "a")


def test_the_origin_is_judged_by_the_watch_turn_alone() -> None:
    attribution = Attribution(turn(0.5, 0.2, 0.2), 1e-8)
    attribution.observe(turn(0.1, 0.9, 0.9))

    assert named(attribution)[0] == "a"


def test_an_agent_that_nobody_talks_to_always_seems_to_amplify() -> None:
    """A ratio without smoothing: a trickle from a source outweighs b, which multiplies by 90."""
    attribution = Attribution(turn(0.01, 0.9, 0.0), 1e-8)

    assert named(attribution)[2] == "a"


def test_spines_are_the_paths_with_the_widest_weakest_link() -> None:
    attribution = Attribution(turn(0.5, 0.3, 0.1), 1e-8)
    attribution.observe(turn(0.2, 0.4, 0.0))

    # Maxima over the turns: ab 0.5, bc 0.4, bd 0.1.
    assert attribution.spines(GRAPH, 3, 100) == (
        Spine(path=("a", "b"), bottleneck=0.5, channel="comm"),
        Spine(path=("a", "b", "c"), bottleneck=0.4, channel="comm"),
        Spine(path=("b", "c"), bottleneck=0.4, channel="exec"),
    )


def test_too_many_paths_give_no_spines() -> None:
    # Five paths: ab, abc, abd, bc, bd.
    assert Attribution(turn(1, 1, 1), 1e-8).spines(GRAPH, 3, 4) is None
    assert Attribution(turn(1, 1, 1), 1e-8).spines(GRAPH, 9, 5) is not None


@pytest.mark.parametrize(
    ("edges", "longest"),
    [([("a", "b"), ("b", "c"), ("c", "a")], 2), ([("a", "b"), ("c", "a")], 2), ([], 0)],
)
def test_the_diameter_leaves_out_what_cannot_be_reached(
    edges: list[tuple[str, str]], longest: int
) -> None:
    graph = PossibilityGraph.from_edges("abc", [(i, j, ["comm"]) for i, j in edges])

    assert diameter(graph) == longest

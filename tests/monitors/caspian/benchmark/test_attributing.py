"""Who is blamed, and how spines are compared with the truth."""

import numpy as np
import pytest

from monitors.caspian.alert import CascadeReport, Role, Spine, Suspect
from monitors.caspian.benchmark import attributing
from monitors.caspian.benchmark.attributing import Blamed, attributions, spine_overlap
from monitors.caspian.benchmark.baselines.blame import Named
from monitors.caspian.benchmark.synthetic import Trace
from monitors.caspian.benchmark.workload import Draw
from monitors.caspian.possibility import PossibilityGraph

TRACE = Trace(
    PossibilityGraph.from_edges("abcd", [("a", "b", ["comm"])]),
    [],
    "abrupt",
    60,
    "a",
    "b",
    "c",
    [("a", "b", 61), ("b", "c", 62)],
)


def report(*paths: str) -> CascadeReport:
    return CascadeReport(
        id="cascade-1",
        alert_tick=63,
        reported_tick=70,
        onset=60,
        kind="abrupt",
        score=1.2,
        statistics={},
        thresholds={},
        calibration="x",
        origin=Role(state="final", suspects=(Suspect(agent="a", score=1.0),)),
        spines=tuple(Spine(path=tuple(p), bottleneck=1.0, channel="comm") for p in paths),
    )


@pytest.mark.parametrize(
    ("paths", "overlap"),
    [
        (["abc"], 1.0),
        (["ac"], 0.0),
        (["abdc"], 0.25),  # ab is right, bd and dc are not, bc is missing
        (["ac", "ab"], 1.0),
        (["abd"], 0.0),  # d was never infected
        ([], 0.0),
    ],
)
def test_a_spine_is_compared_with_the_infection_path_to_its_end(
    paths: list[str], overlap: float
) -> None:
    assert spine_overlap(TRACE, report(*paths)) == overlap


def blamed(seed: int, index: int, named: Named, error: int | None) -> Blamed:
    methods = dict.fromkeys(attributing.METHODS, Named()) | {attributing.ROBUST: named}
    draw = Draw(seed, "attack", "abrupt", index)
    return Blamed(draw, Named("a", "b", "c"), methods, error, 0.5)


def test_rows_count_undetected_cascades_as_wrong() -> None:
    rows = attributions(
        [
            blamed(1, 0, Named("a", "b", "c"), 2),
            blamed(1, 1, Named("a", "x", None), 4),
            blamed(2, 0, Named(), None),
            blamed(2, 1, Named("a", "b", "b"), 0),
        ],
        resamples=50,
    )
    robust = rows[0]

    assert robust.method == attributing.ROBUST and robust.cascades == 4
    assert robust.origin is not None and robust.origin.value == 0.75
    assert robust.bridge is not None and robust.bridge.value == 0.5
    assert robust.amplifier is not None and robust.amplifier.value == 0.25
    assert robust.by_seed == {"origin": [1.0, 0.5], "bridge": [0.5, 0.5], "amplifier": [0.5, 0.0]}
    assert robust.onset_error == 2 and robust.spine_jaccard is not None


def test_the_earliest_unusual_agent_has_no_say_about_bridge_and_amplifier() -> None:
    rows = attributions([blamed(1, 0, Named("a"), 0)], resamples=5)
    earliest = next(row for row in rows if row.method == attributing.EARLIEST)

    assert earliest.bridge is None and earliest.amplifier is None and earliest.origin is not None
    assert np.isfinite(earliest.origin.value or 0)

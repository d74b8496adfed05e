"""Which emissions should answer an exposure: the rules of joining, measured on leagues that talk.

``python -m tests.monitors.caspian.feed.rules [--seeds N] [--firms N]`` plays leagues with and
without attacks and prints, for each rule and attack, how well the evidence of the first eight
ticks after the onset tells it from benign leagues (area under the ROC curve).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from actors.cast import Cast
from actors.league import League
from monitors.caspian import Caspian, PossibilityGraph
from monitors.caspian.feed import Joiner, JoinSettings, league_graph
from monitors.caspian.feed.offline import watch_rows
from monitors.caspian.sparse import Counts, Mixtures, Reference, binned
from services.runs import Run
from tests.bench.injections import ONSET, config_of

ATTACKS = ("price_rumour", "corrupted_memory", "faulty_tool", "retry_storm", "mixed")
BENIGN = ("harvest_shock", "promotion_burst", "contract_handover")
STATISTICS = ("q1.S", "sparse.all", "dense.all")
WITHIN = 8
"""Ticks from the onset on in which an attack should show."""
RULES: Sequence[Any] = get_args(JoinSettings.model_fields["rule"].annotation)


class Played(NamedTuple):
    """A league that was played."""

    kind: str | None
    graph: PossibilityGraph
    rows: list[Any]


class Tick(NamedTuple):
    """What a tick's events say."""

    tick: int
    counts: Counts
    sum: float


def play(firms: int, seed: int, kind: str | None) -> Played:
    """Plays a league and keeps the messages that a monitor would be shown."""
    config = config_of(firms, seed, kind)
    cast = Cast(config)
    nodes, edges = cast.possibility_edges()
    hidden = frozenset(cast.exchanges.values())
    with tempfile.TemporaryDirectory() as folder:
        with League.create(config, Path(folder) / "run") as league:
            league.run()
        rows = [
            row
            for row in Run(Path(folder) / "run").rows("messages")
            if row[2] not in hidden and row[4] not in hidden
        ]
    return Played(kind, league_graph(edges, nodes), rows)


def watch(played: Played, rule: Any) -> list[Tick]:
    """The scored ticks of a league."""
    joiner = Joiner(played.graph, settings=JoinSettings(rule=rule))
    caspian = Caspian(played.graph)
    ticks = []
    for seen in watch_rows(played.rows, joiner, caspian):
        if seen.signals.evidence:
            last = caspian._recent[caspian._recent.count - 1]
            counts = binned(last.channel, last.z)
            ticks.append(Tick(seen.tick, counts, seen.signals.evidence["q1.S"]))
    return ticks


def largest(ticks: Sequence[Tick], reference: Reference) -> dict[str, float]:
    """The largest value of each statistic within the first ticks after the onset."""
    mixtures = Mixtures(reference)
    after = []
    for tick in ticks:
        sums = mixtures.step(tick.counts)
        if tick.tick >= ONSET // 60:
            after.append({"q1.S": tick.sum, **{name: sums[name] for name in STATISTICS[1:]}})
    return {name: max(one[name] for one in after[:WITHIN]) for name in STATISTICS}


def area(above: Sequence[float], below: Sequence[float]) -> float:
    """The area under the ROC curve."""
    high, low = np.array(above)[:, None], np.array(below)
    return float((high > low).mean() + 0.5 * (high == low).mean())


def main() -> None:
    """Plays, watches by every rule, and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="leagues of each kind (default 5)")
    parser.add_argument("--firms", type=int, default=24, choices=(6, 24, 96))
    given = parser.parse_args()
    learned = [play(given.firms, 100 + seed, None) for seed in range(2 * given.seeds)]
    tested = [
        play(given.firms, seed, kind)
        for kind in (None, *BENIGN, *ATTACKS)
        for seed in range(given.seeds)
    ]
    for rule in RULES:
        benign = [watch(played, rule) for played in learned]
        counts = sum(tick.counts for ticks in benign for tick in ticks)
        reference = Reference.of(np.asarray(counts))
        found = [(played.kind, largest(watch(played, rule), reference)) for played in tested]
        for name in STATISTICS:
            quiet = [values[name] for kind, values in found if kind not in ATTACKS]
            areas = [
                f"{attack} {area([v[name] for kind, v in found if kind == attack], quiet):.3f}"
                for attack in ATTACKS
            ]
            print(f"{rule:13} {name:11} {'  '.join(areas)}", flush=True)


if __name__ == "__main__":
    main()

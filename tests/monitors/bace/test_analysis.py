from dataclasses import replace

import numpy as np
import pytest

from monitors.bace.analysis import AnalysisSettings, analyse, go_betweens
from monitors.bace.nulls import Thresholds
from monitors.bace.signals import Recording, Refused, Trial
from monitors.bace.windows import Windowing
from tests.monitors.bace.test_signals import recording

WINDOWING = Windowing(length_in=6, length_out=2, stride=3)


def settings(steps: int = 0, **others: object) -> AnalysisSettings:
    """A small model; without steps it is hardly trained, where only the rest matters."""
    pytest.importorskip("torch", reason="BACE needs torch: make torch")
    from monitors.bace.model import Form
    from monitors.bace.training import FitSettings

    fitting = FitSettings(form=Form(width=8, projection=8), epochs=1, least_steps=steps)
    return replace(AnalysisSettings(windowing=WINDOWING, fitting=fitting), **others)  # type: ignore[arg-type]


def chain(coupling: float, nodes: int = 5, trials: int = 16) -> Recording:
    """Node n+1 follows node n by a tick, as strongly as the coupling says."""
    made = []
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        values = np.zeros((nodes, 1, 90))
        for tick in range(1, 90):
            values[:, 0, tick] = 0.4 * values[:, 0, tick - 1] + rng.normal(size=nodes)
            values[1:, 0, tick] += coupling * values[:-1, 0, tick - 1]
        made.append(values)
    return recording(*made)


def test_a_chain_of_influence_is_published_with_its_links_first() -> None:
    found = analyse(chain(1.0), settings(200)).graphs["calm"]
    assert found.state in ("published", "partial")
    links = {(f"node_{n}", f"node_{n + 1}") for n in range(4)}
    assert {(edge.source, edge.target) for edge in found.edges[:4]} == links
    assert all(edge.p_class == "strict" and edge.weight > 0 for edge in found.edges[:4])
    assert found.auroc_vs_var is not None and found.auroc_vs_var > 0.9


def test_where_nobody_drives_anybody_nothing_is_published() -> None:
    found = analyse(chain(0.0), settings(100))
    assert found.graphs["calm"].edges == ()
    assert found.graphs["calm"].state == "unreliable"
    assert found.found(strict=True).mean() <= 0.1  # strict, even if it were published


def test_an_analysis_follows_from_its_seed() -> None:
    once, again = (analyse(chain(1.0, nodes=3, trials=6), settings(), seed=3) for _ in range(2))
    assert once.graphs["calm"].model_dump_json() == again.graphs["calm"].model_dump_json()


def test_labels_that_say_nothing_are_noticed() -> None:
    plain = chain(1.0, nodes=4, trials=24)
    trials = [Trial(t.values, np.full(90, n % 2)) for n, t in enumerate(plain)]
    labelled = Recording(plain.nodes, plain.channels, ("calm", "storm"), tuple(trials))
    found = analyse(labelled, settings(100))
    assert all(
        any("contexts do not help" in note for note in g.notes) for g in found.graphs.values()
    )


def test_a_context_with_too_few_windows_is_withheld_and_says_what_it_lacks() -> None:
    plain = chain(1.0, nodes=3)
    trials = [Trial(t.values, np.zeros(90, dtype=np.int64)) for t in plain]
    trials.append(Trial(plain.trials[0].values[:, :, :20], np.ones(20, dtype=np.int64)))
    labelled = Recording(plain.nodes, plain.channels, ("calm", "storm"), tuple(trials))
    found = analyse(labelled, settings(context_check=False))
    storm = found.graphs["storm"]
    assert (storm.state, storm.edges) == ("insufficient", ())
    assert any("20 are needed" in note for note in storm.notes)
    assert found.thresholds == Thresholds.of(
        found.null.adjacency[:1]
    )  # its null counts for nothing


def test_growing_signals_are_refused_unless_the_caller_has_seen_to_them() -> None:
    signals = chain(1.0, nodes=3, trials=6)
    for trial in signals:
        trial.values[1] *= np.exp(np.arange(90) / 20)
    with pytest.raises(Refused, match="unstable: node_1"):
        analyse(signals, settings())
    assert "calm" in analyse(signals, settings(stability_check=False)).graphs


def test_a_node_without_life_is_left_out_and_named() -> None:
    signals = chain(1.0, nodes=4, trials=8)
    for trial in signals:
        trial.values[3] = 1.0
    found = analyse(signals, settings()).graphs["calm"]
    assert found.nodes == ("node_0", "node_1", "node_2")
    assert "node_3 does not move and was left out" in found.notes


def test_an_influence_weaker_than_both_its_steps_may_run_by_way_of_another() -> None:
    # 2 -> 1 -> 0 with 0.5 and 0.4, and 0.2 straight from 2 to 0.
    weights = np.array([[0, 0.4, -0.2], [0, 0, 0.5], [0, 0, 0]])
    assert go_betweens(weights)[0].tolist() == [-1, -1, 1]


def test_an_influence_as_strong_as_the_weaker_step_is_direct() -> None:
    weights = np.array([[0, 0.4, 0.37], [0, 0, 0.5], [0, 0, 0]])
    assert go_betweens(weights)[0, 2] == -1

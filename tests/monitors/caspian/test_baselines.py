"""A score counts by how far it is off its channel's and its edge's own."""

from __future__ import annotations

import numpy as np
import pytest

from monitors.caspian.baselines import ChannelBaseline, EdgeBaseline
from monitors.caspian.scoring import Groups
from monitors.caspian.settings import Settings

COMM, MEM = np.int8(0), np.int8(1)


def learn(baseline: ChannelBaseline, *scores: float) -> None:
    baseline.learn(np.full(len(scores), COMM, np.int8), np.array(scores))


def test_the_first_ticks_give_plain_averages_over_all_their_events() -> None:
    baseline = ChannelBaseline(Settings(baseline_ticks=3))
    learn(baseline, 0.1)
    learn(baseline, 0.2, 0.3, 0.4)
    learn(baseline, 0.0, 0.2)
    scores = [0.1, 0.2, 0.3, 0.4, 0.0, 0.2]
    assert baseline.mean[0] == pytest.approx(np.mean(scores))
    assert baseline.variance[0] == pytest.approx(np.var(scores))


def test_later_ticks_fade_in_with_one_per_cent() -> None:
    baseline = ChannelBaseline(Settings(baseline_ticks=1))
    learn(baseline, -1.0, 1.0)
    learn(baseline, 2.0, 4.0)
    assert baseline.mean[0] == pytest.approx(0.03)
    assert baseline.variance[0] == pytest.approx(0.99 + 0.01 * (4 + 16) / 2)


def test_a_channel_without_events_stays_as_it_is_and_begins_when_it_has_some() -> None:
    baseline = ChannelBaseline(Settings(baseline_ticks=2, baseline_events=2))
    for _ in range(5):
        learn(baseline, 0.5, 0.7)
    assert baseline.known.tolist() == [True, False, False, False]
    baseline.learn(np.array([MEM, MEM]), np.array([0.1, 0.3]))
    assert baseline.known[1]
    assert baseline.mean[1] == pytest.approx(0.2)
    assert baseline.mean[0] == pytest.approx(0.6)


def test_a_channel_that_always_says_the_same_has_a_floor_under_its_deviation() -> None:
    baseline = ChannelBaseline(Settings())
    learn(baseline, 0.3, 0.3, 0.3)
    assert baseline.deviation[0] == Settings().deviation_floor


def test_an_edges_offset_is_shrunk_by_the_number_of_its_events() -> None:
    edges = EdgeBaseline(2, Settings())
    places = Groups.of(np.repeat([4], 10))
    edges.learn(places, np.full(10, 0.5))
    assert edges.offset(places.keys, np.array([0.1])) == pytest.approx(0.5 * (0.5 - 0.1))
    assert edges.offset(np.array([0]), np.array([0.1])) == pytest.approx(0.0)


def test_an_edges_mean_is_plain_and_fades_after_a_hundred_events() -> None:
    edges = EdgeBaseline(1, Settings())
    places = Groups.of(np.zeros(50, np.intp))
    edges.learn(places, np.full(50, 0.0))
    edges.learn(places, np.full(50, 1.0))
    assert edges.mean[0] == pytest.approx(0.5)
    edges.learn(Groups.of(np.zeros(1, np.intp)), np.array([1.5]))
    assert edges.mean[0] == pytest.approx(0.51)

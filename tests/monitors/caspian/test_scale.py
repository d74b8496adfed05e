"""What a tick costs is measured on traffic of any size."""

from __future__ import annotations

from rich.console import Console

from monitors.caspian.benchmark.scale import measure, show


def test_it_measures_the_size_that_was_asked_for() -> None:
    scale = measure(50, 200, 40, ticks=3)
    assert (scale.agents, scale.edges, scale.events, scale.ticks) == (50, 200, 40, 3)
    least, median, most = scale.milliseconds
    assert 0 < least <= median <= most


def test_nothing_of_the_size_of_agents_times_agents_is_ever_made() -> None:
    # The smallest such array, one byte a pair, would be 15 MB.
    assert measure(4_000, 8_000, 100, ticks=1).temporary < 4


def test_the_table_names_the_sizes() -> None:
    console = Console(width=120, record=True)
    show([measure(50, 200, 40, ticks=1)], console)
    assert "200" in console.export_text()

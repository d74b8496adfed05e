import pytest

from monitors.caspian.feed import league_graph
from services.errors import HanseError


def channels(graph, source, target):
    found = graph.to_networkx().get_edge_data(source, target)
    return found and found["channels"]


def test_what_is_asked_is_answered_the_other_way():
    graph = league_graph([("firm", "board", ["mem"]), ("buyer", "supplier", ["exec"])])
    assert channels(graph, "board", "firm") == ("mem",)
    assert channels(graph, "supplier", "buyer") == ("exec",)


def test_a_note_asks_for_nothing():
    graph = league_graph([("a", "b", ["comm", "exec"])])
    assert channels(graph, "a", "b") == ("comm", "exec")
    assert channels(graph, "b", "a") == ("exec",)


def test_edges_told_in_both_directions_are_one_edge_each():
    graph = league_graph([("a", "b", ["mem"]), ("b", "a", ["mem", "comm"])])
    assert graph.edges == 2
    assert channels(graph, "b", "a") == ("comm", "mem")


def test_an_agent_may_have_no_edge():
    assert league_graph([("a", "b", ["comm"])], agents=["hermit"]).nodes == ("a", "b", "hermit")


def test_an_edge_with_an_unknown_channel_is_refused():
    with pytest.raises(HanseError, match="smoke"):
        league_graph([("a", "b", ["smoke"])])

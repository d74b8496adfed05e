from monitors.bace.compare import Finding, compare
from tests.monitors.bace.test_graph import edge, graph


def pairs(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(finding.source, finding.target) for finding in findings]


def test_an_influence_along_a_message_is_explained() -> None:
    found = compare(graph(edge("a", "b")), [("a", "b"), ("a", "b")])
    assert pairs(found.explained) == [("a", "b")]
    assert found.hidden == found.relayed == () == found.talk_only


def test_an_influence_without_any_message_is_hidden() -> None:
    found = compare(graph(edge("a", "b")), [("c", "b")])
    assert pairs(found.hidden) == [("a", "b")]
    assert found.talk_only == (("c", "b"),)


def test_a_message_the_other_way_round_explains_nothing() -> None:
    found = compare(graph(edge("a", "b")), [("b", "a")])
    assert pairs(found.hidden) == [("a", "b")]


def test_an_influence_by_way_of_others_names_them() -> None:
    found = compare(graph(edge("a", "c")), [("a", "b"), ("b", "c")])
    assert [(f.source, f.by_way_of, f.target) for f in found.relayed] == [("a", ("b",), "c")]


def test_what_runs_through_the_exchange_does_not_count_as_told() -> None:
    traffic = [("a", "exchange"), ("exchange", "b")]
    assert pairs(compare(graph(edge("a", "b")), traffic).relayed) == [("a", "b")]
    found = compare(graph(edge("a", "b")), traffic, go_betweens=["exchange", "nobody"])
    assert pairs(found.hidden) == [("a", "b")]


def test_screening_edges_count_only_if_asked_for() -> None:
    both = graph(edge("a", "b"), edge("b", "c", 0.1, p_class="screening"))
    assert pairs(compare(both, []).hidden) == [("a", "b")]
    assert pairs(compare(both, [], strict_only=False).hidden) == [("a", "b"), ("b", "c")]


def test_agents_of_whom_nothing_was_measured_are_named_and_not_judged() -> None:
    found = compare(graph(), [("a", "forecaster"), ("b", "c")])
    assert found.outside == ("forecaster",)
    assert found.talk_only == (("b", "c"),)


def test_a_withheld_graph_turns_no_message_into_mere_talk() -> None:
    found = compare(graph(state="unreliable"), [("a", "b")])
    assert found.talk_only == () == found.hidden


def test_a_cascade_that_follows_influences_is_the_more_severe_the_more_it_does() -> None:
    found = compare(
        graph(edge("a", "b"), edge("b", "c")),
        [],
        cascades=[
            ("cascade-1", [("a", "b", "c")]),
            ("cascade-2", [("c", "b"), ("a", "b", "a")]),
            ("cascade-3", []),
        ],
    )
    assert [(c.cascade, c.edges, c.severity) for c in found.cascades] == [
        ("cascade-1", 2, 2.0),
        ("cascade-2", 3, 1.33333),
        ("cascade-3", 0, 1.0),
    ]
    assert found.cascades[1].followed == (("a", "b"),)


def test_who_writes_to_itself_tells_nobody_anything() -> None:
    assert compare(graph(), [("a", "a")]).talk_only == ()

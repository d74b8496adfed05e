import json

import pytest

from monitors.caspian.events import TickEvents
from monitors.caspian.feed.offline import Seen
from monitors.caspian.monitor import Signals
from monitors.caspian.report import Strength, collect, collecting, noted
from services.runs import Run, RunStore
from tests.monitors.caspian.feed.logs import Log, mesh
from tests.monitors.caspian.report.samples import report
from tests.services.runs.samples import manifest

SIGNALS = {"tick": 60, "events": 12, "q1": 0.5, "q1.s": 5.0, "q4": 3.0, "score": 1.25}


def written(folder, messages=(), events=(), days=3):
    """A run with these messages, and these events: (minute, kind, subject, body)."""
    store = RunStore.create(folder, manifest())
    rows = [
        (minute, 0, "caspian", number, None, kind, subject, json.dumps(body))
        for number, (minute, kind, subject, body) in enumerate(events)
    ]
    for day in range(days):
        store.append(
            messages=[tuple(row) for row in messages if row.minute // 1440 == day],
            events=[row for row in rows if row[0] // 1440 == day],
        )
        store.end_day(day, b"")
    store.close()
    return Run(folder)


def seen(*reports, tick=60, signals=None):
    return [Seen(tick, TickEvents.empty(tick), signals or Signals(tick), reports)]


def test_what_a_monitor_has_noted_is_read_back(tmp_path):
    first, last = report(), report(reported_tick=64, agents_flagged=5)
    run = written(
        tmp_path / "run",
        events=[
            (3_660, "signals", "", {**SIGNALS, "alarm": True, "flags": ["sampled"]}),
            (3_660, "alert", "farm", {**first.model_dump(mode="json"), "reported_tick": 60}),
            (3_900, "signals", "", {**SIGNALS, "tick": 64}),
            (3_900, "alert_revised", "farm", last.model_dump(mode="json")),
        ],
    )
    [one, other] = noted(run)
    assert (one.tick, one.signals.score, one.signals.alarm) == (60, 1.25, True)
    assert one.signals.values == {"q1": 0.5, "q4": 3.0}
    assert one.signals.evidence == {"q1.s": 5.0}
    assert (other.tick, other.reports) == (64, (last,))


@pytest.mark.parametrize(
    "body", [{}, {"tick": "soon"}, {"tick": 5, "dropped": 3}, {"tick": 5, "score": "high"}]
)
def test_a_damaged_note_is_left_out(tmp_path, body):
    run = written(tmp_path / "run", events=[(60, "signals", "", body), (61, "alert", "", body)])
    assert noted(run) == []


def test_an_alert_is_shown_by_its_last_revision(tmp_path):
    run = written(tmp_path / "run")
    shown = collect(run, mesh("farm", "mill"), seen(report(), report(agents_flagged=5)))
    [alert] = shown.alerts
    assert (alert.report.agents_flagged, alert.revisions) == (5, 2)
    assert (shown.calibration, shown.thresholds) == ("c0ffee", {"q1.s": 4.0, "q1.S": 9.0})


def test_evidence_is_shown_with_its_words_in_the_order_of_the_report(tmp_path):
    log = Log()
    rows = [log.row(3_000 + n, "farm", "mill", f"word {n}") for n in range(3)]
    run = written(tmp_path / "run", messages=rows)
    said = report(evidence=("farm#3", "farm#1", "farm#99", "nonsense"))
    [alert] = collect(run, mesh("farm", "mill"), seen(said)).alerts
    assert [(e.id, e.text) for e in alert.evidence] == [("farm#3", "word 2"), ("farm#1", "word 0")]


def test_an_edge_is_shown_with_its_strongest_channel(tmp_path):
    strengths = [
        Strength("farm", "mill", "mem", 3, 1.5),
        Strength("mill", "cafe", "comm", 3, 0.9),  # no more than chance
        Strength("farm", "mill", "comm", 5, 2.0),
        Strength("mill", "farm", "comm", 5, 3.0),
    ]
    run = written(tmp_path / "run")
    found = collect(
        run, mesh("farm", "mill", "cafe"), seen(report()), strengths={"cascade-1": strengths}
    )
    assert [(e.source, e.channel, e.weight) for e in found.alerts[0].infected] == [
        ("mill", "comm", 3.0),
        ("farm", "comm", 2.0),
    ]


def test_a_measure_ends_when_it_was_lifted_and_else_at_its_own_end(tmp_path):
    taken = {"measure": "m1", "kind": "quarantine", "until": 900, "by": "containment"}
    run = written(
        tmp_path / "run",
        events=[
            (100, "measure", "farm", taken),
            (100, "measure", "mill", taken),
            (100, "measure", "cafe", taken),
            (300, "measure_over", "farm", {"measure": "m1", "how": "lifted"}),
            (900, "measure_over", "cafe", {"measure": "m1", "how": "lifted"}),
        ],
    )
    shown = collect(run, mesh("cafe", "farm", "mill"), [])
    assert [(m.agent, m.begin, m.end, m.how) for m in shown.measures] == [
        ("farm", 100, 300, "lifted"),
        ("mill", 100, 900, ""),
        ("cafe", 100, 900, "ended"),
    ]


def test_what_was_done_to_the_run_is_shown(tmp_path):
    body = {"kind": "harvest_shock", "attack": False, "onset": 500, "end": 900, "bridge": None}
    run = written(tmp_path / "run", events=[(500, "injection", "farm", body)])
    [truth] = collect(run, mesh("farm", "mill"), []).truths
    assert (truth.kind, truth.attack, truth.onset, truth.bridge) == (
        "harvest_shock",
        False,
        500,
        None,
    )


def test_whether_firms_have_recovered_is_handed_on(tmp_path):
    run = written(tmp_path / "run")
    shown = collect(
        run, mesh("farm", "mill"), [], wrong=[(500, 2), (900, 0)], recovery=["they have"]
    )
    assert (shown.wrong, shown.recovery) == (((500, 2), (900, 0)), ("they have",))


def test_of_a_large_graph_the_edges_of_alerts_and_the_busiest_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(collecting, "MOST_EDGES", 2)
    log = Log()
    rows = [log.row(5 + n, "cafe", "farm", "x") for n in range(3)]
    run = written(tmp_path / "run", messages=rows)
    said = report(spines=({"path": ("farm", "mill"), "bottleneck": 1.0, "channel": "comm"},))
    shown = collect(run, mesh("farm", "mill", "cafe"), seen(said))
    assert [(e.source, e.target) for e in shown.edges] == [("cafe", "farm"), ("farm", "mill")]
    assert "6 edges" in shown.notes[0]

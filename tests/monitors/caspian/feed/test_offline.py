from monitors.caspian import Caspian
from monitors.caspian.feed import Joiner, by_tick
from monitors.caspian.feed.offline import watch_rows, watch_run
from services.runs import Run, RunStore
from tests.monitors.caspian.feed.test_joining import as_bytes, traffic
from tests.services.runs.samples import manifest


def stored(folder, rows, days):
    """A run whose log is these rows, of so many days."""
    store = RunStore.create(folder, manifest())
    for day in range(days):
        store.append(messages=[tuple(row) for row in rows if row.minute // 1440 == day])
        store.end_day(day, b"")
    return store


def said(seen):
    return [(as_bytes(one.events), one.signals, one.reports) for one in seen]


def live(rows, graph):
    """What a monitor in the league says: it gets each tick's rows, in some order."""
    joiner, caspian = Joiner(graph), Caspian(graph)
    for tick, some in by_tick(rows):
        events = joiner.feed(tick, some[::-1])
        yield as_bytes(events), caspian.observe(events), tuple(caspian.reports())


def test_a_run_is_watched_afterwards_with_the_same_result_as_in_the_league(tmp_path):
    rows, graph = traffic(1, hours=100)
    store = stored(tmp_path / "run", rows, days=5)
    store.close()
    seen = said(watch_run(Run(tmp_path / "run"), graph, Caspian))
    assert len(seen) > 60
    assert any(signals.evidence for _, signals, _ in seen)
    assert seen == list(live(rows, graph))


def test_a_run_that_goes_on_is_watched_up_to_its_last_whole_day(tmp_path):
    rows, graph = traffic(2, hours=72)
    store = stored(tmp_path / "run", rows, days=2)
    seen = watch_run(Run(tmp_path / "run"), graph, Caspian)
    first = [one.tick for one in (next(seen), next(seen))]
    store.append(messages=[tuple(row) for row in rows if row.minute // 1440 == 2])
    store.end_day(2, b"")
    ticks = first + [one.tick for one in seen]
    store.close()
    assert ticks == [tick for tick, _ in by_tick(rows)]


def test_what_unwatched_agents_send_and_get_is_not_looked_at(tmp_path):
    rows, graph = traffic(3)
    store = stored(tmp_path / "run", rows, days=2)
    store.close()
    without_board = [row for row in rows if "board" not in (row.sender, row.recipient)]
    seen = said(watch_run(Run(tmp_path / "run"), graph, Caspian, unwatched=["board"]))
    assert seen == list(live(without_board, graph))


def test_a_log_may_come_in_parts_of_whole_ticks():
    rows, graph = traffic(4)
    joiner, caspian = Joiner(graph), Caspian(graph)
    early = [row for row in rows if row.minute < 600]
    late = [row for row in rows if row.minute >= 600]
    seen = [one for part in (early, late) for one in watch_rows(part, joiner, caspian)]
    assert said(seen) == list(live(rows, graph))


def test_what_was_seen_can_be_kept_without_its_events():
    rows, graph = traffic(5)
    one = next(seen for seen in watch_rows(rows, Joiner(graph), Caspian(graph)) if seen.events)
    light = one.light()
    assert (light.tick, light.signals, light.reports) == (one.tick, one.signals, one.reports)
    assert len(light.events) == 0

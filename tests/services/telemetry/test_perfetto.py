"""Chrome trace JSON, as Perfetto opens it."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.errors import HanseError
from services.telemetry.perfetto import ClockName, write_perfetto
from services.telemetry.span import Span
from tests.services.telemetry.made_spans import BEGIN, rich_span, span, spans

_MS = 1_000_000


def _written(tmp_path: Path, made: list[Span], clock: ClockName = "wall") -> list[dict[str, Any]]:
    path = tmp_path / "trace.json"
    assert write_perfetto(iter(made), path, clock) == len(made)
    events: list[dict[str, Any]] = _strict(path.read_text("utf-8"))["traceEvents"]
    return events


def _strict(text: str) -> Any:
    def refuse(constant: str) -> Any:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def _of(events: list[dict[str, Any]], phase: str) -> list[dict[str, Any]]:
    return [event for event in events if event["ph"] == phase]


def _conversation() -> list[Span]:
    """The exchange wakes, and sends a firm its turn, which waits a while and is handled."""
    trace = 77
    at = BEGIN

    def make(id: int, parent: int | None, name: str, kind: str, agent: str, **more: Any) -> Span:
        attributes = {"hanse.host": more.pop("host")}
        if kind != "INTERNAL":
            attributes["messaging.operation.type"] = name.split()[0]
        begin, end = more.pop("times")
        return span(
            trace_id=trace,
            span_id=id,
            parent_id=parent,
            name=name,
            kind=kind,
            agent=agent,
            start=at + begin,
            end=at + end,
            minute=1440 + 540,
            attributes=attributes,
        )

    return [
        make(1, None, "wake exchange", "INTERNAL", "exchange", host="host-0", times=(0, 900)),
        make(2, 1, "send roaster_A", "PRODUCER", "exchange", host="host-0", times=(900, 900)),
        make(3, 2, "receive roaster_A", "CONSUMER", "roaster_A", host="host-1", times=(2000, 2500)),
        make(4, 2, "process roaster_A", "CONSUMER", "roaster_A", host="host-1", times=(2500, 4000)),
        make(5, 4, "invoke_agent", "INTERNAL", "roaster_A", host="host-1", times=(2500, 4000)),
    ]


def test_a_host_is_a_process_and_an_agent_a_track_in_it(tmp_path: Path) -> None:
    names = {
        (e["name"], e["args"]["name"]): (e["pid"], e["tid"])
        for e in _of(_written(tmp_path, _conversation()), "M")
    }
    assert set(names) == {
        ("process_name", "host-0"),
        ("process_name", "host-1"),
        ("thread_name", "exchange"),
        ("thread_name", "roaster_A"),
    }
    assert names["thread_name", "exchange"][0] == names["process_name", "host-0"][0]
    assert names["thread_name", "roaster_A"][0] == names["process_name", "host-1"][0]


def test_work_is_a_complete_event_with_its_length_in_microseconds(tmp_path: Path) -> None:
    work = {e["name"]: e for e in _of(_written(tmp_path, _conversation()), "X")}
    assert set(work) == {"wake exchange", "process roaster_A", "invoke_agent"}
    assert work["process roaster_A"]["dur"] == 1.5
    assert work["process roaster_A"]["ts"] - work["wake exchange"]["ts"] == 2.5


def test_an_arrow_leads_from_the_senders_work_to_the_recipients(tmp_path: Path) -> None:
    events = _written(tmp_path, _conversation())
    [start], [finish] = _of(events, "s"), _of(events, "f")
    assert start["id"] == finish["id"]
    assert (start["name"], start["cat"]) == (finish["name"], finish["cat"])
    assert finish["bp"] == "e"
    work = {e["name"]: e for e in _of(events, "X")}
    for arrow, slice_ in ((start, work["wake exchange"]), (finish, work["process roaster_A"])):
        assert (arrow["pid"], arrow["tid"]) == (slice_["pid"], slice_["tid"])
        assert slice_["ts"] <= arrow["ts"] < slice_["ts"] + slice_["dur"]


def test_mail_that_waits_lies_apart_from_work(tmp_path: Path) -> None:
    events = _written(tmp_path, _conversation())
    [begin], [end] = _of(events, "b"), _of(events, "e")
    assert begin["name"] == end["name"] == "receive roaster_A"
    assert (begin["id"], begin["cat"], begin["pid"]) == (end["id"], end["cat"], end["pid"])
    assert end["ts"] - begin["ts"] == 0.5


def test_virtual_time_ids_and_attributes_are_told(tmp_path: Path) -> None:
    work = {e["name"]: e["args"] for e in _of(_written(tmp_path, _conversation()), "X")}
    told = work["wake exchange"]
    assert told["virtual time"] == "day 1 09:00"
    assert told["trace"] == f"{77:032x}"
    assert told["hanse.host"] == "host-0"


def test_an_error_and_its_exception_are_told(tmp_path: Path) -> None:
    [event] = _of(_written(tmp_path, [rich_span()]), "X")
    assert event["args"]["error"] == "refused: not enough cash"
    assert event["args"]["event exception"] == {"exception.type": "ValueError"}


def test_what_happens_on_the_market_lies_on_the_host_where_its_agent_lives(
    tmp_path: Path,
) -> None:
    deal = span(name="deal D1", kind="INTERNAL", agent="exchange", attributes={})
    events = _written(tmp_path, [*_conversation(), deal])
    work = {e["name"]: e for e in _of(events, "X")}
    assert work["deal D1"]["pid"] == work["wake exchange"]["pid"]
    assert work["deal D1"]["tid"] == work["wake exchange"]["tid"]


def test_numbers_that_json_or_a_browser_cannot_hold_become_text(tmp_path: Path) -> None:
    odd = {"nan": float("nan"), "large": 2**60, "list": (float("inf"), 1.0), "fine": 2**53}
    [event] = _of(_written(tmp_path, [span(attributes=odd)]), "X")
    args = event["args"]
    assert (args["nan"], args["large"], args["list"]) == ("nan", str(2**60), ["inf", 1.0])
    assert args["fine"] == 2**53


# ---- clocks ------------------------------------------------------------------------------------


def test_on_the_virtual_clock_a_minute_is_a_millisecond(tmp_path: Path) -> None:
    noon = span(1, minute=2 * 1440 + 720, start=BEGIN, end=BEGIN + 100)
    evening = span(2, minute=2 * 1440 + 1140, start=BEGIN + 900, end=BEGIN + 950)
    first, second = _of(_written(tmp_path, [noon, evening], "virtual"), "X")
    assert first["ts"] == (2 * 1440 + 720) * 1000
    assert second["ts"] - first["ts"] == 420 * 1000
    assert (first["dur"], second["dur"]) == (0.1, 0.05)


def test_a_minute_that_took_long_is_made_to_fit(tmp_path: Path) -> None:
    slow = [
        span(n, minute=600, start=BEGIN + n * 500 * _MS, end=BEGIN + (n + 1) * 500 * _MS)
        for n in range(4)
    ]
    events = _of(_written(tmp_path, slow, "virtual"), "X")
    for one, next_ in pairwise(events):
        assert one["ts"] + one["dur"] == pytest.approx(next_["ts"])
    assert events[0]["ts"] >= 600_000 and events[-1]["ts"] + events[-1]["dur"] < 601_000


def test_what_is_sent_because_of_an_earlier_minute_is_sent_when_its_sender_wakes(
    tmp_path: Path,
) -> None:
    earlier = span(1, minute=540, start=BEGIN, end=BEGIN + 100)
    wake = span(2, kind="INTERNAL", minute=570, start=BEGIN + 5000, end=BEGIN + 5600, attributes={})
    sent = span(3, kind="PRODUCER", minute=570, start=BEGIN + 100, end=BEGIN + 100)
    events = _written(tmp_path, [earlier, wake, sent], "virtual")
    [start] = _of(events, "s")
    work = _of(events, "X")[1]
    assert work["ts"] == 570_000
    assert work["ts"] <= start["ts"] < work["ts"] + work["dur"]


def test_a_day_of_the_league_is_a_day_long(tmp_path: Path) -> None:
    day = span(name="day 3", agent="", minute=3 * 1440, attributes={})
    [event] = _of(_written(tmp_path, [day], "virtual"), "X")
    assert (event["ts"], event["dur"]) == (3 * 1440 * 1000, 1440 * 1000)


def test_the_virtual_clock_needs_no_wall_times(tmp_path: Path) -> None:
    [event] = _of(_written(tmp_path, [span(start=0, end=0, minute=5)], "virtual"), "X")
    assert event["ts"] == 5000


def test_without_any_wall_time_the_wall_clock_says_so_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(HanseError, match=r"no wall times .* choose the virtual clock"):
        write_perfetto([span(start=0, end=0)], tmp_path / "trace.json")
    assert list(tmp_path.iterdir()) == []


def test_spans_without_a_wall_time_are_left_out_of_the_wall_clock(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    assert write_perfetto([span(1), span(2, start=0, end=0)], path) == 1


def test_an_unknown_clock_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(HanseError, match="no clock 'sun'; choose wall or virtual"):
        write_perfetto([span()], tmp_path / "trace.json", "sun")  # type: ignore[arg-type]


_WORK = st.lists(
    st.tuples(st.integers(0, 3 * 1440), st.integers(0, 3_000_000), st.integers(0, 5_000_000)),
    max_size=25,
)


@given(work=_WORK, clock=st.sampled_from(["wall", "virtual"]))
def test_what_one_agent_did_one_after_the_other_never_overlaps(
    tmp_path_factory: pytest.TempPathFactory,
    work: list[tuple[int, int, int]],
    clock: ClockName,
) -> None:
    made, at = [], BEGIN
    for number, (minute, pause, took) in enumerate(sorted(work)):
        made.append(span(number, minute=minute, start=at + pause, end=at + pause + took))
        at += pause + took
    events = _of(_written(tmp_path_factory.mktemp("trace"), made, clock), "X")
    tracks = defaultdict(list)
    for event in events:
        tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for slices in tracks.values():
        for (_, end), (begin, _) in pairwise(sorted(slices)):
            assert end <= begin + 1e-6


# ---- the file ----------------------------------------------------------------------------------


def test_a_name_with_gz_is_compressed(tmp_path: Path) -> None:
    write_perfetto(spans(3), tmp_path / "trace.json.gz")
    raw = gzip.decompress((tmp_path / "trace.json.gz").read_bytes())
    assert len(_of(_strict(raw.decode())["traceEvents"], "X")) == 3


def test_without_spans_it_is_still_a_trace(tmp_path: Path) -> None:
    assert _written(tmp_path, []) == []


@pytest.mark.parametrize("clock", ["wall", "virtual"])
def test_the_memory_does_not_grow_with_the_run(tmp_path: Path, clock: ClockName) -> None:
    def days(count: int) -> Iterator[Span]:
        made = spans(200)
        for day in range(count):
            for one in made:
                yield one._replace(minute=one.minute + 1440 * day)

    def peak(count: int) -> int:
        tracemalloc.start()
        write_perfetto(days(count), tmp_path / "trace.json", clock)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(15)  # Python keeps up to 2,000 spare tuples of each length; let them settle
    assert peak(40) < 1.3 * peak(4)

"""Tracing reads big runs fast: processor time, so that a busy machine does not matter."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from services.runs import Run, RunStore
from services.telemetry import timings
from services.telemetry.reader import TraceReader
from services.telemetry.spans import derive
from tests.services.runs.samples import manifest
from tests.services.telemetry.made_runs import HAND_OVER, event

FIRMS = 500
TURNS = 20


def busy_day(day: int, firms: int) -> dict[str, list[tuple[Any, ...]]]:
    """Turns and commands of a trading day: 2 messages and an action for each turn of a firm."""
    messages, events, handled = [], [], []
    now = HAND_OVER
    for turn in range(TURNS):
        minute = day * 1440 + 540 + 30 * turn
        for firm in range(firms):
            name, number = f"firm_{firm}", day * TURNS + turn + 1
            asked = (day * TURNS + turn) * firms + firm + 1
            cause = f"{name}#{number - 1}" if turn else None
            asking = ("exchange", asked, name, "exec", "turn", None, cause, None, "{}")
            answered = f"exchange#{asked}"
            answer = (name, number, "exchange", "tool", "view_offers", answered, None, None, "{}")
            messages += [(minute, 0, *asking), (minute, 1, *answer)]
            said = {"seq": 1, "tool": "view_offers", "args": {}, "status": "success"}
            events.append(
                event(asked, "action", said, cause=f"{name}#{number}", minute=minute, subject=name)
            )
            for sender, sent in (("exchange", asked), (name, number)):
                now += 20_000
                handled.append((sender, sent, now, now + 100, 10_000))
    record = timings.pack("host-0", 0, handled, [])
    return {"messages": messages, "events": events, "timings": [(day, "host-0", record)]}


def written(folder: Path, days: int, firms: int) -> TraceReader:
    with closing(RunStore.create(folder, manifest())) as store:
        for day in range(days):
            store.append(**busy_day(day, firms))
            store.end_day(day, b"state")
    return TraceReader(Run(folder))


def cpu_seconds(work: Callable[[], object], times: int) -> Iterator[float]:
    for _ in range(times):
        began = time.process_time()
        work()
        yield time.process_time() - began


@pytest.mark.slow
def test_the_spans_of_a_day_of_ten_thousand_messages_take_half_a_second(tmp_path: Path) -> None:
    reader = written(tmp_path / "run", days=1, firms=FIRMS // 2)
    assert len(reader.day(0).messages) == 10_000
    assert sum(1 for _ in derive(reader, 0)) > 40_000
    assert min(cpu_seconds(lambda: sum(1 for _ in derive(reader, 0)), 3)) < 0.5


@pytest.mark.slow
def test_a_message_of_a_million_spans_is_found_at_once(tmp_path: Path) -> None:
    reader = written(tmp_path / "run", days=17, firms=FIRMS)
    assert reader.run.count("messages") == 340_000
    chance = random.Random(3)
    ids = [f"firm_{chance.randrange(FIRMS)}#{chance.randrange(1, 17 * TURNS)}" for _ in range(50)]
    ids += [f"exchange#{chance.randrange(1, 170_000)}" for _ in range(50)]
    times: list[float] = []
    for id in ids:
        times += cpu_seconds(lambda id=id: reader.find_message(id), 1)  # type: ignore[misc]
        found = reader.find_message(id)
        assert found is not None
        assert found.id == id
    assert max(times) < 0.05

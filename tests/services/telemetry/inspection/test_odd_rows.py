"""Rows of unexpected shapes: every question is answered, or refused in a line."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from services.errors import HanseError
from services.runs import Run
from services.telemetry.inspection.diff import diff
from services.telemetry.inspection.find import find
from services.telemetry.inspection.steps import EVERYTHING
from services.telemetry.inspection.story import story
from services.telemetry.inspection.summary import summary
from services.telemetry.inspection.why import why
from services.telemetry.reader import TraceReader
from tests.services.telemetry.made_runs import meddle

ODD = [
    "UPDATE events SET body = 'x'",
    "UPDATE events SET body = '[]'",
    "UPDATE events SET body = '{}'",
    "UPDATE events SET body = '{\"args\":3}'",
    'UPDATE events SET body = replace(body, \'"args":{\', \'"args":[],"x":{\')',
    "UPDATE events SET body = replace(body, '\"qty\":', '\"kg\":')",
    "UPDATE events SET body = replace(body, '4.0', '\"dear\"')",
    'UPDATE events SET body = replace(body, \'_price":\', \'_price":"a lot","p":\')',
    "UPDATE events SET body = replace(body, 'due_day\":', 'due_day\":null,\"d\":')",
    'UPDATE events SET body = replace(body, \'"deal":"D\', \'"deal":"E\')',
    'UPDATE events SET body = replace(body, \'"offer":"O\', \'"was":"O\')',
    "UPDATE events SET kind = 'deal'",
    "UPDATE events SET kind = 'payment', subject = ''",
    "UPDATE events SET cause = 'nobody#1'",
    "UPDATE metrics SET body = 'x'",
    "UPDATE metrics SET body = '[]'",
    'UPDATE metrics SET body = \'{"cash":"x","stock":{"a":"b"}}\'',
    'UPDATE metrics SET body = \'{"role":3,"cash":1,"stock":[]}\' WHERE day = 2',
    "UPDATE messages SET body = 'x'",
    "UPDATE messages SET body = '[1]'",
    "UPDATE messages SET cause = sender || '#' || number, in_reply_to = NULL",
    "UPDATE messages SET cause = 'ann#3'",
    "UPDATE messages SET type = 'letter'",
    "DELETE FROM timings",
    "UPDATE timings SET body = x'00'",
    "UPDATE ledger SET micros = 'x'",
]


@pytest.mark.parametrize("statement", ODD)
def test_odd_rows_are_told_or_refused_in_a_line(play, cheaper, tmp_path: Path, statement: str):
    copy = shutil.copytree(play.run.folder, tmp_path / "odd")
    reader = meddle(TraceReader(Run(copy)), statement)
    ids = ["L1", "L2", "L4", "O1", "O2", "D1", "D2", "I1", "I2", "M1", "bob#14", "bob#9", "ann#6"]
    for id in ids:
        with suppress(HanseError):
            why(reader, id, limits=EVERYTHING).document()
    for agent in ("ann", "bob", "cid", "exchange"):
        with suppress(HanseError):
            story(reader, agent, reader.days).document()
    rows = find(reader.run, limit=10**6)
    assert all(row.words() for row in rows)
    assert diff(play, reader).document()
    assert diff(reader, cheaper).document()
    assert summary(reader).document()

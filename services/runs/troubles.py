"""What went wrong in a run, firm by firm: errors, missed turns and refused commands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from services.runs import database
from services.runs.bodies import body_of
from services.runs.run import Run

KINDS = ("agent_error", "turn_missed")
"""The events that troubles are made of."""


class Refusals(NamedTuple):
    """A firm's commands, and how many of them its exchange refused."""

    commands: int
    refused: int
    code: str
    """The most frequent code; empty if none was refused."""


class Trouble(NamedTuple):
    """One kind of trouble that an agent had."""

    agent: str
    text: str
    """The first time: where and what, in a line."""
    times: int
    missed: bool
    """Whether turns were missed without an error, as by a time-out."""

    def __str__(self) -> str:
        """``broken.py:19 in day: AttributeError: ... (20 times)``."""
        if not self.missed:
            return self.text + (f" ({self.times:,} times)" if self.times > 1 else "")
        return f"{self.text} ({self.times:,} {'turn' if self.times == 1 else 'turns'} missed)"


def refusals(run: Run) -> dict[str, Refusals]:
    """How often each firm was refused, up to the last whole day."""
    # The town writes these bodies without spaces, and in a firm's own text quotes are escaped: so
    # they can be searched as text, which is many times faster than reading each of them.
    query = (
        "SELECT subject, substr(rest, 1, instr(rest, '\"') - 1) AS code, count(*) FROM ("
        " SELECT subject, CASE WHEN instr(body, :refused)"
        " THEN substr(body, instr(body, :code) + length(:code)) END AS rest"
        " FROM events WHERE kind = 'action'"
        ") GROUP BY subject, code"
    )
    marks = {"refused": '"status":"error"', "code": '"error_code":"'}
    commands: dict[str, int] = defaultdict(int)
    codes: dict[str, dict[str, int]] = defaultdict(dict)
    with database.reading(run.database) as connection:
        for firm, code, count in connection.execute(query, marks):
            commands[firm] += count
            if code is not None:
                codes[firm][code] = count
    return {
        firm: Refusals(
            count,
            sum(codes[firm].values()),
            max(codes[firm], key=lambda code: codes[firm][code]) if codes[firm] else "",
        )
        for firm, count in commands.items()
    }


def troubles(run: Run) -> list[Trouble]:
    """The troubles of each agent, those that failed most often first.

    A turn that was missed because of an error is told by the error.
    """
    texts: dict[tuple[str, bool], str] = {}
    counts: dict[tuple[str, bool], int] = defaultdict(int)
    failed: set[tuple[int, str, str]] = set()
    for minute, *_, kind, subject, text in run.rows("events", "kind IN (?, ?)", KINDS):
        body = body_of(text)
        if body is None:
            continue
        agent = str(body.get("agent") or subject)
        detail = str(body.get("detail") or body.get("reason") or "")
        missed = kind == "turn_missed"
        if missed and (minute, agent, detail) in failed:
            continue
        if not missed:
            failed.add((minute, agent, detail))
            detail = told(body)
        key = agent, missed
        texts.setdefault(key, detail)
        counts[key] += 1
    found = [Trouble(key[0], texts[key], times, key[1]) for key, times in counts.items()]
    return sorted(found, key=lambda trouble: -trouble.times)


def told(body: Mapping[str, object]) -> str:
    """An agent's error in a line: ``broken.py:19 in day: AttributeError: ...``."""
    detail = " ".join(str(body.get("detail") or "").split())
    error = str(body.get("error") or "error")
    if not detail.startswith(error):
        detail = f"{error}: {detail}" if detail else error
    return f"{body['where']}: {detail}" if body.get("where") else detail

"""What `find --kind` may ask for, and what to say of a kind or an agent that is not there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

from services.errors import HanseError
from services.runs import Run, database
from services.telemetry.inspection import prose, words

TROUBLES: Final = (
    *("agent_error", "turn_missed", "mail_refused", "undeliverable", "stray_command"),
    *("stray_trade", "unhandled"),
)
LATE: Final = "late"
_PLACE: Final = "kind = 'event' AND name IN ({}) OR kind = 'span' AND status = 'ERROR'"
CONDITIONS: Final = {
    "refused": "(kind = 'action' AND instr(body, '\"status\":\"error\"'))",
    "trouble": f"({_PLACE.format(', '.join(repr(name) for name in TROUBLES))})",
    # Which of them are late is worked out from the invoices.
    LATE: "(kind = 'event' AND name IN ('payment', 'invoice'))",
}
"""What one may ask for besides a kind or a name."""
SPANS: Final = {
    "process": "message",
    "send": "message",
    "receive": "message",
    "execute_tool": "action",
}
"""What spans of the log's own rows are called, as kinds."""
ROWS: Final = ("message", "action", "event", "span")
_WITHOUT_WORDS: Final = ("influence_graph",)
"""What is found as it stands in the log."""
_MOST: Final = 3
_KNOWN: Final = (
    "SELECT DISTINCT type FROM messages",
    "SELECT DISTINCT kind FROM events",
    "SELECT DISTINCT name FROM spans",
)
_AGENTS: Final = (
    "SELECT DISTINCT sender FROM messages",
    "SELECT DISTINCT recipient FROM messages",
    "SELECT DISTINCT agent FROM events",
    "SELECT DISTINCT subject FROM events",
    "SELECT DISTINCT agent FROM spans",
)


def grouped() -> dict[str, list[str]]:
    """The names that any run may hold as kinds, each group in the order of the alphabet."""
    groups = {
        "Commands": words.COMMANDS,
        "Events": {*words.EVENTS, *TROUBLES, *prose.EVENTS, *_WITHOUT_WORDS} - {*ROWS},
        "Other messages": {*words.MESSAGES, *prose.MESSAGES},
    }
    return {name: sorted(kinds) for name, kinds in groups.items()}


def listed() -> list[str]:
    """All of them, in the order of the alphabet."""
    return sorted({kind for kinds in grouped().values() for kind in kinds})


def check_kind(run: Run, kind: str) -> None:
    """Does nothing if a run may hold such a kind.

    Raises:
        HanseError: It may not.
    """
    known = {*ROWS, *CONDITIONS, *SPANS, *listed()}
    if kind in known or kind in (there := _there(run, _KNOWN)):
        return
    raise HanseError(
        f"--kind {kind}: there is no such kind{_meant(kind, known | there)}; see find --help"
    )


def check_agent(run: Run, agent: str) -> None:
    """Does nothing if a run has such an agent.

    Raises:
        HanseError: It has not.
    """
    there = _there(run, _AGENTS)
    if agent not in there:
        few = sorted(there)[:8]
        more = f" and {len(there) - len(few)} more" if len(there) > len(few) else ""
        hint = _meant(agent, there) or f"; there are {', '.join(few)}{more}"
        raise HanseError(f"--agent {agent}: {run.folder} has no such agent{hint}")


def _there(run: Run, queries: Iterable[str]) -> set[str]:
    found: set[str] = set()
    with database.reading(run.database) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        for query in queries:
            if query.rpartition(" ")[2] in tables:
                found |= {row[0] for row in connection.execute(query) if row[0]}
    return {name for name in found if isinstance(name, str)}


def _meant(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word.lower(), sorted(known), n=_MOST, cutoff=0.5)
    return f" (did you mean {' or '.join(close)}?)" if close else ""

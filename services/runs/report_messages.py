"""The messages of a run: who wrote to whom, of which type, on which day, and what firms said."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from services.messages import MINUTES_PER_DAY
from services.runs import Run
from services.runs.bodies import body_of
from services.runs.report_scope import Scope

TALK: Final = frozenset({"letter", "text"})
"""Types whose words a reader wants to see; the rest is counted."""
MOST_LETTERS: Final = 1_000
MOST_CHARACTERS: Final = 2_000


def collect_messages(run: Run, scope: Scope) -> dict[str, Any]:
    """Counts by pair, channel and type, counts by day and type, and the letters between firms."""
    pairs: Counter[tuple[str, str, str, str]] = Counter()
    daily: Counter[tuple[str, int]] = Counter()
    letters: list[list[Any]] = []
    letter_count = 0
    for minute, _, sender, _, recipient, channel, kind, _, _, _, text in run.rows(
        "messages", days=range(scope.days)
    ):
        pairs[sender, recipient, channel, kind] += 1
        daily[kind, minute // MINUTES_PER_DAY] += 1
        if kind in TALK:
            letter_count += 1
            if len(letters) < MOST_LETTERS:
                body = body_of(text)
                if body is None:
                    scope.unreadable += 1
                else:
                    letters.append(_letter(minute, sender, recipient, body))

    folded: Counter[tuple[str, str, str, str]] = Counter()
    for (sender, recipient, channel, kind), count in pairs.items():
        folded[scope.node(sender), scope.node(recipient), channel, kind] += count
    present = {name for sender, recipient, *_ in folded for name in (sender, recipient)}
    firms = [name for name in scope.groups() if name in present]
    # Exchanges first: where all mail goes through them, theirs are the columns that matter.
    agents = [*sorted(present.difference(firms)), *firms]
    place = {name: i for i, name in enumerate(agents)}

    totals: Counter[str] = Counter()
    for (*_, kind), count in folded.items():
        totals[kind] += count
    types = [kind for kind, _ in totals.most_common()]
    channels = sorted({channel for _, _, channel, _ in folded})
    buckets = sorted({scope.bucket(day) for day in range(scope.days)})
    per_day: Counter[tuple[str, int]] = Counter()
    for (kind, day), count in daily.items():
        per_day[kind, scope.bucket(day)] += count
    return {
        "agents": agents,
        "types": types,
        "channels": channels,
        "rows": [
            [place[s], place[r], channels.index(c), types.index(k), count]
            for (s, r, c, k), count in sorted(folded.items())
        ],
        "days": buckets,
        "daily": [[per_day[kind, day] for day in buckets] for kind in types],
        "letters": letters,
        "letter_count": letter_count,
    }


def _letter(minute: int, sender: str, recipient: str, body: dict[str, Any]) -> list[Any]:
    author = str(body.get("author") or sender)
    words = str(body.get("body") or body.get("text") or "")
    if len(words) > MOST_CHARACTERS:
        words = words[:MOST_CHARACTERS] + " …"
    return [minute, author, recipient, str(body.get("title") or ""), words]

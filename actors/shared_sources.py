"""Whom a cascade's suspects have listened to: what they share may be where it began.

A monitor sees a source that is wrong by what its listeners say next, and suspects them: a board
with a corrupted entry says nothing new itself. So when suspects are tried, so are those who had
told the likeliest of them something before the alarm.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final

from services.runs import Run
from services.runs.schema import MESSAGES

LISTENERS: Final = 2
"""As many suspects count. They are mostly near to where it began, and others far from it."""
SERVES: Final = 3
"""Who answers so many agents through memories or tools is one; a firm only asks its own."""
_COLUMNS = [list(MESSAGES.columns).index(name) for name in ("sender", "recipient", "channel")]
_SHARED = frozenset({"mem", "tool"})


def shared_sources(
    run: Run,
    suspects: Sequence[str],
    since: int,
    until: int,
    *,
    most: int,
    beside: Collection[str] = (),
) -> list[str]:
    """The agents that had told the likeliest suspects something.

    Args:
        run: The run.
        suspects: The likeliest first; the first :data:`LISTENERS` count.
        since: The first minute that counts.
        until: The minute of the alarm.
        most: How many are named at most.
        beside: Agents that do not talk: exchanges, monitors and the like.

    Returns:
        Memories and tools first, as what is wrong there is wrong for whoever asks; then those who
        had told all of the suspects, and of these who had told most agents at all.
    """
    told: dict[str, set[str]] = defaultdict(set)
    served: dict[str, set[str]] = defaultdict(set)
    sender_, recipient_, channel_ = _COLUMNS
    for row in run.rows("messages", "minute >= ? AND minute <= ?", (since, until)):
        if row[recipient_] in beside:
            continue
        told[row[sender_]].add(row[recipient_])
        if row[channel_] in _SHARED:
            served[row[sender_]].add(row[recipient_])
    listeners, left_out = set(suspects[:LISTENERS]), {*suspects, *beside}
    found = [
        (len(served[name]) < SERVES, -len(heard & listeners), -len(heard), name)
        for name, heard in told.items()
        if name not in left_out and heard & listeners
    ]
    return [name for *_, name in sorted(found)[:most]]

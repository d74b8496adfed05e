"""The event log as text, and the chain of digests over it.

Every message, event and ledger row of a day is one line, its fields joined by tabs::

    <minute> <round> <M, E or L> <agent> <number> <the remaining fields, None as nothing>

in the order (minute, round, letter, agent, number). A day's digest is the SHA-256 of the digest
of the day before, followed by the day's lines; before the first day it is the empty text. So equal
digests on a day mean equal logs up to it, byte for byte.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence

from services.runs.schema import Row

START = ""
"""The digest before the first day."""


def day_lines(
    messages: Sequence[Row], events: Sequence[Row], ledger: Sequence[Row]
) -> tuple[list[str], list[str]]:
    """Renders a day, whose rows are sorted by their keys.

    Args:
        messages: Rows of the messages table.
        events: Rows of the events table.
        ledger: Rows of the ledger table.

    Returns:
        All the lines in the order of the log, and those of the ledger alone.
    """
    # Unpacking is faster than formatting the whole tuple with %, and refuses rows of a wrong shape.
    message_lines = [
        f"{minute}\t{turn}\tM\t{sender}\t{number}\t{recipient}\t{channel}\t{kind}"
        f"\t{in_reply_to or ''}\t{trace or ''}\t{body}\n"
        for minute, turn, sender, number, recipient, channel, kind, in_reply_to, trace, body
        in messages
    ]  # fmt: skip
    event_lines = [
        f"{minute}\t{turn}\tE\t{agent}\t{ordinal}\t{kind}\t{subject}\t{body}\n"
        for minute, turn, agent, ordinal, kind, subject, body in events
    ]
    ledger_lines = [
        f"{minute}\t{turn}\tL\t{agent}\t{ordinal}\t{firm}\t{debit}\t{credit}\t{micros}"
        f"\t{reference}\n"
        for minute, turn, agent, ordinal, firm, debit, credit, micros, reference in ledger
    ]
    if not events and not ledger:
        return message_lines, ledger_lines
    # Within one round of one minute the letters come in the order E, L, M, and within a letter the
    # rows are sorted by agent and number already.
    by_moment: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for rows, lines in ((events, event_lines), (ledger, ledger_lines), (messages, message_lines)):
        for row, line in zip(rows, lines, strict=True):
            by_moment[row[0], row[1]].append(line)
    return [line for moment in sorted(by_moment) for line in by_moment[moment]], ledger_lines


def extend(previous: str, lines: Iterable[str]) -> str:
    """The digest of the chain after one more day.

    Args:
        previous: The digest of the day before, or `START`.
        lines: The day's lines.

    Returns:
        The SHA-256 in hexadecimal.
    """
    return hashlib.sha256((previous + "".join(lines)).encode()).hexdigest()

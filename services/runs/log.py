"""The event log as text, for people.

Every message, event and ledger row of a day is one line, its fields joined by tabs::

    <minute> <round> <M, E or L> <agent> <number> <the remaining fields, None as nothing>

in the order (minute, round, letter, agent, number).
"""

from collections import defaultdict
from collections.abc import Sequence

from services.runs.schema import Row


def day_lines(messages: Sequence[Row], events: Sequence[Row], ledger: Sequence[Row]) -> list[str]:
    """Renders a day, whose rows are sorted by their keys.

    Args:
        messages: Rows of the messages table.
        events: Rows of the events table.
        ledger: Rows of the ledger table.

    Returns:
        The lines in the order of the log.
    """
    message_lines = [
        f"{minute}\t{turn}\tM\t{sender}\t{number}\t{recipient}\t{channel}\t{kind}"
        f"\t{in_reply_to or ''}\t{cause or ''}\t{trace or ''}\t{body}\n"
        for minute, turn, sender, number, recipient, channel, kind, in_reply_to, cause, trace, body
        in messages
    ]  # fmt: skip
    event_lines = [
        f"{minute}\t{turn}\tE\t{agent}\t{ordinal}\t{cause or ''}\t{kind}\t{subject}\t{body}\n"
        for minute, turn, agent, ordinal, cause, kind, subject, body in events
    ]
    ledger_lines = [
        f"{minute}\t{turn}\tL\t{agent}\t{ordinal}\t{firm}\t{debit}\t{credit}\t{micros}"
        f"\t{reference}\n"
        for minute, turn, agent, ordinal, firm, debit, credit, micros, reference in ledger
    ]
    # Within one round of one minute the letters come in the order E, L, M, and within a letter the
    # rows are sorted by agent and number already.
    by_moment: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for rows, lines in ((events, event_lines), (ledger, ledger_lines), (messages, message_lines)):
        for row, line in zip(rows, lines, strict=True):
            by_moment[row[0], row[1]].append(line)
    return [line for moment in sorted(by_moment) for line in by_moment[moment]]

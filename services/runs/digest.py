"""The chain of digests over the event log.

A day's digest is the SHA-256 of the digest of the day before, in hexadecimal, followed by the day's
messages, events and ledger: for each of the three tables one MessagePack array of its rows, each an
array of its columns, in the order of the key. The ledger's digest is over the ledger alone. Before
the first day the digest is the empty text. So equal digests on a day mean equal logs up to it.
"""

import hashlib
from collections.abc import Sequence

import msgpack

from services.runs.schema import Row

START = ""
"""The digest before the first day."""


def packed(rows: Sequence[Row]) -> bytes:
    """A day's rows of one table, sorted by their keys, as the digests are over them.

    Lists and tuples are one and the same in it.
    """
    packing: bytes = msgpack.packb(rows)
    return packing


def extend(previous: str, *tables: bytes) -> str:
    """The digest of the chain after one more day.

    Args:
        previous: The digest of the day before, or `START`.
        tables: The day's rows of each table, `packed`.

    Returns:
        The SHA-256 in hexadecimal.
    """
    digest = hashlib.sha256(previous.encode())
    for table in tables:
        digest.update(table)
    return digest.hexdigest()

"""The epochs of a run: each beginning of its play, with a number and a token.

The number says how often the play had begun before. Two copies of a run's folder have the same
number, so each beginning draws a token, too: what is written outside of the folder for one copy is
not taken for the other's. A copy is known by the inode of its database, which no two files share.
Nothing of this is part of the run's log or of its digests.
"""

from __future__ import annotations

import secrets
import sqlite3
from pathlib import Path
from typing import Final, NamedTuple

from services.runs import database

SPOOLS: Final = "spool"
"""Where in a run's folder the spools of its own machine are; :mod:`actors.spool` says what of."""
SPOOLS_AWAY: Final = ".hanse/spools"
"""Where they are on another machine, seen from the user's home: a folder for each run's id."""
_TOKENS: Final = "epoch_tokens"
_TOKEN_BYTES: Final = 8


class RunEpoch(NamedTuple):
    """A beginning of a run's play, as its database knows it."""

    number: int
    """How often the play had begun before."""
    token: str
    """What no other epoch has; empty for the first of a run."""
    ended: tuple[str, ...]
    """The tokens of earlier epochs that began in this very file."""
    here: bool
    """Whether it began in this very file, and not in one of which this is a copy."""


def first(connection: sqlite3.Connection, path: Path) -> None:
    """Notes in which file the first epoch of a run begins; part of the open transaction."""
    database.set_facts(connection, **{_TOKENS: {"inode": _inode(path), "tokens": [""]}})


def current(connection: sqlite3.Connection, path: Path) -> RunEpoch:
    """The epoch that began last.

    Args:
        connection: Of the run's database.
        path: The database's file.

    Raises:
        Damage: what the database holds makes no sense.
    """
    number = database.fact(connection, "epoch") or 0
    known = database.fact(connection, _TOKENS) or {}
    tokens = known.get("tokens", [""])  # a run of an earlier Hanse has drawn none
    if not (isinstance(tokens, list) and tokens and all(isinstance(t, str) for t in tokens)):
        raise database.Damage(f"its fact {_TOKENS!r} is of another shape")
    here = known.get("inode") in (None, _inode(path))
    return RunEpoch(number, tokens[-1], tuple(tokens[:-1]) if here else (), here)


def begin(connection: sqlite3.Connection, path: Path) -> RunEpoch:
    """The next epoch begins; part of the open transaction.

    Args:
        connection: Of the run's database.
        path: The database's file.

    Raises:
        Damage: what the database holds makes no sense.
    """
    last = current(connection, path)
    ended = (*last.ended, last.token) if last.here else ()
    begun = RunEpoch(last.number + 1, secrets.token_hex(_TOKEN_BYTES), ended, True)
    tokens = {"inode": _inode(path), "tokens": [*begun.ended, begun.token]}
    database.set_facts(connection, epoch=begun.number, **{_TOKENS: tokens})
    return begun


def _inode(path: Path) -> int:
    return path.stat().st_ino

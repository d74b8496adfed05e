"""A run has one writer: whoever has put its claim into the database."""

import json
import os
import sqlite3
from pathlib import Path
from weakref import WeakValueDictionary

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from services.errors import HanseError
from services.runs import database
from services.runs.process import Process

_held: "WeakValueDictionary[str, Claim]" = WeakValueDictionary()
"""The claims held in this process, by token: what was dropped without a word is held no more."""


class Holder(BaseModel):
    """Who holds a run, as its fact ``pid`` says."""

    model_config = ConfigDict(frozen=True, strict=True)

    pid: int = Field(ge=1, lt=2**31)
    started: str
    token: str


class Claim:
    """The right to write a run.

    Whether another process lives is a judgement, and may err where process numbers are not shared
    (containers on one folder). `check`, at the start of every transaction, makes such an error
    harmless: the writer that was superseded stops, and two writers never mix.

    Args:
        folder: The run folder.
        token: What tells this claim from any other.
    """

    def __init__(self, folder: Path, token: str):
        self.folder = folder
        self.token = token
        self._written = ""

    def take(self, connection: sqlite3.Connection) -> None:
        """Claims the run; part of the transaction that is open.

        Raises:
            HanseError: A living process holds it.
        """
        holder = _holder(connection)
        if holder and _is_held(holder):
            here = " (this very process)" if holder.pid == os.getpid() else ""
            raise HanseError(
                f"{self.folder}: process {holder.pid}{here} is writing this run; wait for it or"
                f" stop it, then continue with: hanse resume {self.folder}"
            )
        fact = {**Process.current().model_dump(), "token": self.token}
        database.set_facts(connection, pid=fact)
        self._written = json.dumps(fact)
        _held[self.token] = self

    def check(self, connection: sqlite3.Connection) -> None:
        """Makes sure that the run is still claimed.

        Raises:
            HanseError: Another process has claimed it meanwhile.
        """
        if database.fact_text(connection, "pid") == self._written:  # as always: no need to parse it
            return
        holder = _holder(connection)
        if not holder or holder.token != self.token:
            name = f"process {holder.pid}" if holder else "another process"
            raise HanseError(
                f"{self.folder}: {name} has taken this run over; let that one go on, and see how it"
                " fares with: hanse runs"
            )

    def drop(self) -> None:
        """Forgets the claim; one that is still in the database counts no more."""
        _held.pop(self.token, None)


def is_held(connection: sqlite3.Connection) -> bool:
    """Whether a living process is writing the run."""
    holder = _holder(connection)
    return holder is not None and _is_held(holder)


def _holder(connection: sqlite3.Connection) -> Holder | None:
    found = database.fact(connection, "pid")
    try:
        return Holder.model_validate(found) if found else None
    except ValidationError as error:
        raise database.Damage("its fact 'pid' is of another shape") from error


def _is_held(holder: Holder) -> bool:
    if holder.pid == os.getpid():
        return holder.token in _held
    return Process(pid=holder.pid, started=holder.started).is_alive()

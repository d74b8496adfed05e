"""Attack by shared memory: what a town's board shows is not what was written on it."""

from __future__ import annotations

from actors.injections.rumour import Rumour
from services.talk.payloads import BoardView


class CorruptedMemory(Rumour):
    """The origin is a board, whose entries have been replaced by the story."""

    begins_with = "board"
    payloads = (BoardView,)

"""What is played in an evaluation beside rivals, as tables, folders and JSON call it."""

from __future__ import annotations

from typing import Final

JUDGED: Final = "policy"
"""The policy that is judged."""
USUAL: Final = "usual"
"""The policy's routine with every lever as the scripted firm has it: what was not learned."""


def named(against: str) -> list[str]:
    """The names in ``--against``, which commas part, each once."""
    return list(dict.fromkeys(part.strip() for part in against.split(",") if part.strip()))

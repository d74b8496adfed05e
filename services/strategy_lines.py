"""The strategies that come with Hanse, each in a line, for help texts and run files."""

from __future__ import annotations

from typing import Final

STRATEGY_LINES: Final[dict[str, str]] = {
    "passive": "does nothing; what the others are measured against",
    "heuristic": "CoffeeBench's weak baseline, kept as it is",
    "repaired": "that baseline with its faults mended (roasters)",
    "scripted": "a plain, sound business; the default",
    "managed": "leaves its purchasing to a controller, which it needs (roasters)",
    "importing": "also buys in other towns, through a router, which it needs (roasters)",
    "informed": "the scripted firm, which also talks, listens and believes; see [talk]",
    "random": "any legal commands, for tests",
    "human": "you, at the terminal",
}
"""What each strategy does."""

POLICY: Final = "policy:"
"""What a strategy begins with that is a trained policy; its folder follows."""


def policy_folder(strategy: str) -> str | None:
    """The folder of a strategy that is a trained policy; ``None`` of any other."""
    return strategy.removeprefix(POLICY) if strategy.startswith(POLICY) else None


def is_own(strategy: str) -> bool:
    """Whether a strategy is a class of the user's own, and not one that comes with Hanse."""
    return ":" in strategy and policy_folder(strategy) is None


AUTO_PLACEMENT: Final = (
    "auto: one up to 32 agents, packed above, inline when a human plays; "
    "all three make the same run"
)

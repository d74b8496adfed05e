"""Seeds as a user writes them: `0-31`, `0-31,40`."""

from __future__ import annotations

import re

from services.errors import HanseError

_MOST = 100_000


def parse_seeds(text: str) -> list[int]:
    """The seeds in ascending order, each once."""
    seeds: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,19})\s*(?:-\s*(\d{1,19})\s*)?", part)
        if match is None:
            raise HanseError(f"--seeds {text}: {part!r} is not a seed; allowed: 0-31 or 0-31,40")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise HanseError(f"--seeds {text}: {part.strip()} runs backwards; write {last}-{first}")
        if last - first >= _MOST:
            raise HanseError(f"--seeds {text}: too many; allowed: up to {_MOST:,} seeds")
        seeds.update(range(first, last + 1))
    return sorted(seeds)


def format_seeds(seeds: list[int]) -> str:
    """The short form of ascending seeds."""
    ranges: list[list[int]] = []
    for seed in seeds:
        if ranges and ranges[-1][1] == seed - 1:
            ranges[-1][1] = seed
        else:
            ranges.append([seed, seed])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)

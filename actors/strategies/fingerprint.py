"""The SHA-256 of the files that strategies come from: to notice when one has changed."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from actors.strategies import STRATEGIES
from services.strategy_lines import policy_folder

_OURS = ("actors", "services", "policies", "monitors")


def fingerprints(strategies: Iterable[str]) -> dict[str, str]:
    """The digest of each strategy's file, by the strategy's name in the run file.

    Left out are the strategies that come with Hanse, whose version is known otherwise, and those
    without a readable file.
    """
    found = {}
    for name in dict.fromkeys(strategies):
        module, separator, _ = name.rpartition(":")
        if name in STRATEGIES or not separator:
            continue
        if (folder := policy_folder(name)) is not None:
            # Its manifest has the digest of its weights.
            path: Path | None = Path(folder) / "manifest.json"
        else:
            path = Path(module) if module.endswith(".py") else _source(module)
        try:
            if path is not None:
                found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            continue
    return found


def changed(before: Mapping[str, str], strategies: Iterable[str]) -> list[str]:
    """The files or modules of strategies that are not what they were."""
    now = fingerprints(strategies)
    return list(
        dict.fromkeys(
            policy_folder(name) or name.rpartition(":")[0]
            for name, digest in before.items()
            if name in now and now[name] != digest
        )
    )


def _source(module: str) -> Path | None:
    """The file of a module outside Hanse's own packages."""
    if module.partition(".")[0] in _OURS:
        return None
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        try:
            spec = importlib.util.find_spec(module)
        except (ImportError, ValueError):
            return None
        file = spec.origin if spec is not None else None
    return Path(file) if file else None

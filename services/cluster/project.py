"""Which of a user's files a run needs on a cluster, and how it names them there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final

from services.errors import HanseError
from services.strategy_lines import POLICY, policy_folder

MOST_BYTES: Final = 100_000_000
"""More than this is hardly somebody's strategies: the wrong folder, or data that lie in it."""
_LEFT_OUT: Final = frozenset({"runs", "trainings", "build", "dist", "node_modules", "venv"})
_PLACES: Final = (
    ("firms", "strategy"),
    ("controllers", "policy"),
    ("routers", "policy"),
    ("injections", "kind"),
    ("generate", "strategy"),
)
"""Where a configuration may name a file or folder of the user's."""


def project_files(project: Path, named: Iterable[str] = (), most: int = MOST_BYTES) -> list[Path]:
    """The files below a folder that are part of a project, in order.

    Left out are hidden files, caches, environments, and what runs and trainings have written,
    unless they are named.

    Args:
        project: The folder.
        named: Files and folders that a run needs, relative to it.
        most: Bytes that they have together, at most.

    Raises:
        HanseError: they are more than a project's would be, or hosts cannot have one.
    """
    found: dict[Path, None] = {}
    size = 0
    roots = (project / name for name in named)
    for path in chain(_below(project), *map(_named, roots)):
        if path in found:
            continue
        try:
            str(path).encode()
        except UnicodeEncodeError:
            raise HanseError(
                f"{str(path)!r}: its name is not UTF-8, and hosts cannot have it; rename it"
            ) from None
        found[path] = None
        size += path.stat().st_size
        if size > most:
            raise HanseError(
                f"{project}: holds more than {most / 1e6:.0f} MB; a cluster gets the folder in"
                " which hanse is called, with your strategies: call it in one of their own"
            )
    return list(found)


def named_files(values: dict[str, Any]) -> list[str]:
    """The user's files and folders that a configuration of :func:`relative_paths` names."""
    names = [name for name in map(_place, _names(values)) if name is not None]
    return list(dict.fromkeys(names))


def _named(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
    else:
        yield from _below(root)


def _below(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith((".", "__pycache__"))
            and not name.endswith(".egg-info")
            and name not in _LEFT_OUT
            and not (Path(folder) / name / "pyvenv.cfg").exists()
        )
        for name in sorted(files):
            path = Path(folder) / name
            if name.startswith(".") or not path.is_file():
                continue
            yield path


def relative_paths(values: dict[str, Any], project: Path) -> tuple[dict[str, Any], bool]:
    """A run's configuration with the user's files named relative to the project.

    Args:
        values: The configuration, with whole paths.
        project: The folder that all hosts get, each in a place of its own.

    Returns:
        The changed configuration, and whether it names anything of the user's.

    Raises:
        HanseError: it names a file outside of the project.
    """
    own = any(":" in name for name in _names(values))

    def relative(table: Any, key: str) -> Any:
        name = table.get(key) if isinstance(table, dict) else None
        if not isinstance(name, str) or ":" not in name:
            return table
        return {**table, key: _relative(name, project)}

    changed = dict(values)
    for part, key in _PLACES:
        if isinstance(changed.get(part), list):
            changed[part] = [relative(table, key) for table in changed[part]]
        elif part in changed:
            changed[part] = relative(changed[part], key)
    return changed, own


def _names(values: dict[str, Any]) -> Iterator[str]:
    for part, key in _PLACES:
        held = values.get(part)
        for table in held if isinstance(held, list) else [held]:
            name = table.get(key) if isinstance(table, dict) else None
            if isinstance(name, str):
                yield name


def _place(name: str) -> str | None:
    """The file or folder that a strategy is in; ``None`` if it is a module, or Hanse's own."""
    policy = policy_folder(name)
    if policy is not None:
        return policy
    file, _, _ = name.rpartition(":")
    return file if file.endswith(".py") else None


def _relative(name: str, project: Path) -> str:
    place = _place(name)
    if place is None:
        return name  # a module, found in the project or where Python looks
    # A link in the project may lead out of it: what it leads to is sent.
    path = Path(os.path.normpath(project / place))
    if not path.is_relative_to(project):
        path = path.resolve()
    if not path.is_relative_to(project):
        raise HanseError(
            f"{name}: lies outside of {project}, which is what the hosts get; call hanse in a"
            " folder that holds all that the run needs"
        )
    inside = path.relative_to(project).as_posix()
    if policy_folder(name) is not None:
        return f"{POLICY}{inside}"
    return f"{inside}:{name.rpartition(':')[2]}"

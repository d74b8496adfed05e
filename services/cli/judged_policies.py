"""Which policies `hanse evaluate` is asked about, and whose places they take in a league."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from services.cli.console import typed
from services.errors import HanseError

if TYPE_CHECKING:
    from policies.training.artefact import Manifest
    from policies.training.settings import TrainingConfig


@dataclass(frozen=True)
class Judged:
    """The policies that are judged together."""

    path: Path
    """As it was given."""
    folders: dict[str, Path]
    """By firm, the folder of the policy that takes its place."""
    manifests: dict[str, Manifest]
    """By firm."""
    training: TrainingConfig
    """What they learned by."""


def judged(path: Path, firm: str | None) -> Judged:
    """Finds the policies in a folder: of a policy, of a training, or of policies learned together.

    Args:
        path: The folder.
        firm: Whose place a policy takes, if not that which it learned in.

    Raises:
        HanseError: there is none, one is damaged, or `firm` is given for several.
    """
    from policies.training.artefact import read_manifest
    from policies.training.settings import TrainingConfig

    folders = _folders(path)
    manifests = {folder: read_manifest(folder) for folder in folders}
    first = manifests[folders[0]]
    training = TrainingConfig.parse(first.training, f"{folders[0]}: manifest.json: training")
    learners = training.environment.learners
    seats: dict[str, Path] = {}
    for folder, manifest in manifests.items():
        name = folder.absolute().name
        if len(learners) == 1 or firm is not None:
            seats[firm or learners[0]] = folder
        elif name in learners:
            seats[name] = folder
        else:
            roles = _roles(training)
            seats |= {each: folder for each in learners if roles[each] == manifest.role}
    if firm is not None and len(folders) > 1:
        raise HanseError(
            f"--firm: {path} has {len(folders)} policies that learned together; name one of their"
            f" folders, such as {folders[0]}"
        )
    in_order = {each: seats[each] for each in (*learners, *seats) if each in seats}
    return Judged(path, in_order, {f: manifests[p] for f, p in in_order.items()}, training)


def _folders(path: Path) -> list[Path]:
    from policies.training.artefact import MANIFEST
    from policies.training.folder import POLICY, TRAINING

    if (path / MANIFEST).is_file():
        return [path]
    inside = path / POLICY if (path / TRAINING).is_file() else path
    if (inside / MANIFEST).is_file():
        return [inside]
    together = sorted(one.parent for one in inside.glob(f"*/{MANIFEST}"))
    if inside is not path and not together:
        raise HanseError(
            f"{path}: this training has no policy yet, the first comes with the first validation;"
            f" go on with it: {typed('hanse', 'train', '--resume', path)}"
        )
    return together or [path]


def _roles(training: TrainingConfig) -> dict[str, str]:
    from policies.training.episodes import make_world, seats_of

    world = make_world(training.environment)
    return {name: seat.role for name, seat in seats_of(world).items()}

"""Finished trainings in a folder, so that a study that was stopped goes on where it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from policies.becon.study.level_two import LevelTwo
from policies.becon.study.ppo import PPOSettings


@dataclass(frozen=True, slots=True)
class Kept:
    """What a training came to, and how it was made."""

    settings: str
    studies: tuple[LevelTwo, ...]


_FILE = TypeAdapter(Kept)


def kept(
    path: Path | None,
    run: Callable[[str, int, PPOSettings], tuple[LevelTwo, ...]],
    name: str,
    seed: int,
    settings: PPOSettings,
) -> tuple[LevelTwo, ...]:
    """What is in the file if it was made with the same settings; else runs and writes it.

    Args:
        path: Of the file; None: nothing is kept.
        run: Trains and judges.
        name: Of the variant.
        seed: Of the training.
        settings: Of the training.
    """
    if path is not None and path.is_file():
        try:
            found = _FILE.validate_json(path.read_bytes())
        except ValidationError:
            found = Kept("", ())
        if found.settings == repr(settings):
            return found.studies
    studies = run(name, seed, settings)
    if path is not None:
        path.write_bytes(_FILE.dump_json(Kept(repr(settings), studies)))
    return studies

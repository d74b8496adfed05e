"""A run folder comes into being whole or not at all."""

import glob
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from services.errors import HanseError
from services.runs import database, manifest
from services.runs.process import is_running


def is_run_folder(folder: Path) -> bool:
    """Whether a folder says that it is a run's."""
    try:
        return (folder / manifest.FILE).is_file()
    except OSError:
        return False  # it does not let anybody look


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A place to build a run folder in, which becomes `target` when all has gone well.

    Raises:
        HanseError: There is something at `target` already, or it cannot be written.
    """
    try:
        clear_abandoned(target)
        check_free(target)
        # An empty folder may be a mount, which cannot be replaced: it is filled from within.
        fill = target.exists()
        building = (target if fill else target.parent) / f".{target.name}.{os.getpid()}"
        building.mkdir(parents=True)
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        yield building
        if fill:
            for name in (database.FILE, manifest.FILE):
                os.rename(building / name, target / name)
        else:
            os.rename(building, target)
    except OSError as error:
        raise _unwritable(target, error) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)


def clear_abandoned(target: Path) -> None:
    """Removes what a process left behind that died while it made this folder.

    Beside `target` or in it lies what it was building; it had no day yet, so nothing is lost.
    """
    for place in (target.parent, target):
        makers = {
            building: int(number)
            for building in place.glob(f".{glob.escape(target.name)}.*")
            if (number := building.suffix.removeprefix(".")).isdecimal() and building.is_dir()
        }
        if not makers or any(map(is_running, makers.values())):
            continue
        for building in makers:
            shutil.rmtree(building, ignore_errors=True)
        if place == target and not is_run_folder(target):  # one died between the two files
            for file in target.glob(f"{database.FILE}*"):
                file.unlink(missing_ok=True)


def check_free(target: Path) -> None:
    """Refuses a place where something is already."""
    try:
        if is_run_folder(target):
            raise HanseError(
                f"{target}: holds a run already; choose another folder, or continue that run with:"
                f" hanse resume {target}"
            )
        if target.is_dir():
            if any(target.iterdir()):
                raise HanseError(f"{target}: the folder is not empty; choose another one")
        elif target.exists():
            raise HanseError(f"{target}: is a file; choose another folder")
    except OSError as error:
        raise _unwritable(target, error) from error


def _unwritable(target: Path, error: OSError) -> HanseError:
    return HanseError(
        f"{target}: cannot be written ({error.strerror}); choose another folder, or mend this one"
    )

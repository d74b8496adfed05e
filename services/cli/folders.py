"""Where runs are: a new run's folder, and the folder that a user means by RUN."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from services.cli.console import typed
from services.errors import HanseError

RUNS = Path("runs")
"""Below the working directory."""


def find_run(run: str) -> Path:
    """The folder of a run that the user names by its path, or by its name below `runs/`."""
    for folder in (Path(run), RUNS / run):
        try:
            if folder.is_dir():
                _refuse_sweep(folder)
                return folder
            if folder.is_file():
                raise HanseError(f"{folder}: this is a file; name the run's folder")
        except OSError as error:  # a name that cannot be one, a folder that nobody may look into
            name = run if len(run) <= 80 else f"{run[:77]}..."
            raise HanseError(
                f"{name}: cannot be opened ({error.strerror}); list the runs with: hanse runs"
            ) from None
    names = [folder.name for folder in RUNS.iterdir()] if RUNS.is_dir() else []
    close = difflib.get_close_matches(Path(run).name, names, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise HanseError(f"{run}: there is no such run{hint}; list them with: hanse runs")


def replica_folders(folder: Path) -> dict[int, Path]:
    """The replicas below a sweep's folder by their seed, in ascending order."""
    found = {}
    for path in folder.glob("seed-*"):
        number = path.name.removeprefix("seed-")
        if number.isdecimal() and (path / "manifest.json").exists():
            found[int(number)] = path
    return dict(sorted(found.items()))


def _refuse_sweep(folder: Path) -> None:
    if (folder / "manifest.json").exists():
        return
    if replicas := replica_folders(folder):
        first = next(iter(replicas.values()))
        raise HanseError(
            f"{folder}: this is a sweep of {len(replicas)} runs; name one of them, such as {first}"
        )


@contextmanager
def new_folder(out: Path | None, stem: str) -> Iterator[Path]:
    """Make the folder of a new run: `out`, or the first free `runs/<stem>-<n>`.

    The folder is taken at once, so two runs that start together get one each. It is removed again
    if nothing was put into it.
    """
    try:
        folder = _first_free(stem) if out is None else _given(out)
    except OSError as error:
        where = error.filename or out or RUNS
        raise HanseError(
            f"{where}: cannot be made: {error.strerror or error}; choose another folder with --out"
        ) from None
    try:
        yield folder
    finally:
        with suppress(OSError):  # not empty, as it should be
            folder.rmdir()


def _first_free(stem: str) -> Path:
    RUNS.mkdir(exist_ok=True)
    number = 1
    while True:
        folder = RUNS / f"{stem}-{number:03}"
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def _given(out: Path) -> Path:
    from services.runs.folder import clear_abandoned

    clear_abandoned(out)
    if out.exists() and not out.is_dir():
        raise HanseError(f"{out}: this is a file; choose another folder with --out")
    if out.is_dir() and any(out.iterdir()):
        raise HanseError(
            f"{out}: this folder exists and is not empty; choose another with --out, "
            f"or continue the run in it with: {typed('hanse', 'resume', out)}"
        )
    out.mkdir(parents=True, exist_ok=True)
    return out

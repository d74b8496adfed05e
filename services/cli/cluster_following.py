"""Staying with a run on a cluster until it ends, and bringing its folder home."""

from __future__ import annotations

import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from services.cli.console import note, typed
from services.errors import HanseError

if TYPE_CHECKING:
    from services.cluster.on_head import Head


ASKED_AGAIN: Final = "what was answered there in the day that is not whole is asked again"
"""What it costs when a machine is away as a run is taken up again."""


def attach_to(file: Path, name: str) -> str:
    """The command that comes back to a run."""
    return typed("hanse", "cluster", "attach", file, name)


def ways_on(file: Path, name: str) -> str:
    """What can be done with a run that has stopped on a cluster."""
    resume = typed("hanse", "cluster", "resume", file, name)
    stop = typed("hanse", "cluster", "stop", file, name)
    return f"go on with it there: {resume}; or bring its days here: {stop}"


def after(file: Path, run: Mapping[str, Any]) -> str:
    """A run of `status`, and what can be done with it."""
    from services.cli.trace_lines import plain

    match run["state"]:
        case "stopped":
            then = ways_on(file, run["name"])
        case "finished":
            then = f"bring it here: {attach_to(file, run['name'])}"
        case _:
            then = f"watch it: {attach_to(file, run['name'])}"
    return plain(f"{run['name']}: {then}")


def tell_standing(head: Head, name: str) -> None:
    """Says how a run stands before what it has said so far is shown; or why it cannot be said.

    A head without room for Hanse's newest code still has the run, which can be brought here.
    """
    from services.cli.cluster_tables import standing

    try:
        runs = head.ask("runs")
    except HanseError as error:
        note(f"{name}: how many of its days are whole cannot be said: {error}")
        return
    for run in runs:
        if run["name"] == name:
            note(standing(run))


def tell_away(file: Path, hosts: Iterable[str]) -> None:
    """Says what it costs that machines are away, before a run is taken up again without them."""
    for host in hosts:
        up = typed("hanse", "cluster", "up", file)
        note(
            f"{host}: is not part of the cluster; {ASKED_AGAIN}, if it carried a part of the run;"
            f" to keep it, have the machine back first: {up}"
        )


def refuse_here(folder: Path) -> None:
    """Refuses to bring a run from the cluster to a place where one is already."""
    if (folder / "manifest.json").exists():
        raise HanseError(
            f"{folder}: a run of this name is here already, look at it: hanse report {folder}; for"
            " another one choose another name, or move this folder away"
        )


def stay(head: Head, folder: Path, *, as_json: bool, quiet: bool, known: int = 0) -> None:
    """Follows a run to its end, brings its folder here and shows the result.

    A run that has stopped on the way stays on the cluster, unless it never began.

    Args:
        head: The head of the cluster.
        folder: The run's folder here, named as the run.
        as_json: Print the result as JSON.
        quiet: Show no progress.
        known: How many bytes of what it says are not shown.

    Raises:
        HanseError: it has stopped; why, and what to do.
    """
    from services.cli.summary import show_result
    from services.cluster.following import follow
    from services.runs import Run

    name = folder.name
    back = attach_to(head.cluster.path, name)
    tell: Callable[[str], None] = (lambda line: None) if quiet else note
    try:
        code = follow(head, name, shower(quiet), tell, known)
    except KeyboardInterrupt:
        note(f"the league goes on; come back to it with: {back}")
        raise typer.Exit(130) from None
    if code != 0:
        why = f"{name}: {'; '.join([why_stopped(head, name, code), *_full_disks(head)])}"
        if code > 0 and not head.has_days(name):
            head.forget(name)
            raise HanseError(why)
        raise HanseError(f"{why}; {ways_on(head.cluster.path, name)}")
    _clear(folder)
    _fetch(head, folder)
    result = Run(folder).result
    if result is None:
        raise HanseError(f"{folder}: came back unfinished; once more: {back}")
    head.forget(name)
    show_result(result, folder, as_json=as_json)


def why_stopped(head: Head, name: str, code: int) -> str:
    """What a run that has stopped said last."""
    from services.cli.trace_lines import plain

    if code == -1:
        return "was ended from outside"
    lines = plain(head.with_file(head.log(name))).strip().splitlines()
    last = lines[-1].removeprefix("hanse: ") if lines else "without a word"
    return f"stopped on the cluster: {last}"


def _full_disks(head: Head) -> list[str]:
    """A disk that is full stops a run in many ways, few of which name it."""
    from services.cluster.asking import full_disks

    return full_disks(head.cluster, head.ssh)


def bring(head: Head, folder: Path) -> str:
    """Brings the whole days of a stopped run here and removes it there; says so, if it has any.

    With them comes what its machines have kept of the day that is not whole; a machine that does
    not answer costs what it has kept, and is named.

    Raises:
        HanseError: something could not be brought; all is still on the cluster, to be tried again.
    """
    from services.cluster import spools

    name = folder.name
    said = ""
    if head.has_days(name):
        _clear(folder)
        run_id = head.run_id(name)
        brought = spools.Brought([], [])
        if run_id is None:
            note(
                f"{name}: its manifest.json has no id, by which the workers know it; {ASKED_AGAIN}"
            )
        else:
            # The manifest, which comes last, says that all is here: so do spools before it.
            brought = spools.bring(head.cluster, head.ssh, run_id, folder)
        _fetch(head, folder)
        if run_id is not None:
            spools.remove(head.ssh, run_id, brought.hosts)
        for problem in brought.problems:
            note(f"{problem}; {ASKED_AGAIN}")
        said = f"; its days until then are here: {typed('hanse', 'resume', folder)}"
    head.forget(name)
    return said


def shower(quiet: bool) -> Callable[[bytes], None]:
    """Shows what a run says; none of it steers the terminal."""
    from services.cli.trace_lines import plain

    decode = getincrementaldecoder("utf-8")("replace").decode

    def show(chunk: bytes) -> None:
        if not quiet:
            sys.stderr.write(plain(decode(chunk)))
            sys.stderr.flush()

    return show


def _clear(folder: Path) -> None:
    """Removes what would be taken for a part of the run that is to come here.

    A fetch that broke off may have left it, and of another run that had this name. Before the
    manifest is here, which comes last, nothing is removed where it came from.
    """
    import shutil

    from services.runs import database
    from services.runs.epochs import SPOOLS

    if (folder / "manifest.json").exists():
        return
    try:
        if (folder / SPOOLS).exists():
            shutil.rmtree(folder / SPOOLS)
        for beside in ("-wal", "-shm"):  # SQLite would play another database's log into this one
            (folder / f"{database.FILE}{beside}").unlink(missing_ok=True)
    except OSError as error:
        raise HanseError(
            f"{error.filename or folder}: cannot be removed: {error.strerror}; remove it, then try"
            " again"
        ) from error


def _fetch(head: Head, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HanseError(f"{folder}: cannot be made: {error.strerror}; then try again") from error
    head.fetch(folder.name, folder)

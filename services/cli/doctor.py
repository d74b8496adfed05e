"""`hanse doctor`: is this machine fit, and what is a running league waiting for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from services.cli.console import Json, note, say, say_json, say_table
from services.errors import HanseError

EXAMPLE = """Examples:

  hanse doctor

  hanse doctor coffee-seed0-001       what that running league waits for

  hanse doctor --cluster hosts.yaml   every host of a cluster, whether it is up or not
"""


def doctor(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="A run; by default the only one that is running."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Do not start Ray to see whether it starts.")
    ] = False,
    cluster: Annotated[
        Path | None,
        typer.Option("--cluster", metavar="CLUSTER_FILE", help="Look at the hosts of a cluster."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check the machine, and name the agent and the message that a running league waits for.

    With --cluster it looks at every host of a cluster file instead: ssh, versions, disk, clock,
    secrets, certificates, what listens beyond loopback, and, when the cluster is up, what each
    host carries.

    Exits with 1 if something will not work.
    """
    if cluster is not None:
        if run is not None:
            raise HanseError(f"{run}: --cluster looks at hosts and not at a run; keep one of them")
        _look_at_cluster(cluster, as_json)
        return
    from services.cli.health import check_machine
    from services.cli.waiting import look, running_runs

    folder = _folder(run, running_runs)
    # With a league under way Ray has shown that it starts, and a second one would cost it memory.
    checks = check_machine(start_ray=not quick and folder is None)
    status = None if folder is None else look(folder)
    if as_json:
        say_json(
            {
                "checks": [check.document() for check in checks],
                "run": None if status is None else status.document(),
            }
        )
    else:
        # The answer to what was asked comes first, the machine after it.
        if status is not None:
            for line in status.lines():
                say(line)
        say_table(["check", "state", "found"], [(c.name, c.state, c.found) for c in checks])
        for check in checks:
            if check.remedy:
                say(f"{check.name}: {check.remedy}")
    if any(check.state == "failed" for check in checks):
        raise typer.Exit(1)


def _look_at_cluster(file: Path, as_json: bool) -> None:
    from services.cli.cluster_health import check_cluster, look
    from services.cli.trace_lines import plain
    from services.cluster import ClusterFile, Ssh

    cluster = ClusterFile.read(file)
    seen = look(cluster, Ssh(cluster.user, cluster.key))
    checks = check_cluster(cluster, seen)
    if as_json:
        say_json({"checks": [one.document() for one in checks], "status": seen.status})
    else:
        rows = [(h, c.name, c.state, plain(c.found)) for h, c in checks]
        say_table(["host", "check", "state", "found"], rows)
        for host, check in checks:
            if check.remedy:
                say(plain(f"{host}: {check.name}: {check.remedy}"))
    if any(check.state == "failed" for _, check in checks):
        raise typer.Exit(1)


def _folder(run: str | None, running_runs: Any) -> Path | None:
    """The run to look at: the one named, or the only one that is running."""
    from services.cli.folders import RUNS, find_run

    if run is not None:
        return find_run(run)
    running: list[Path] = running_runs(RUNS)
    if len(running) > 1:
        names = ", ".join(folder.name for folder in running)
        note(f"{len(running)} runs are under way ({names}); name one: hanse doctor {running[0]}")
    return running[0] if len(running) == 1 else None

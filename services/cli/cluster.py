"""`hanse cluster`: a league on several hosts, over `ray up`."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.commands import add, help_text
from services.cli.console import Json, Quiet, Settings, note, say, say_json, typed
from services.errors import HanseError

if TYPE_CHECKING:
    from services.cluster.cluster_file import ClusterFile
    from services.cluster.ssh import Ssh
    from services.config import RunConfig

EXAMPLE = """First steps:

  cp deploy/local.yaml hosts.yaml         then name your hosts in it

  hanse cluster up hosts.yaml

  hanse cluster run hosts.yaml coffee.toml

  hanse cluster down hosts.yaml
"""
UP_EXAMPLE = """Examples:

  hanse cluster up hosts.yaml

It logs in on every host with the key that the file names, so that this works first:
ssh -i KEY USER@HOST
"""
RUN_EXAMPLE = """Examples:

  hanse cluster run hosts.yaml

  hanse cluster run hosts.yaml coffee.toml --seed 7 --placement packed

The hosts get Hanse from here, and the folder in which it is called, with your strategies
and the policies (policy:FOLDER) that the run file names.

Without --hosts a packed league has a Ray actor on each host of the cluster.
"""
ATTACH_EXAMPLE = """Examples:

  hanse cluster attach hosts.yaml coffee-seed0-001
"""
RESUME_EXAMPLE = """Examples:

  hanse cluster up hosts.yaml              when the cluster was stopped, or its head lost

  hanse cluster resume hosts.yaml coffee-seed0-001
"""
STATUS_EXAMPLE = """Examples:

  hanse cluster status hosts.yaml

  hanse cluster status hosts.yaml --json
"""
STOP_EXAMPLE = """Examples:

  hanse cluster stop hosts.yaml coffee-seed0-001

  hanse resume coffee-seed0-001            goes on with it here
"""
LOGS_EXAMPLE = """Examples:

  hanse cluster logs hosts.yaml coffee-seed0-001
"""
DOWN_EXAMPLE = """Examples:

  hanse cluster down hosts.yaml
"""

File = Annotated[
    Path, typer.Argument(metavar="CLUSTER_FILE", help="Cluster file, such as hosts.yaml.")
]
Name = Annotated[str, typer.Argument(metavar="RUN", help="A run's name on the cluster.")]


def cluster(context: typer.Context) -> None:
    """Run leagues on several hosts, over `ray up` and ssh, with the result of one machine."""
    if context.invoked_subcommand is None:
        text = context.get_help()
        if text:
            say(text)


def up(file: File, as_json: Json = False, quiet: Quiet = False) -> None:
    """Start a cluster and see that every host has joined.

    Before anything is started, every host is looked at: does it answer and take the key, has it
    the same Python and packages as the others, room on its disk, a clock that is right? If
    something is wrong, each fault is said with its host and its remedy, and nothing is left
    running. A cluster that is up already is left as it is.
    """
    from services.cli.cluster_tables import show_nodes
    from services.cluster.starting import start

    whole, ssh = _open(file)
    nodes = start(whole, ssh, _teller(quiet))
    if as_json:
        say_json(nodes)
        return
    show_nodes(nodes["nodes"])
    then = typed("hanse", "cluster", "run", file)
    say(f"{len(nodes['nodes'])} hosts are up; run a league: {then}")


def status(file: File, as_json: Json = False) -> None:
    """Show the hosts of a cluster, what they carry, and the runs on it.

    Exits with 1 if a host of the file is missing.
    """
    from services.cli.cluster_following import after
    from services.cli.cluster_tables import show_nodes, show_runs
    from services.cluster.on_head import Head
    from services.cluster.starting import missing

    whole, ssh = _open(file)
    nodes = Head(whole, ssh).ask("status")
    absent = missing(whole, nodes)
    if as_json:
        say_json({**nodes, "missing": absent})
    else:
        show_nodes(nodes["nodes"])
        if nodes["runs"]:
            show_runs(nodes["runs"])
        else:
            then = typed("hanse", "cluster", "run", file)
            say(f"no run is on this cluster; run a league: {then}")
        for run in nodes["runs"]:
            say(after(file, run))
        for host in absent:
            say(f"{host}: is not part of the cluster; when it is well again:"
                f" {typed('hanse', 'cluster', 'up', file)}")  # fmt: skip
    if absent:
        raise typer.Exit(1)


def run(
    file: File,
    run_file: Annotated[
        Path | None,
        typer.Argument(metavar="RUN_FILE", help="Run file; without it the standard league."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="One seed, one run, to the byte.")] = None,
    days: Annotated[int | None, typer.Option(help="How long: 1 to 3660.")] = None,
    placement: Annotated[
        str | None, typer.Option(help="one (a Ray actor for each agent), packed (on --hosts).")
    ] = None,
    hosts: Annotated[
        int | None, typer.Option(help="Ray actors that carry the agents when packed: 1 to 64.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="The run's folder here (runs/<name>-seed<seed>-<n>)."),
    ] = None,
    settings: Settings = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Start it and do not wait; see: attach.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a league on a cluster, watch it from here, and bring its folder back.

    The result is the one that `hanse run` gives, to the byte. The league goes on by itself: when
    the connection drops it is looked for again, and Ctrl-C leaves the league to itself (`attach`
    comes back to it). A host that is lost costs the day that was being played, which is played
    again on the others.
    """
    from services.cli.cluster_following import attach_to, refuse_here, stay
    from services.cli.folders import RUNS, new_folder
    from services.cluster.on_head import Head
    from services.cluster.run_name import checked, free

    whole, ssh = _open(file)
    changes = {"seed": seed, "days": days, "placement": placement, "hosts": hosts}
    head = Head(whole, ssh)
    if out is not None:
        checked(out.name)
        if detach:
            refuse_here(RUNS / out.name)
    project = _project(run_file)
    config, needs_files = _configured(run_file, project, changes, settings, len(whole.hosts))
    from services.cluster.project import named_files, project_files

    files = project_files(project, named_files(config.dump())) if needs_files else []
    stem = f"{config.name}-seed{config.seed}"
    checked(f"{stem}-001" if out is None else out.name)
    _check_machines(config, _shown(run_file), head.ask("status"))
    # The name has to be free on the cluster too.
    with new_folder(out or free(RUNS, stem, head.names()), stem) as folder:
        head.start(folder.name, project, files, config.dump())
        if detach:
            note(f"it runs as {folder.name}; come back to it with: {attach_to(file, folder.name)}")
            return
        if not quiet:
            note(f"it runs as {folder.name}")
        stay(head, folder, as_json=as_json, quiet=quiet)


def attach(file: File, name: Name, as_json: Json = False, quiet: Quiet = False) -> None:
    """Come back to a run on a cluster: watch it to its end, and bring its folder to runs/.

    A run that has stopped is left where it is: go on with it there (`resume`), or bring its days
    here (`stop`).
    """
    from services.cli.cluster_following import refuse_here, stay, tell_standing
    from services.cli.folders import RUNS
    from services.cluster.on_head import Head
    from services.cluster.run_name import checked

    folder = RUNS / checked(name)
    whole, ssh = _open(file)
    refuse_here(folder)
    head = Head(whole, ssh)
    head.exit_code(name)
    if not quiet:
        tell_standing(head, name)
    stay(head, folder, as_json=as_json, quiet=quiet)


def resume(
    file: File,
    name: Name,
    detach: Annotated[
        bool, typer.Option("--detach", help="Start it and do not wait; see: attach.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Go on with a run that has stopped on a cluster, from its last whole day, and watch it.

    It stops when the cluster is stopped, when its head is lost, or when it cannot go on; what was
    played until then is on the head. The result is the one it would have had without the stop. A
    machine that is away is named: what only it knows of the unfinished day is asked again.
    """
    from services.cli.cluster_following import attach_to, refuse_here, stay, tell_away
    from services.cli.folders import RUNS
    from services.cluster.on_head import Head
    from services.cluster.run_name import checked
    from services.cluster.starting import missing

    folder = RUNS / checked(name)
    whole, ssh = _open(file)
    refuse_here(folder)
    head = Head(whole, ssh)
    head.exit_code(name)
    absent = missing(whole, head.ask("status"))
    if head.has_days(name):
        tell_away(file, absent)
    known = head.resume(name)
    if detach:
        note(f"{name} goes on; come back to it with: {attach_to(file, name)}")
        return
    stay(head, folder, as_json=as_json, quiet=quiet, known=known)


def stop(file: File, name: Name) -> None:
    """Stop a run on a cluster; its whole days until then come to runs/, to be resumed there."""
    from services.cli.cluster_following import attach_to, bring, refuse_here, why_stopped
    from services.cli.folders import RUNS
    from services.cluster.on_head import Head
    from services.cluster.run_name import checked

    folder = RUNS / checked(name)
    whole, ssh = _open(file)
    refuse_here(folder)
    head = Head(whole, ssh)
    code = head.exit_code(name)
    if code == 0:
        raise HanseError(f"{name}: has finished already; bring it here: {attach_to(file, name)}")
    if code is None:
        head.end(name)
    why = "is stopped" if code is None else why_stopped(head, name, code)
    note(f"{name}: {why}{bring(head, folder)}")


def logs(file: File, name: Name) -> None:
    """Print what a run on a cluster has said so far."""
    from services.cli.trace_lines import plain
    from services.cluster.on_head import Head

    whole, ssh = _open(file)
    head = Head(whole, ssh)
    head.exit_code(name)
    say(plain(head.log(name)).rstrip("\n"))


def down(file: File, quiet: Quiet = False) -> None:
    """Stop a cluster: no process of Ray or of a league is left on any of its hosts.

    A run that is under way stops with it, and can be gone on with later (`up`, then `resume`).
    Exits with 2 if a host does not answer.
    """
    from services.cluster.stopping import stop as stop_all

    whole, ssh = _open(file)
    if problems := stop_all(whole, ssh):
        raise HanseError(f"{'; '.join(problems)}; the other hosts are stopped")
    if not quiet:
        note(f"{len(whole.hosts)} hosts are stopped")


def register(app: typer.Typer) -> None:
    """Adds the group to the command line."""
    group = typer.Typer()
    for function, examples in (
        (up, UP_EXAMPLE),
        (status, STATUS_EXAMPLE),
        (run, RUN_EXAMPLE),
        (attach, ATTACH_EXAMPLE),
        (resume, RESUME_EXAMPLE),
        (stop, STOP_EXAMPLE),
        (logs, LOGS_EXAMPLE),
        (down, DOWN_EXAMPLE),
    ):
        add(group, function, examples)
    group.callback(invoke_without_command=True, help=help_text(cluster), epilog=EXAMPLE)(cluster)
    app.add_typer(group, name="cluster")


def _open(file: Path) -> tuple[ClusterFile, Ssh]:
    from services.cluster import ClusterFile, Ssh

    whole = ClusterFile.read(file)
    return whole, Ssh(whole.user, whole.key)


def _teller(quiet: bool) -> Any:
    return (lambda line: None) if quiet else note


def _project(run_file: Path | None) -> Path:
    """The folder whose files a run may need: where hanse is called, or where its run file is."""
    here = Path.cwd()
    if run_file is None or run_file.resolve().is_relative_to(here):
        return here
    return run_file.resolve().parent


def _shown(run_file: Path | None) -> str:
    return "standard league" if run_file is None else str(run_file)


def _check_machines(config: RunConfig, source: str, status: dict[str, Any]) -> None:
    """Refuses a run whose file names a machine that is none of the cluster's."""
    if not config.machines:
        return
    from actors.cast import Cast
    from actors.machines import check_nodes
    from actors.nodes import Node

    cast = Cast(config, source)
    placement = config.resolved_placement(len(cast.names))
    nodes = [Node(node["address"], node["address"], 0, node["host"]) for node in status["nodes"]]
    check_nodes(cast, placement, config.hosts, nodes)


def _configured(
    run_file: Path | None,
    project: Path,
    changes: dict[str, Any],
    settings: list[str] | None,
    nodes: int,
) -> tuple[RunConfig, bool]:
    """What is run, checked as `hanse run` checks it, and whether it needs files of the user's."""
    from services.cli.calibrations import check_calibration
    from services.cli.session import check_strategies
    from services.cluster.project import relative_paths
    from services.config import RunConfig, apply_settings, load, standard

    shown = _shown(run_file)
    config = standard()
    if run_file is not None:
        config = load(run_file, check_calibration=check_calibration)
    # Modules, and paths that an option names, are looked up as they will be on the hosts.
    with chdir(project):
        if changes["hosts"] is None and "hosts" not in config.model_fields_set:
            changes = {**changes, "hosts": nodes}
        config = config.with_overrides(source="command line", **changes)
        if settings:
            config = apply_settings(config, settings, check_calibration=check_calibration)
        checked = check_strategies(config, shown)
    if checked.played:
        raise HanseError(f"{shown}: a firm that you play needs this terminal: hanse run")
    values, own = relative_paths(config.dump(), project)
    return RunConfig.parse(values, shown), own

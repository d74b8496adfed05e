"""What runs on the head of a cluster; `hanse cluster` starts it there over ssh.

    python -m services.cli.cluster_head status     the nodes, the runs and where their hosts are
    python -m services.cli.cluster_head runs       the runs alone, also when Ray is down
    python -m services.cli.cluster_head keep NAME  a run, started again when its process is killed
    python -m services.cli.cluster_head play NAME  the run itself

A run's folder, ``~/.hanse/<cluster>/runs/<name>``, holds ``project`` (what the user has sent, with
the run's own folder in it), ``log`` (what it says), ``pid`` (the number of its process, and when
that started) and, at the end, ``code``.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

from services.cli.console import note
from services.cluster.handshake import check_head
from services.cluster.held_runs import held_runs
from services.cluster.run_name import checked
from services.errors import HanseError

ATTEMPTS: Final = 5
"""How often a run is started at most; each time from its last whole day."""
_ASK_SECONDS: Final = 3.0
_SIGNAL_OF_PARENTS_DEATH: Final = 1
"""``PR_SET_PDEATHSIG`` of Linux's prctl(2)."""


def main(arguments: list[str] | None = None) -> int:
    """Runs one action; the process ends with 0 or, after one line, with 2."""
    parser = argparse.ArgumentParser(prog="cluster_head")
    actions = parser.add_subparsers(dest="action", required=True)
    status = actions.add_parser("status")
    status.add_argument("--hosts", type=int, default=0)
    status.add_argument("--wait", type=float, default=0.0)
    actions.add_parser("runs")
    for action in ("keep", "play"):
        actions.add_parser(action).add_argument("name")
    actions.choices["play"].add_argument("--keeper", type=int)
    given = parser.parse_args(arguments)
    try:
        if given.action == "status":
            print(json.dumps(look(given.hosts, given.wait)))
            return 0
        if given.action == "runs":
            print(json.dumps(held_runs(runs_folder())))
            return 0
        folder = runs_folder() / checked(given.name)
        if given.action == "keep":
            return keep(folder)
        if given.keeper is not None:
            end_with(given.keeper)
        return play(folder)
    except HanseError as error:
        note(f"hanse: {error}")
        return 2


def runs_folder() -> Path:
    """Where the runs of this cluster are: this code lies beside them."""
    return Path(__file__).resolve().parents[4] / "runs"


# ---- a run -------------------------------------------------------------------------------------


def keep(folder: Path) -> int:
    """Plays a run to its end in a process of its own, and again when that is killed."""
    from services.cluster import gcs_keeper

    lock = folder.parent.parent / "gcs.lock"
    watched = note, lock, os.environ.get("RAY_ADDRESS", "")
    threading.Thread(target=gcs_keeper.watch, args=watched, daemon=True).start()
    code = -1
    for attempt in range(ATTEMPTS):
        words = [sys.executable, "-m", "services.cli.cluster_head", "play", folder.name]
        words += ["--keeper", str(os.getpid())]
        code = subprocess.run(words, stdin=subprocess.DEVNULL, check=False).returncode
        if code >= 0:
            break
        if attempt + 1 < ATTEMPTS:
            note(f"the league's process was ended by signal {-code}; it goes on")
    (folder / "code.new").write_text(f"{code if code >= 0 else 2}\n")
    (folder / "code.new").rename(folder / "code")
    return max(code, 0)


def end_with(keeper: int) -> None:
    """Has this process end when its keeper does: nobody would see it, stop it or start it again.

    Args:
        keeper: The number of the process that has started this one.

    Raises:
        HanseError: the keeper has ended already.
    """
    ctypes.CDLL(None).prctl(_SIGNAL_OF_PARENTS_DEATH, signal.SIGKILL)
    if os.getppid() != keeper:
        raise HanseError("the process that keeps this run has ended")


def play(folder: Path) -> int:
    """Plays a run, from its beginning or from its last whole day, and prints no result."""
    from actors.league import League
    from actors.tracing import Telemetry
    from services.cli.session import play as play_league
    from services.config import RunConfig
    from services.runs import Run

    project = folder / "project"
    os.chdir(project)
    config = RunConfig.parse(json.loads(Path("config.json").read_text()), "config.json")
    run = Path("runs") / folder.name
    resumed = (run / "manifest.json").exists()
    reached = Run(run).day if resumed else None
    if config.placement != "inline":
        join(project)
    telemetry = Telemetry(log_file=True)
    play_league(
        lambda: (
            League.resume(run, telemetry=telemetry)
            if resumed
            else League.create(config, run, telemetry=telemetry)
        ),
        run,
        config,
        first_day=0 if reached is None else reached + 1,
        show=True,
        as_json=False,
    )
    return 0


def join(project: Path | None = None) -> Any:
    """Joins the cluster that ``RAY_ADDRESS`` names; the module `ray`.

    Args:
        project: A user's files, which all hosts get, and with them Hanse itself.

    Raises:
        HanseError: there is no cluster.
    """
    address = os.environ["RAY_ADDRESS"]
    host, _, port = address.rpartition(":")
    try:
        check_head(host, int(port), os.environ)
    except OSError as error:
        raise HanseError(
            f"the cluster is not up: nothing answers at {address} ({error}); start it with: hanse"
            " cluster up CLUSTER_FILE"
        ) from None
    import ray

    environment: dict[str, Any] = {}
    if project is not None:
        code = Path(__file__).resolve().parents[2]
        packages = [str(code / name) for name in ("actors", "services", "policies", "monitors")]
        environment = {
            "working_dir": str(project),
            "excludes": [f"/runs/{project.parent.name}/"],
            "py_modules": packages,
        }
    try:
        ray.init(
            address=address, log_to_driver=False, logging_level=logging.ERROR,
            runtime_env=environment,
        )  # fmt: skip
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise HanseError(f"the cluster cannot be joined: {reason}") from error
    return ray


# ---- what there is -----------------------------------------------------------------------------


def look(hosts: int = 0, wait: float = 0.0) -> dict[str, Any]:
    """The living nodes, the hosts of leagues on them, and the runs.

    Args:
        hosts: How many nodes to wait for.
        wait: How long at most, in seconds.
    """
    ray = join()
    deadline = time.monotonic() + wait
    while len(living := [n for n in ray.nodes() if n["Alive"]]) < hosts:
        if time.monotonic() > deadline:
            break
        time.sleep(0.5)
    runs = held_runs(runs_folder())
    placed = _placed(ray, {run["id"]: run["name"] for run in runs})
    nodes = [
        {
            "host": node["NodeManagerHostname"],
            "address": node["NodeManagerAddress"],
            "processors": node["Resources"].get("CPU", 0.0),
            "memory": node["Resources"].get("memory", 0.0),
            "carries": sorted(name for name, where in placed.items() if where == node["NodeID"]),
        }
        for node in sorted(living, key=lambda n: n["NodeManagerAddress"])
    ]
    return {"nodes": nodes, "runs": runs}


def _placed(ray: Any, names: dict[str, str]) -> dict[str, str]:
    """For every host of a league, as ``run/host``, the id of its node.

    Args:
        ray: The module.
        names: What runs are called here, by their ids; the id stands for others.
    """
    from actors.host_actor import CONTROL

    asked = {}
    for actor in ray.util.list_named_actors(all_namespaces=True):
        if not actor["namespace"].startswith("hanse-"):
            continue
        try:
            handle = ray.get_actor(actor["name"], actor["namespace"])
        except ValueError:
            continue  # it has ended meanwhile
        where = handle.__ray_call__.options(concurrency_group=CONTROL).remote(_own_node)
        run = actor["namespace"].removeprefix("hanse-")
        asked[where] = f"{names.get(run, run)}/{actor['name']}"
    if not asked:
        return {}
    answered, _ = ray.wait(list(asked), num_returns=len(asked), timeout=_ASK_SECONDS)
    placed = {}
    for reference in answered:
        try:
            placed[asked[reference]] = ray.get(reference)
        except ray.exceptions.RayError:
            continue  # it has just died
    return placed


def _own_node(actor: Any) -> str:
    import ray

    return str(ray.get_runtime_context().get_node_id())


if __name__ == "__main__":
    sys.exit(main())

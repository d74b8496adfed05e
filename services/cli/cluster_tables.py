"""The hosts of a cluster and the runs on it, as `hanse cluster` shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from services.cli.console import say_table, size
from services.cli.trace_lines import plain


def show_nodes(nodes: Sequence[Mapping[str, Any]]) -> None:
    """A row for each host."""
    rows = [
        (
            plain(node["host"]),
            plain(node["address"]),
            f"{node['processors']:.0f}",
            size(node["memory"]),
            plain(", ".join(node["carries"])) or "-",
        )
        for node in nodes
    ]
    say_table(["host", "address", ">processors", ">memory", "carries"], rows)


def show_runs(runs: Sequence[Mapping[str, Any]]) -> None:
    """A row for each run."""
    rows = [(plain(run["name"]), _days(run), run["state"], _since(run)) for run in runs]
    say_table(["run", ">days", "state", "since"], rows)


def standing(run: Mapping[str, Any]) -> str:
    """How a run stands, in a line."""
    days = "" if run["days"] is None else f"{_days(run)} days, "
    return plain(f"{run['name']}: {days}{run['state']} since {_since(run)}")


def _days(run: Mapping[str, Any]) -> str:
    return "-" if run["days"] is None else f"{run['days_done']} of {run['days']}"


def _since(run: Mapping[str, Any]) -> str:
    """The user's own time."""
    if run["since"] is None:
        return "-"
    return f"{datetime.fromisoformat(run['since']).astimezone():%Y-%m-%d %H:%M:%S}"

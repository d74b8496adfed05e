"""Which machine of a cluster carries a host of a league, where the run file says so.

``[machines]`` names a machine for a host (``"host-0"``, ``monitors``), an agent or a town; what is
more particular goes before what is less. The result of a run does not depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from actors.nodes import Node
from services.config.problems import unknown
from services.errors import HanseError

if TYPE_CHECKING:
    from actors.cast import Cast

KEY: Final = "machines"
"""The table of the run file."""


def wanted(cast: Cast, layout: Mapping[str, str]) -> dict[str, str]:
    """For hosts that the run file gives a machine, its name or address.

    Args:
        cast: The cast of the run.
        layout: For every agent its host.

    Raises:
        HanseError: a name is no host's, agent's or town's, or a host would be on two machines.
    """
    if not cast.config.machines:
        return {}
    hosts = list(dict.fromkeys(layout.values()))
    # From the least particular to the most; what comes later goes before.
    levels: list[dict[str, list[str]]] = [
        {town: _hosts_of_town(cast, town, layout) for town in cast.towns},
        {agent: [host] for agent, host in layout.items()},
        {host: [host] for host in hosts},
    ]
    for name in cast.config.machines:
        if not any(name in level for level in levels):
            known = [*sorted(hosts), *cast.towns, *cast.names]
            raise HanseError(
                f"{cast.source}: {KEY}.{name}: {unknown(name, known, 'host, town or agent')}"
            )
    found: dict[str, str] = {}
    for level in levels:
        found.update(_of_level(cast, level))
    return found


def _hosts_of_town(cast: Cast, town: str, layout: Mapping[str, str]) -> list[str]:
    agents = [cast.exchanges[town], *(a for a in cast.names if cast.talkers.town_of(a) == town)]
    return list(dict.fromkeys(layout[agent] for agent in agents))


def _of_level(cast: Cast, level: Mapping[str, Sequence[str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    by: dict[str, str] = {}
    for name, machine in cast.config.machines.items():
        for host in level.get(name, ()):
            if found.setdefault(host, machine) != machine:
                raise HanseError(
                    f"{cast.source}: {KEY}.{name}: {host} carries {by[host]} too, which is to be on"
                    f" {found[host]!r}; name the same machine, or raise hosts"
                )
            by.setdefault(host, name)
    return found


def on_nodes(
    asked: Mapping[str, str], living: Sequence[Node], lost: Sequence[Node], source: str
) -> dict[str, str]:
    """For hosts that are given a machine, the id of its node; not if that machine is lost.

    Args:
        asked: By host the name or address of a machine.
        living: The nodes that may be used.
        lost: Nodes that have been part of the cluster.
        source: What the user knows the run file by.

    Raises:
        HanseError: there is no such machine and has been none.
    """
    found = {}
    for host, machine in asked.items():
        node = next((node for node in living if _is(node, machine)), None)
        if node is not None:
            found[host] = node.id
        elif not any(_is(node, machine) for node in lost):
            known = ", ".join(f"{node.name} ({node.address})" for node in living)
            raise HanseError(
                f"{source}: {KEY}: {host} is to be on {machine!r}, which is no machine of this"
                f" cluster; there are {known}"
            )
    return found


def _is(node: Node, machine: str) -> bool:
    return machine in (node.address, node.name, node.name.partition(".")[0])

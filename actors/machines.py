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
MOST_HOSTS: Final = 64
"""As many as a run file may ask for."""


def wanted(cast: Cast, layout: Mapping[str, str]) -> dict[str, str]:
    """For hosts that the run file gives a machine, its name or address.

    A name that nobody has in this layout counts for nothing: a run may go on in another one.

    Args:
        cast: The cast of the run.
        layout: For every agent its host.
    """
    found: dict[str, str] = {}
    for level in _levels(cast, layout):
        of_level: dict[str, str] = {}
        for name, machine in cast.config.machines.items():
            for host in level.get(name, ()):
                of_level.setdefault(host, machine)
        found.update(of_level)
    return found


def check_names(cast: Cast, placement: str, hosts: int) -> None:
    """Looks at what a new run's file says of machines; also where there are none.

    What is fine for one placement is fine for the others: a host that only some of them have counts
    for nothing in the rest.

    Args:
        cast: The cast of the run.
        placement: ``inline``, ``one`` or ``packed``.
        hosts: The number of its hosts.

    Raises:
        HanseError: a name is no host's, agent's or town's, or a host would be on two machines.
    """
    if not cast.config.machines:
        return
    inline = placement == "inline"
    layout = cast.layout(placement, cast.config.hosts if inline else hosts)
    possible = {f"host-{i}" for i in range(hosts if placement == "packed" else MOST_HOSTS)}
    known = dict.fromkeys([*sorted(set(layout.values())), *cast.towns, *cast.names])
    for name in cast.config.machines:
        if name not in known and name not in possible:
            raise HanseError(
                f"{cast.source}: {KEY}.{name}: {unknown(name, known, 'host, town or agent')}"
            )
    for level in [] if inline else _levels(cast, layout):
        _check_level(cast, level)


def check_nodes(cast: Cast, placement: str, hosts: int, nodes: Sequence[Node]) -> None:
    """Looks at it for a new run on a cluster.

    Args:
        cast: The cast of the run.
        placement: ``inline``, ``one`` or ``packed``.
        hosts: The number of its hosts.
        nodes: The cluster's machines.

    Raises:
        HanseError: as :func:`check_names`, or a machine is none of the cluster's.
    """
    check_names(cast, placement, hosts)
    if placement != "inline":
        on_nodes(wanted(cast, cast.layout(placement, hosts)), nodes, [], cast.source)


def _levels(cast: Cast, layout: Mapping[str, str]) -> list[dict[str, list[str]]]:
    """The hosts behind every name, from the least particular names to the most."""
    if not cast.config.machines:
        return []
    return [
        {town: _hosts_of_town(cast, town, layout) for town in cast.towns},
        {agent: [host] for agent, host in layout.items()},
        {host: [host] for host in dict.fromkeys(layout.values())},
    ]


def _hosts_of_town(cast: Cast, town: str, layout: Mapping[str, str]) -> list[str]:
    agents = [cast.exchanges[town], *(a for a in cast.names if cast.talkers.town_of(a) == town)]
    return list(dict.fromkeys(layout[agent] for agent in agents))


def _check_level(cast: Cast, level: Mapping[str, Sequence[str]]) -> None:
    by: dict[str, str] = {}
    machines = cast.config.machines
    for name, machine in machines.items():
        for host in level.get(name, ()):
            first = by.setdefault(host, name)
            if machines[first] != machine:
                raise HanseError(
                    f"{cast.source}: {KEY}.{name}: {host} carries {first} too, which is to be on"
                    f" {machines[first]!r}; name the same machine, or raise hosts"
                )


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

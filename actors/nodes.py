"""The machines of a Ray cluster, and which of them a league's hosts are put on."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import Any, Final, NamedTuple

from actors.cast import MONITORS

ANSWER_SECONDS: Final = 1.0
"""A machine that does not take a connection within this time is not given a host."""


class Node(NamedTuple):
    """A machine of the cluster, as Ray knows it."""

    id: str
    address: str
    port: int
    """Where Ray's own process on it (its raylet) takes connections."""
    name: str
    """The machine's host name."""


def spread(
    names: Sequence[str], nodes: Sequence[Node], own: str, given: Mapping[str, str] | None = None
) -> dict[str, str]:
    """For each host of a league the id of the node it belongs on.

    They are dealt out in turn, to the node of the league last, which has the clock and the run's
    folder already. A host of monitors is there too: all that it looks at passes through the league.

    Args:
        names: The hosts' names.
        nodes: At least one.
        own: The id of the league's own node.
        given: For hosts that the run file gives a machine, the id of its node.
    """
    order = sorted(nodes, key=lambda node: (node.id == own, _numeric(node.address)))
    ids = [node.id for node in order]
    where = dict(given or {})
    turn = 0
    for name in names:
        if name in where:
            continue
        if name == MONITORS and own in ids:
            where[name] = own
        else:
            where[name] = ids[turn % len(ids)]
            turn += 1
    return where


def moved(names: Sequence[str], where: Mapping[str, str], living: Sequence[str]) -> dict[str, str]:
    """Where lost hosts are made anew: on their node if it lives, else where there are fewest.

    Args:
        names: The lost hosts.
        where: Every host's node.
        living: The ids of nodes that may be used, in the order in which they are preferred.
    """
    load = Counter(dict.fromkeys(living, 0))
    load.update(node for name, node in where.items() if name not in names and node in load)
    new = {}
    for name in names:
        node = where[name]
        if node not in load:
            node = min(living, key=lambda one: (load[one], living.index(one)))
        load[node] += 1
        new[name] = node
    return new


def living_nodes() -> list[Node]:
    """The nodes that Ray holds for alive."""
    return _nodes(lambda node: bool(node["Alive"]))


def all_nodes() -> list[Node]:
    """The nodes that Ray knows, with those that are lost."""
    return _nodes(lambda node: True)


def _nodes(wanted: Callable[[dict[str, Any]], bool]) -> list[Node]:
    import ray

    nodes: list[dict[str, Any]] = ray.nodes()
    return [
        Node(n["NodeID"], n["NodeManagerAddress"], n["NodeManagerPort"], n["NodeManagerHostname"])
        for n in nodes
        if wanted(n)
    ]


def answering(nodes: Sequence[Node]) -> list[Node]:
    """Those of them that answer: Ray learns of a lost machine only after some seconds."""
    with ThreadPoolExecutor(max_workers=max(1, min(32, len(nodes)))) as pool:
        return [node for node, ok in zip(nodes, pool.map(_answers, nodes), strict=True) if ok]


def _answers(node: Node) -> bool:
    try:
        socket.create_connection((node.address, node.port), timeout=ANSWER_SECONDS).close()
    except OSError:
        return False
    return True


def _numeric(address: str) -> tuple[int, int | str]:
    try:
        return 0, int(ip_address(address))
    except ValueError:
        return 1, address

"""Answers that were fetched from a machine are kept, though a second one is lost meanwhile."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from actors import ray_hosts
from actors.guard import JournalRow
from actors.lost import HostLost
from actors.ray_hosts import RayHosts
from actors.ray_spools import RaySpools
from actors.spool import Epoch, Spooled

ENDED = Epoch(0, 3, "0123456789abcdef")
NEXT = Epoch(1, 3, "fedcba9876543210", (ENDED.token,))


def row(agent: str) -> JournalRow:
    return 5000, 0, agent, "answer", '{"message": "exchange-1"}'


class Machines(RaySpools):
    """Machines without Ray, each with an answer of an agent of the same name."""

    def __init__(self) -> None:
        super().__init__("run")
        self.answering = {"left", "other"}
        self.removed: list[object] = []

    def _on_each(
        self, do: Any, argument: object, *, wait: bool = True
    ) -> tuple[list[Any], list[Any]]:
        if not wait:
            self.removed.append(argument)
        asked = [node for node in self._asked if node in self.answering]
        return [Spooled([row(node)], [f"line of {node}"]) for node in asked], []


@pytest.fixture
def spools(monkeypatch: pytest.MonkeyPatch) -> Machines:
    monkeypatch.setattr("actors.ray_spools._value", lambda call: call)
    return Machines()


def agents(parts: list[Spooled]) -> list[str]:
    return [agent for part in parts for _, _, agent, _, _ in part.answers]


def test_a_machine_that_was_left_is_heard_until_the_next_epoch_has_begun(spools: Machines) -> None:
    spools.new_run()
    spools.moved(["left"])
    living = ["head", "left", "other"]
    assert agents(spools.collect(ENDED, living, {"head", "other"})) == ["left"]
    spools.moved(["other"])
    again = spools.collect(ENDED, living, {"head"})
    assert agents(again) == ["left", "other"]
    assert [line for part in again for line in part.log] == ["line of left", "line of other"]
    spools.begin(NEXT)
    assert spools.removed == [NEXT.ended]
    assert agents(spools.collect(NEXT, living, {"head"})) == []


def test_what_a_machine_gave_is_kept_when_it_is_lost_before_the_epoch_begins(
    spools: Machines,
) -> None:
    spools.new_run()
    spools.moved(["left"])
    spools.collect(ENDED, ["left"], set())
    assert agents(spools.collect(ENDED, [], set())) == ["left"]


def test_what_other_hosts_gave_is_kept_when_one_is_lost_as_it_is_asked(
    spools: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts: Any = RayHosts.__new__(RayHosts)
    hosts._spools = spools
    hosts._where = {"host-0": "b", "host-1": "c"}
    spools.new_run()
    spools.moved(["left"])
    given: dict[str, Any] = {"host-0": Spooled([row("b")], []), "host-1": HostLost(["host-1"])}

    def asked(name: str) -> Any:
        return SimpleNamespace(spooled=SimpleNamespace(remote=lambda epoch: name))

    def value(name: str) -> Spooled:
        if isinstance(given[name], HostLost):
            raise given[name]
        return given[name]  # type: ignore[no-any-return]

    context = SimpleNamespace(get_node_id=lambda: "head")
    ray = SimpleNamespace(get_runtime_context=lambda: context, get=value)
    monkeypatch.setattr(ray_hosts, "ray", ray)
    monkeypatch.setattr(ray_hosts, "answering", lambda nodes: nodes)
    nodes = [SimpleNamespace(id=node) for node in ("head", "b", "c", "left")]
    monkeypatch.setattr(ray_hosts, "living_nodes", lambda: nodes)
    hosts._actors = {name: asked(name) for name in given}
    hosts._get = lambda calls: {name: value(call) for name, call in calls.items()}
    with pytest.raises(HostLost):
        hosts.spooled(ENDED)
    given.update({"host-0": Spooled([], []), "host-1": Spooled([], [])})
    assert sorted(agents(hosts.spooled(ENDED))) == ["b", "left"]

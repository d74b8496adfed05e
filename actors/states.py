"""What is saved of a host's agents at the end of a day, and how they go on from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgpack

from actors.agent import Agent
from actors.context import Context
from actors.reports import Saved
from actors.restraints import Restraints
from actors.wakes import Wakes
from services.errors import HanseError


def save(
    agents: Mapping[str, Agent],
    contexts: Mapping[str, Context],
    wakes: Wakes,
    restraints: Restraints,
) -> Saved:
    """Every agent's state, counters, wake-ups and what stands against it.

    Raises:
        HanseError: an agent's ``save`` fails, or returns what is no plain data.
    """
    saved: Saved = {}
    waited = wakes.by_agent()
    for name, agent in agents.items():
        saved[name] = {
            "state": packed_state(agent),
            "number": contexts[name].number,
            "entries": contexts[name].entries,
            "wakes": waited.get(name, []),
        }
        standing = restraints.save(name)
        if standing is not None:
            saved[name]["restraints"] = msgpack.packb(standing)
    return saved


def load(
    saved: Saved,
    agents: Mapping[str, Agent],
    contexts: Mapping[str, Context],
    restraints: Restraints,
) -> Wakes:
    """Puts agents as they were made back to what :func:`save` has saved; returns their wake-ups."""
    wanted: list[tuple[int, str]] = []
    for name, agent in agents.items():
        state, context = saved[name], contexts[name]
        load_state(agent, state["state"])
        context.number, context.entries = state["number"], state["entries"]
        if state.get("restraints") is not None:
            restraints.load(name, msgpack.unpackb(state["restraints"], strict_map_key=False))
        wanted += [(minute, name) for minute in state["wakes"]]
    return Wakes(wanted)


def packed_state(agent: Agent) -> bytes:
    """What an agent saves, as msgpack.

    Raises:
        HanseError: its ``save`` fails, or returns what is no plain data.
    """
    try:
        return msgpack.packb(agent.save())  # type: ignore[no-any-return]
    except Exception as error:
        first = str(error).partition("\n")[0]
        raise HanseError(
            f"{agent.name}: its save() must return plain data (dict, list, str, number, bytes):"
            f" {type(error).__name__}: {first}"
        ) from error


def load_state(agent: Agent, packed: bytes) -> None:
    """Puts an agent back to what :func:`packed_state` gave."""
    agent.load_checked(msgpack.unpackb(packed, strict_map_key=False))


class Mornings:
    """The morning states of agents who may have to begin their day again.

    Args:
        make: Makes an agent by its name, as it is before the first day.
    """

    def __init__(self, make: Callable[[str], Agent]) -> None:
        self._make = make
        self._states: dict[str, bytes] = {}

    def remember(self, agents: Mapping[str, Agent], saved: Saved) -> None:
        """A day begins: keeps the states of those of the agents that are not to be trusted."""
        self._states = {n: saved[n]["state"] for n, a in agents.items() if a.untrusted}

    def again(self, name: str) -> Agent:
        """An agent as it was in the morning."""
        agent = self._make(name)
        load_state(agent, self._states[name])
        return agent

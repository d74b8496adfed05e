"""Who talks to whom in a run: boards, forecasters, neighbours, and whom injections concern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from actors.agent import Agent
from actors.board import PriceBoard
from actors.forecaster import Forecaster
from actors.injections import Injected, Injection, Scene, find_injection
from services.config import FirmConfig, InjectionConfig, RunConfig, TalkConfig
from services.economy.luck import stream
from services.errors import HanseError
from services.messages import MINUTES_PER_DAY, Channel
from services.talk.hours import hours_later
from services.talk.load import CAPACITY, FOR_EACH
from services.talk.topology import Topology, hub_and_neighbour, topology

Edge = tuple[str, str, tuple[Channel, ...]]
"""(who, whom, on which channels)."""


class Talkers:
    """The part of a cast that talks; empty where the run file asks for none of it.

    Args:
        config: The run's.
        town_of: For every firm its town, towns in their order.
        source: What an error names as the file to mend.
    """

    def __init__(
        self,
        config: RunConfig,
        firms: Sequence[FirmConfig],
        town_of: Mapping[str, str],
        source: str,
    ) -> None:
        self.config = config
        self.source = source
        self.settings = config.talk or TalkConfig()
        self.talks = config.talk is not None or any(f.strategy == "informed" for f in firms)
        self._town_of = town_of
        self._roles = {f.name: f.role for f in firms}
        towns = list(dict.fromkeys(town_of.values()))
        self.boards: dict[str, str] = {}
        """The board of each town."""
        self.forecasters: dict[str, str] = {}
        if self.talks and self.settings.boards:
            self.boards = {t: _named("board", t, towns) for t in towns}
        if self.talks and self.settings.forecasters:
            self.forecasters = {t: _named("forecaster", t, towns) for t in towns}

    @property
    def names(self) -> list[str]:
        """The agents that are there because firms talk."""
        return [*self.boards.values(), *self.forecasters.values()]

    def town_of(self, name: str) -> str | None:
        """The town of a firm, board or forecaster."""
        return self._town_of.get(name) or self._own_towns.get(name)

    @cached_property
    def topology(self) -> Topology:
        """Who knows whom."""
        towns: dict[str, list[str]] = {}
        for firm, town in self._town_of.items():
            towns.setdefault(town, []).append(firm)
        return topology(
            self.config.seed,
            towns,
            self.settings.edges,
            careful_share=self.settings.careful,
            # Who sells to shops sees what is ordered; who sells to consumers lives by hearsay.
            may_be_careful=[f for f, role in self._roles.items() if role != "retailer"],
        )

    def options(self, firm: str) -> dict[str, Any]:
        """What an informed firm is told of the others, as far as its own options do not say."""
        known, town, settings = self.topology, self._town_of[firm], self.settings
        trust = 0.0
        if firm not in known.careful:
            draw = stream(self.config.seed, "talk", "trust", firm).uniform(0.9, 1.0)
            trust = round(settings.trust * draw, 3)
        return {
            "neighbours": list(known.neighbours[firm]),
            "board": self.boards.get(town, ""),
            "forecaster": self.forecasters.get(town, ""),
            "suppliers": list(known.partners[firm]),
            "trust": trust,
            "adoption": settings.adoption,
            "rate": settings.rate,
            "capacity": round(CAPACITY + FOR_EACH * self._askers[firm], 1),
        }

    def make(self, name: str) -> Agent | None:
        """A board or a forecaster; nothing for any other name."""
        if name in self.boards.values():
            return PriceBoard(name)
        return Forecaster(name) if name in self.forecasters.values() else None

    # ---- injections ------------------------------------------------------------------------------

    @cached_property
    def scenes(self) -> list[tuple[InjectionConfig, type[Injection], Scene, frozenset[str]]]:
        """Each injection of the run file, where it plays, and whom it concerns."""
        found = []
        for number, config in enumerate(self.config.injections, 1):
            key = f"{self.source}: injections[{number}]"
            kind = find_injection(config.kind, f"{key}.kind")
            scene = self._scene(config, kind, number, key)
            found.append((config, kind, scene, self._concerned(config, kind, scene, key)))
        return found

    def _concerned(
        self, config: InjectionConfig, kind: type[Injection], scene: Scene, key: str
    ) -> frozenset[str]:
        """Whom an injection is put around: only those who talk can be."""
        try:
            concerned = frozenset(kind.concerns(scene))
        except Exception as error:
            raise HanseError(
                f"{key}.kind: {config.kind!r} does not say whom it concerns:"
                f" {type(error).__name__}: {' '.join(str(error).split())}"
            ) from error
        for name in sorted(map(str, concerned)):
            if self.town_of(name) is None:
                raise HanseError(
                    f"{key}.kind: {config.kind!r} concerns {name!r}, which is no firm, board or"
                    " forecaster of this league"
                )
        return concerned

    def wrapped(self, agent: Agent) -> Agent:
        """The agent, with all injections that concern it around it.

        Raises:
            HanseError: options that do not fit.
        """
        around = []
        foreign = False
        for config, kind, scene, concerned in self.scenes:
            if agent.name in concerned:
                around.append(self._made(config, kind, scene, agent.name))
                foreign = foreign or ":" in config.kind
        return Injected(agent, around, foreign) if around else agent

    def check(self, names: Iterable[str]) -> None:
        """Makes every injection once.

        Args:
            names: All agents of the league.

        Raises:
            HanseError: one that cannot be made, or that concerns nobody.
        """
        known = set(names)
        for config, kind, scene, concerned in self.scenes:
            if not concerned & known:
                raise HanseError(
                    f"{self.source}: injections[{scene.number}].kind: {config.kind!r} concerns no"
                    f" agent of this league ({', '.join(sorted(concerned))})"
                )
            self._made(config, kind, scene, min(concerned & known))

    def _made(
        self, config: InjectionConfig, kind: type[Injection], scene: Scene, agent: str
    ) -> Injection:
        try:
            return kind(scene, agent, **config.options)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # also sys.exit: an injection does not end the program
            raise HanseError(
                f"{self.source}: injections[{scene.number}].options: {config.kind!r} cannot be"
                f" made: {' '.join(str(error).split()) or type(error).__name__}"
            ) from error

    def _scene(
        self, config: InjectionConfig, kind: type[Injection], number: int, key: str
    ) -> Scene:
        for role in ("origin", "bridge", "amplifier"):
            name = getattr(config, role)
            if name is not None and self.town_of(name) is None:
                there = [*self._town_of, *self.names]
                raise HanseError(
                    f"{key}.{role}: there is no firm, board or forecaster {name!r};"
                    f" allowed: {', '.join(there[:24])}{', ...' if len(there) > 24 else ''}"
                )
        rng = stream(self.config.seed, "injection", number)
        known, towns = self.topology, sorted(set(self._town_of.values()))
        town = rng.choice(towns) if config.origin is None else self.town_of(config.origin)
        assert town is not None
        if known.gateways:
            bridge, entries = known.gateways[town], known.entries[town]
            amplifier = max(entries, key=lambda f: (len(known.neighbours[f]), f))
        else:
            bridge, amplifier = hub_and_neighbour(known)
        bridge, amplifier = config.bridge or bridge, config.amplifier or amplifier
        firms = tuple(sorted(f for f, at in self._town_of.items() if at == town))
        places = {"board": self.boards, "forecaster": self.forecasters}
        if config.origin is not None:
            origin = config.origin
        elif kind.begins_with == "gateway":
            origin = bridge
        elif kind.begins_with in places:
            origin = places[kind.begins_with].get(town, "")
            if not origin:
                raise HanseError(
                    f"{key}.kind: {config.kind!r} begins with a {kind.begins_with}, and there is"
                    f" none; remove {kind.begins_with}s = false from [talk], or name an origin"
                )
        else:
            others = [f for f in firms if f not in (bridge, amplifier)] or list(firms)
            if kind.enquires:
                others = [f for f in others if known.partners[f]] or others
            origin = rng.choice([f for f in others if f not in known.careful] or others)
        onset = config.day * MINUTES_PER_DAY + config.hour * 60
        end = hours_later(onset, kind.hours if config.hours is None else config.hours)
        return Scene(
            config.kind.rpartition("/")[2], number, onset, end, town, origin, bridge, amplifier,
            firms, known,
        )  # fmt: skip

    @cached_property
    def _askers(self) -> Counter[str]:
        """How many partners may ask each firm how their orders stand."""
        return Counter(asked for others in self.topology.partners.values() for asked in others)

    @cached_property
    def _own_towns(self) -> dict[str, str]:
        return {
            name: town for made in (self.boards, self.forecasters) for town, name in made.items()
        }


def possibility_edges(
    contacts: Mapping[str, Mapping[str, Iterable[Channel]] | None],
    town_of: Mapping[str, str],
    own: Iterable[str],
) -> tuple[list[str], list[Edge]]:
    """Who can reach whom, and how.

    Args:
        contacts: What each firm declares; ``None`` for one that declares nothing, and may then
            write to all firms of its town.
        town_of: The firms' towns.
        own: Further agents that firms reach.

    Returns:
        The names of all agents, sorted, and the edges, sorted. What is asked can be answered, so an
        edge on any channel but ``comm`` leads both ways.
    """
    found: dict[tuple[str, str], set[Channel]] = {}
    towns: dict[str, list[str]] = {}
    for firm, town in town_of.items():
        towns.setdefault(town, []).append(firm)
    nodes = {*contacts, *own}
    for firm, declared in contacts.items():
        if declared is None:
            declared = dict.fromkeys(towns[town_of[firm]], ("comm",))
        for other, channels in declared.items():
            if other == firm or other not in nodes:
                continue
            for channel in channels:
                found.setdefault((firm, other), set()).add(channel)
                if channel != "comm":
                    found.setdefault((other, firm), set()).add(channel)
    edges = [(a, b, tuple(sorted(channels))) for (a, b), channels in sorted(found.items())]
    return sorted(nodes), edges


def _named(what: str, town: str, towns: Sequence[str]) -> str:
    return what if len(towns) == 1 else f"{what}_{town}"

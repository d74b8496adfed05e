"""The cast of a run: which agents there are, how each is made, and where it lives."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import partial
from typing import Any, Final

from actors.agent import Agent
from actors.controller import Controller
from actors.exchange import Exchange
from actors.firm import Firm
from actors.opening import catalogue_of, firms_of, rules_of
from actors.orders import OPERATOR
from actors.restraints import Restraints
from actors.router import Router
from actors.strategies import Strategy, find_strategy, make_strategy
from actors.strategies.informed import Informed
from actors.talkers import Edge, Talkers, possibility_edges
from policies.base_stock import BaseStock
from services.config import ControllerConfig, FirmConfig, RunConfig
from services.economy.setup import TownSetup, firm_setup
from services.errors import HanseError
from services.strategy_lines import is_own

DEFAULT_ORDERS: Final = {
    "green_coffee_kg": BaseStock(reorder_at=60, up_to=75, most=30),
    "green_specialty_kg": BaseStock(reorder_at=15, up_to=20, most=8),
}
"""A base-stock controller's levels where its options name none: the reference roaster's targets."""


CASPIAN: Final = "caspian"
BACE: Final = "bace"
CONTAINMENT: Final = "containment"
"""The names of the monitors and of the controller that answers them."""
MONITORS: Final = "monitors"
"""The host of the monitors."""


class Cast:
    """Makes the agents of a run from its configuration; the same everywhere.

    A subclass brings agents of its own into a league (``League.create(..., cast=WithGreeter)``); it
    must live in a module that can be imported where the hosts are::

        class WithGreeter(Cast):
            def __init__(self, config: RunConfig, source: str = "run file") -> None:
                super().__init__(config, source)
                self.names = sorted([*self.names, "greeter"])

            def make(self, name: str) -> Agent:
                return Greeter(name) if name == "greeter" else super().make(name)
    """

    def __init__(self, config: RunConfig, source: str = "run file") -> None:
        self.config = config
        self.source = source
        self.firms = firms_of(config)
        self.towns = list(dict.fromkeys(f.town or config.town_names[0] for f in self.firms))
        self.exchanges = {
            town: "exchange" if len(self.towns) == 1 else f"exchange_{town}" for town in self.towns
        }
        self.routers = [r.name for r in config.routers]
        if len(self.towns) > 1 and not self.routers and config.generate is not None:
            self.routers = ["router"]
        self.monitors = _monitors(config)
        """Who watches, and who speaks for an operator; they share a host, which works beside the
        others'."""
        self.containment = [CONTAINMENT] if config.containment is not None else []
        """Who answers the monitors' alerts."""
        self._firm = {f.name: f for f in self.firms}
        self._town_of = {f.name: f.town or config.town_names[0] for f in self.firms}
        self.talkers = Talkers(config, self.firms, self._town_of, source)
        self.names = sorted(
            [
                *(f.name for f in self.firms),
                *self.exchanges.values(),
                *self.routers,
                *(c.name for c in config.controllers),
                *self.talkers.names,
                *self.monitors,
                *self.containment,
            ]
        )
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        if twice:
            raise HanseError(
                f"{source}: the name {twice[0]!r} is used twice (a firm, router, controller,"
                " exchange, board, forecaster, monitor or other agent of the league's may have it);"
                " choose another"
            )
        if config.stop_when_bankrupt and config.stop_when_bankrupt not in self._firm:
            raise HanseError(
                f"{source}: stop_when_bankrupt: there is no firm {config.stop_when_bankrupt!r}"
            )

    def check(self) -> None:
        """Makes every strategy once, so that what does not fit is said before the run starts.

        Raises:
            HanseError: a strategy that cannot be imported or made, options that do not fit, or a
                calibration that does not.
        """
        seen: set[str] = set()
        for firm in self.firms:
            key = f"{firm.strategy} {firm.role} {firm.options} {firm.controller}"
            if key not in seen:
                seen.add(key)
                self.make(firm.name)
        for name in [*self.routers, *(c.name for c in self.config.controllers)]:
            self.make(name)
        self.talkers.check(self.names)
        for name in [*self.monitors, *self.containment]:
            self.make(name)

    def possibility_edges(self) -> tuple[list[str], list[Edge]]:
        """Who can reach whom by which channel: the firms, and whoever they declare (``contacts``).

        A firm of a user's own strategy that declares nothing may write to every firm of its town.
        """
        contacts = {}
        for firm in self.firms:
            strategy = self._strategy(firm)
            declared = strategy.contacts()
            contacts[firm.name] = {} if declared is None and not is_own(firm.strategy) else declared
        own = [*self.talkers.names, *(c.name for c in self.config.controllers)]
        return possibility_edges(contacts, self._town_of, own)

    @property
    def unwatched(self) -> frozenset[str] | None:
        """Agents whose mail monitors do not look at; ``None``: there is no monitor.

        A firm's turns and commands, which go to its exchange, are trade and not talk.
        """
        if not self.monitors:
            return None
        return frozenset([*self.exchanges.values(), *self.monitors, *self.containment])

    def restraints(self) -> Restraints:
        """What keeps agents from sending, for one host: as yet nothing but interventions."""
        return Restraints(self.beyond_restraint, self.config.interventions)

    @property
    def beyond_restraint(self) -> list[str]:
        """Agents whose mail, to them and from them, is no talk and never withheld.

        Exchanges, routers and the controllers of firms' purchasing are trade; monitors and
        containment are those who watch.
        """
        buyers = [controller.name for controller in self.config.controllers]
        trade = [*self.exchanges.values(), *self.routers, *buyers]
        return [*trade, *self.monitors, *self.containment]

    def watched(self, name: str) -> bool:
        """Whether an agent runs a user's own code."""
        firm = self._firm.get(name)
        return firm is not None and is_own(firm.strategy)

    def import_strategies(self) -> None:
        """Imports every strategy of the league, so that all payloads are known on every host.

        Raises:
            HanseError: one of them cannot be imported.
        """
        for firm in self.firms:
            find_strategy(firm.strategy, f"{self.source}: firms.{firm.name}.strategy")
        if self.config.injections:
            assert self.talkers.scenes

    @property
    def classes(self) -> list[str]:
        """What of the run file may come from files: strategies, kinds of injections, policies."""
        config = self.config
        policies = [*(c.policy for c in config.controllers), *(r.policy for r in config.routers)]
        return [
            *(firm.strategy for firm in self.firms),
            *(injection.kind for injection in config.injections),
            *filter(None, policies),
        ]

    def strategy_name(self, firm: str) -> str:
        """The strategy of a firm as the run file names it."""
        return self._firm[firm].strategy

    def needs_terminal(self) -> list[str]:
        """Firms that a person plays in the terminal."""
        return [
            f.name
            for f in self.firms
            if getattr(
                find_strategy(f.strategy, f"{self.source}: firms.{f.name}.strategy"),
                "needs_terminal",
                False,
            )
        ]

    def make(self, name: str) -> Agent:
        """Makes one agent, as it is before the first day, with what is done to it around it."""
        agent = self.talkers.make(name) or self._make(name)
        return self.talkers.wrapped(agent) if self.config.injections else agent

    def _make(self, name: str) -> Agent:
        firm = self._firm.get(name)
        if firm is not None:
            return self._make_firm(firm)
        if name == OPERATOR and name in self.monitors:
            return self._make_operator(name)
        if name in self.monitors:
            return self._make_monitor(name)
        if name in self.containment:
            return self._make_containment(name)
        for town, exchange in self.exchanges.items():
            if exchange == name:
                routers = tuple(self.routers) if len(self.towns) > 1 else ()
                return Exchange(name, self.setup(town), routers)
        for router in self.config.routers:
            if router.name == name and router.policy is not None:
                from actors.routing import from_config  # numpy is for who wants policies

                where = f"{self.source}: routers.{name}.policy"
                return from_config(router, self.setup(self.towns[0]), self.exchanges, where)
            if router.name == name:
                return Router(name, router.rule, router.options.partners, self.exchanges)
        for controller in self.config.controllers:
            if controller.name == name:
                return self._make_controller(controller)
        return Router(name, exchanges=self.exchanges)

    def setup(self, town: str) -> TownSetup:
        """What a town is made of."""
        config, economy = self.config, self.config.economy
        rules = rules_of(config)
        values: dict[str, Any] = {
            key: value
            for key in (
                "loss_probability",
                "delay_probability",
                "spoilage_per_day",
                "late_fee_per_day",
                "return_window_days",
                "roast_cap_kg",
                "demand_sigma",
                "market_cap",
                "festival_factor",
                "freight_days",
                "freight_per_kg",
            )
            if (value := getattr(economy, key)) is not None
        }
        if economy.festival_days is not None:
            values["festival_days"] = tuple(economy.festival_days)
        return TownSetup(
            name=town,
            seed=config.seed,
            days=config.days,
            rules=rules,
            catalogue=catalogue_of(config),
            firms=tuple(
                firm_setup(
                    f.name,
                    f.role,
                    cash=f.cash,
                    opex=f.opex,
                    stock_cap=f.stock_cap,
                    stock=f.stock,
                )
                for f in self.firms
                if self._town_of[f.name] == town
            ),
            foreign_trade=len(self.towns) > 1 and bool(self.routers),
            stop_when_bankrupt=config.stop_when_bankrupt,
            **values,
        )

    def layout(self, placement: str, hosts: int) -> dict[str, str]:
        """For every agent the host on which it lives.

        ``one``: a host for each agent, named after it. ``packed``: towns are kept together and
        dealt out in turn; a single town is spread by the hash of its firms' names. ``inline``:
        as packed, usually on one host. A firm's ``host`` in the run file goes before all that.
        """
        if placement == "one":
            return {name: MONITORS if name in self.monitors else name for name in self.names}
        where: dict[str, str] = {}
        for name in self.names:
            firm = self._firm.get(name)
            if firm is not None and firm.host is not None:
                index = firm.host
            elif len(self.towns) > 1 and (town := self.talkers.town_of(name)) is not None:
                index = self.towns.index(town) % hosts
            else:
                index = int(hashlib.sha256(name.encode()).hexdigest(), 16) % hosts
            where[name] = MONITORS if name in self.monitors else f"host-{index}"
        for index, town in enumerate(self.towns):
            where[self.exchanges[town]] = f"host-{index % hosts}"
        return where

    def _make_monitor(self, name: str) -> Agent:
        from actors.watchers import make_monitor  # numpy and networkx are for who wants monitors

        return make_monitor(name, self)

    def _make_operator(self, name: str) -> Agent:
        from actors.operating import Operator

        return Operator(name, self.containment)

    def _make_containment(self, name: str) -> Agent:
        from actors.containment import ContainmentController

        settings, monitor = self.config.containment, self.config.monitor
        assert settings is not None
        return ContainmentController(
            name,
            settings.policy,
            settings.hours,
            settings.per_hour,
            settings.suspects,
            tick_minutes=60 if monitor is None else monitor.tick_minutes,
            audience=self._talking() if settings.advise else [],
            doubt_hours=settings.doubt_hours,
        )

    def _talking(self) -> list[str]:
        """Whoever says something, or shows what others have said."""
        return [*(firm.name for firm in self.firms), *self.talkers.names]

    def _make_controller(self, controller: ControllerConfig) -> Agent:
        if controller.policy is not None:
            from actors.controlling import from_config  # numpy is for who wants policies

            clients = [f for f in self.firms if f.controller == controller.name]
            where = f"{self.source}: controllers.{controller.name}.policy"
            setups = [self.setup(self._town_of[firm.name]) for firm in clients]
            return from_config(controller, setups, where)
        chosen = {item: BaseStock(**x.model_dump()) for item, x in controller.options.items()}
        return Controller(controller.name, chosen or dict(DEFAULT_ORDERS))

    def _make_firm(self, firm: FirmConfig) -> Firm:
        return Firm(firm.name, self.exchanges[self._town_of[firm.name]], self._strategy(firm))

    def _strategy(self, firm: FirmConfig) -> Strategy:
        options = dict(firm.options)
        if firm.controller is not None:
            options.setdefault("controller", firm.controller)
        if firm.strategy == "informed" or self._is_informed(firm):
            options = self.talkers.options(firm.name) | options
        setup = partial(self.setup, self._town_of[firm.name])
        return make_strategy(firm.strategy, firm.name, firm.role, options, self.source, setup)

    def _is_informed(self, firm: FirmConfig) -> bool:
        """Whether a user's own strategy talks as the informed firms do."""
        if not is_own(firm.strategy):
            return False
        kind = find_strategy(firm.strategy, f"{self.source}: firms.{firm.name}.strategy")
        return isinstance(kind, type) and issubclass(kind, Informed)


def _monitors(config: RunConfig) -> list[str]:
    monitor = config.monitor
    if monitor is None:
        return []
    found = [name for name, on in ((CASPIAN, monitor.caspian), (BACE, monitor.bace)) if on]
    if found and config.containment is not None:
        found.append(OPERATOR)
    return found


def plan(config: RunConfig, hosts: int | None, kind: type[Cast] = Cast) -> tuple[Cast, str, int]:
    """Who plays, the placement, and on how many hosts.

    Args:
        config: What is run.
        hosts: How many hosts the caller wants; ``None``: what the configuration says.
        kind: The class of the cast.

    Raises:
        HanseError: a strategy cannot be made, or a person would have no terminal.
    """
    cast = kind(config)
    cast.check()
    placement = config.resolved_placement(len(cast.names))
    players = cast.needs_terminal()
    if players:
        if config.placement not in ("auto", "inline"):
            raise HanseError(
                f"placement: {config.placement!r} has no terminal for {players[0]};"
                " allowed with a human player: inline, auto"
            )
        placement = "inline"
    if placement == "inline":
        return cast, placement, hosts or 1
    if placement == "one":
        return cast, placement, len(cast.names)
    return cast, placement, hosts or config.hosts

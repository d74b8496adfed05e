"""The checks that see the whole run file at once: names that refer to each other, missing roles."""

from __future__ import annotations

from collections.abc import Iterable

from services.config.models import ROLES, RunConfig
from services.config.options import misfits
from services.config.problems import fault, unknown
from services.strategy_lines import is_own

_RESERVED = ("exchange", "league", "self")


def check(config: RunConfig) -> None:
    """Raise a `fault` with its key for the first thing that does not fit together."""
    _firms_or_generator(config)
    _unique("towns", (town.name for town in config.towns))
    _agents_have_names_of_their_own(config)
    _every_role_is_there(config)
    _references(config)
    _routers_name_towns(config)
    _options_are_plain(config)
    _a_person_needs_a_terminal(config)
    _containment_needs_a_monitor(config)
    _somebody_talks(config)
    _injections_are_plain_and_within_the_run(config)


def _firms_or_generator(config: RunConfig) -> None:
    if config.generate is None:
        if not config.firms:
            raise fault("the league has no firms; add [[firms]] tables, or [generate]", key="firms")
        return
    if config.firms:
        raise fault("[[firms]] and [generate] exclude each other; keep one of them", key="generate")
    if config.towns:
        raise fault(
            "[generate] makes the towns itself: set generate.towns and remove [[towns]]",
            key="towns",
        )


def _unique(key: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise fault(
                f"the name {name!r} is used twice; names must be unique", key=f"{key}.{name}.name"
            )
        seen.add(name)


def _agents_have_names_of_their_own(config: RunConfig) -> None:
    """Firms, routers and controllers get mail by name, as the exchanges do."""
    holder: dict[str, str] = {}
    for key in ("firms", "routers", "controllers"):
        for agent in getattr(config, key):
            where = f"{key}.{agent.name}.name"
            if agent.name in _RESERVED or agent.name.startswith("exchange_"):
                raise fault(
                    f"the name {agent.name!r} is taken by the league itself; choose another",
                    key=where,
                )
            if agent.name in holder:
                also = "" if holder[agent.name] == key else f" (also in {holder[agent.name]})"
                raise fault(
                    f"the name {agent.name!r} is used twice{also}; names must be unique", key=where
                )
            holder[agent.name] = key


def _every_role_is_there(config: RunConfig) -> None:
    if config.generate is not None:
        return
    present = {firm.role for firm in config.firms}
    for role in ROLES:
        if role not in present:
            raise fault(
                f'missing role: there is no {role}; add [[firms]] with role = "{role}"', key="firms"
            )


def _references(config: RunConfig) -> None:
    towns = config.town_names
    controllers = [controller.name for controller in config.controllers]
    for firm in config.firms:
        where = f"firms.{firm.name}"
        if firm.town is not None and firm.town not in towns:
            raise fault(unknown(firm.town, towns, "town"), key=f"{where}.town")
        named = {f"{where}.controller": firm.controller}
        if firm.strategy == "managed":
            named[f"{where}.options.controller"] = firm.options.get("controller")
        for key, controller in named.items():
            if controller is not None and controller not in controllers:
                remedy = "" if controllers else "; add [[controllers]] with that name"
                raise fault(unknown(controller, controllers, "controller") + remedy, key=key)
        if firm.host is not None and firm.host >= config.hosts:
            raise fault(
                f"there is no host {firm.host}; allowed: 0 to {config.hosts - 1}, or raise hosts",
                key=f"{where}.host",
            )
    # The firms that a generator makes are known to the league only; it checks the name then.
    if config.stop_when_bankrupt is not None and config.generate is None:
        names = [firm.name for firm in config.firms]
        if config.stop_when_bankrupt not in names:
            raise fault(unknown(config.stop_when_bankrupt, names, "firm"), key="stop_when_bankrupt")


def _routers_name_towns(config: RunConfig) -> None:
    towns = config.town_names
    for router in config.routers:
        for buyer, seller in router.options.partners.items():
            for town in (buyer, seller):
                if town not in towns:
                    raise fault(
                        unknown(town, towns, "town"),
                        key=f"routers.{router.name}.options.partners.{buyer}",
                    )


def _options_are_plain(config: RunConfig) -> None:
    for firm in config.firms:
        for key, complaint in misfits(firm.options, f"firms.{firm.name}.options"):
            raise fault(complaint, key=key)


def _a_person_needs_a_terminal(config: RunConfig) -> None:
    if config.placement not in ("one", "packed"):
        return
    for firm in config.firms:
        if firm.strategy == "human":
            raise fault(
                f"{config.placement!r} has no terminal for {firm.name}, which a human plays; "
                "allowed: inline, auto",
                key="placement",
            )


def _somebody_talks(config: RunConfig) -> None:
    """Boards that nobody reads, or attacks on firms that hear nothing, are a mistake."""
    strategies = [firm.strategy for firm in config.firms]
    if config.generate is not None:
        strategies = [config.generate.strategy]
    if any(s == "informed" or is_own(s) for s in strategies):
        return
    where = "generate.strategy" if config.generate is not None else "a firm's strategy"
    for key, there in (("talk", config.talk is not None), ("injections", config.injections)):
        if there:
            raise fault(f'nobody talks in this league; set {where} to "informed"', key=key)


def _injections_are_plain_and_within_the_run(config: RunConfig) -> None:
    for place, injection in enumerate(config.injections, 1):
        where = f"injections[{place}]"
        for key, complaint in misfits(injection.options, f"{where}.options"):
            raise fault(complaint, key=key)
        if injection.day >= config.days:
            raise fault(
                f"day {injection.day} is not in this run; allowed: 0 to {config.days - 1}",
                key=f"{where}.day",
            )


def _containment_needs_a_monitor(config: RunConfig) -> None:
    if config.containment is not None and config.monitor is None:
        raise fault(
            "nobody raises alerts that it could answer; add [monitor], with"
            ' calibration = "standard" or a file of your own',
            key="containment",
        )

"""The models behind a run file, and the checks that need more than one key.

A value that is left out (`None`) means "as the rule set or the role has it": the economy knows
those numbers, the configuration only knows what the user wants to be different.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from services.config.base import ConfigModel as _Model
from services.config.economy import (
    GREEN_ITEMS,
    ITEMS,
    EconomyConfig,
    ItemConfig,
    Kilograms,
    Money,
    RecipeConfig,
    check_items,
)
from services.config.problems import explain, fault, unknown
from services.config.talking import InjectionConfig, TalkConfig
from services.config.watching import ContainmentConfig, InterventionConfig, MonitorConfig
from services.strategy_lines import policy_folder

FORMAT = 1
RuleSet = Literal["hanse", "coffeebench"]
Role = Literal["farmer", "roaster", "retailer"]
Placement = Literal["auto", "inline", "one", "packed"]
RouterRule = Literal["direct", "cheapest", "least_loaded"]
ControllerRule = Literal["base_stock"]
ControllerSource = Literal["gated", "history", "filter", "exposed"]

RULE_SETS = ("hanse", "coffeebench")
ROLES = ("farmer", "roaster", "retailer")
PLACEMENTS = ("auto", "inline", "one", "packed")
ROUTER_RULES = ("direct", "cheapest", "least_loaded")
CONTROLLER_RULES = ("base_stock",)
STRATEGIES = (
    "passive",
    "heuristic",
    "repaired",
    "scripted",
    "managed",
    "importing",
    "informed",
    "random",
    "human",
)

ONE_ACTOR_EACH_UP_TO = 32
"""Up to this many agents, `placement = "auto"` gives every agent a Ray actor of its own."""

ONLY_TOWN = "town"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
# module:Class, package.module:Class, path/to/file.py:Class (a Windows drive has a colon of its own)
_CLASS = re.compile(r"(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|.+\.py):[A-Za-z_]\w*")

_Share = Annotated[float, Field(gt=0, le=1_000_000)]


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise fault(
            f"{name!r} cannot be a name; "
            "allowed: a letter, then up to 63 letters, digits, '_', '.' or '-'"
        )
    return name


def _check_strategy(strategy: str) -> str:
    if (folder := policy_folder(strategy)) is not None:
        if not folder:
            raise fault('names no policy; write "policy:FOLDER" with a folder of hanse train')
        return strategy
    if strategy in STRATEGIES or _CLASS.fullmatch(strategy):
        return strategy
    raise fault(
        f"{unknown(strategy, STRATEGIES, 'strategy')}, your own as module:Class or path.py:Class,"
        " or a trained policy as policy:FOLDER"
    )


class TownConfig(_Model):
    """A town: one exchange and the firms that trade on it."""

    name: str

    _name = field_validator("name")(_check_name)


class FirmConfig(_Model):
    """A firm. What is left out is as its role has it."""

    name: str
    role: Role
    strategy: str = "scripted"
    """How it decides: a known strategy, or a class of your own."""
    town: str | None = None
    """The town whose exchange it trades on (the first one)."""
    cash: Money | None = None
    opex: Money | None = None
    """Dollars a day for being open."""
    stock_cap: Kilograms | None = None
    """Most that it can store, in kg, with what is on its way."""
    stock: dict[str, Kilograms] | None = None
    """Kg of each item at the start."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Passed to the strategy."""
    controller: str | None = None
    """The controller that does its purchasing."""
    host: Annotated[int, Field(ge=0, le=63)] | None = None
    """The host that carries it (packed placement); counted from 0."""

    _name = field_validator("name")(_check_name)
    _strategy = field_validator("strategy")(_check_strategy)

    @field_validator("stock")
    @classmethod
    def _known_items(cls, stock: dict[str, int] | None) -> dict[str, int] | None:
        check_items(stock or {}, ITEMS)
        return stock


def _names_a_folder(policy: str | None) -> str | None:
    if policy is not None and not policy_folder(policy):
        raise fault(
            f'{policy!r} names no policy; write "policy:FOLDER" with a folder of hanse train'
        )
    return policy


class RouterOptions(_Model):
    """What a router's rule needs to know."""

    partners: dict[str, str] = Field(default_factory=dict)
    """For the rule `direct`: the town that sells to each town."""


class RouterConfig(_Model):
    """An agent that passes work on: trade between towns goes through one."""

    name: str
    rule: RouterRule = "cheapest"
    options: RouterOptions = Field(default_factory=RouterOptions)
    policy: str | None = None
    """A trained policy, as policy:FOLDER; it decides in the place of the rule."""

    _name = field_validator("name")(_check_name)
    _policy = field_validator("policy")(_names_a_folder)

    @model_validator(mode="after")
    def _decides_in_one_way(self) -> RouterConfig:
        if self.policy is not None and self.options.partners:
            key = f"routers.{self.name}.options"
            raise fault("a policy has no partners; remove options, or policy", key=key)
        return self


class BaseStockLevels(_Model):
    """When the rule `base_stock` orders an item, and how much; in kg."""

    reorder_at: Kilograms
    up_to: Kilograms
    most: Kilograms | None = None
    """Most that it orders at a time."""

    @model_validator(mode="after")
    def _orders_something(self) -> BaseStockLevels:
        if self.up_to <= self.reorder_at:
            raise fault(f"up_to = {self.up_to} must be above reorder_at = {self.reorder_at}")
        return self


class ControllerConfig(_Model):
    """An agent that closes a loop: firms may hand it their purchasing."""

    name: str
    rule: ControllerRule = "base_stock"
    options: dict[str, BaseStockLevels] = Field(default_factory=dict)
    """By item."""
    policy: str | None = None
    """A trained policy, as policy:FOLDER; it decides in the place of the rule."""
    source: ControllerSource | None = None
    """Where the policy's context comes from: `gated` (belief and word), or, to compare, `history`
    (the belief alone), `filter` (without networks), `exposed` (the word alone)."""
    kappa: Annotated[float, Field(ge=0, le=10)] | None = None
    """How many deviations of the budget the policy holds back; as it was trained for if left
    out."""

    _name = field_validator("name")(_check_name)

    _policy = field_validator("policy")(_names_a_folder)

    @model_validator(mode="after")
    def _decides_in_one_way(self) -> ControllerConfig:
        if self.policy is not None and self.options:
            raise fault("a policy has no stock levels; remove options, or policy", key="options")
        for key in ("source", "kappa"):
            if self.policy is None and getattr(self, key) is not None:
                raise fault("is for a policy; name one with policy, or remove it", key=key)
        return self

    @field_validator("options")
    @classmethod
    def _known_items(cls, options: dict[str, BaseStockLevels]) -> dict[str, BaseStockLevels]:
        check_items(options, ITEMS)
        return options


class GenerateConfig(_Model):
    """A league of many firms, made from the seed."""

    firms: Annotated[int, Field(ge=3, le=100_000)]
    towns: Annotated[int, Field(ge=1, le=1_000)] = 1
    farmers: _Share = 1.0
    """Shares of the three roles: 1, 1 and 1 make them equally many."""
    roasters: _Share = 1.0
    retailers: _Share = 1.0
    strategy: str = "scripted"

    _strategy = field_validator("strategy")(_check_strategy)

    @model_validator(mode="after")
    def _room_for_every_role_in_every_town(self) -> GenerateConfig:
        if self.firms < 3 * self.towns:
            raise fault(
                f"{self.firms} firms are too few for {self.towns} towns; each town needs three: "
                f"set firms to {3 * self.towns} or more"
            )
        if self.strategy == "human":
            raise fault('strategy = "human" is for single firms; name them in [[firms]]')
        if policy_folder(self.strategy) is not None:
            raise fault("a policy is for firms of one role; name them in [[firms]]")
        return self


def standard_firms() -> list[FirmConfig]:
    """CoffeeBench's six firms in their order; the heuristic one sits where a model is studied."""
    return [
        FirmConfig(
            name=f"{role}_{letter}",
            role=role,
            strategy="heuristic" if (role, letter) == ("roaster", "A") else "scripted",
        )
        for role in ("farmer", "roaster", "retailer")
        for letter in "AB"
    ]


class RunConfig(_Model):
    """Everything that a run depends on. Two runs of equal configuration have equal event logs."""

    format: Annotated[int, Field(ge=FORMAT, le=FORMAT)] = FORMAT
    name: str = "coffee"
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    days: Annotated[int, Field(ge=1, le=3660)] = 90
    rules: RuleSet = "hanse"
    placement: Placement = "auto"
    hosts: Annotated[int, Field(ge=1, le=64)] = 2
    machines: dict[str, Annotated[str, Field(min_length=1, max_length=253)]] = Field(
        default_factory=dict
    )
    """On a cluster: the machine, by name or address, of a host, a town or an agent."""
    turn_timeout: Annotated[float, Field(gt=0, le=86_400)] = 10.0
    """Seconds that an agent may take for a turn before it loses it."""
    mailbox_limit: Annotated[int, Field(ge=1, le=1_000_000_000)] = 10_000
    """Messages that one agent accepts in a minute; more are refused and counted."""
    stop_when_bankrupt: str | None = None
    """The firm whose bankruptcy ends the run."""
    economy: EconomyConfig = Field(default_factory=EconomyConfig)
    items: dict[str, ItemConfig] = Field(default_factory=dict)
    recipes: dict[str, RecipeConfig] = Field(default_factory=dict)
    towns: list[TownConfig] = Field(default_factory=list)
    firms: list[FirmConfig] = Field(default_factory=list)
    routers: list[RouterConfig] = Field(default_factory=list)
    controllers: list[ControllerConfig] = Field(default_factory=list)
    generate: GenerateConfig | None = None
    talk: TalkConfig | None = None
    """How informed firms talk; as usual if it is left out."""
    injections: list[InjectionConfig] = Field(default_factory=list)
    """What is done to the league."""
    monitor: MonitorConfig | None = None
    """Who watches; nobody if it is left out."""
    containment: ContainmentConfig | None = None
    """What is done about a cascade; nothing if it is left out."""
    interventions: list[InterventionConfig] = Field(default_factory=list)
    """What a counterfactual replay changes."""

    _name = field_validator("name")(_check_name)

    @model_validator(mode="before")
    @classmethod
    def _standard_firms_unless_told(cls, values: Any) -> Any:
        if isinstance(values, Mapping) and "firms" not in values and not values.get("generate"):
            return {**values, "firms": standard_firms()}
        return values

    @field_validator("items")
    @classmethod
    def _known_items(cls, items: dict[str, ItemConfig]) -> dict[str, ItemConfig]:
        check_items(items, ITEMS)
        return items

    @field_validator("recipes")
    @classmethod
    def _known_green_items(cls, recipes: dict[str, RecipeConfig]) -> dict[str, RecipeConfig]:
        check_items(recipes, GREEN_ITEMS)
        return recipes

    @model_validator(mode="after")
    def _consistent(self) -> RunConfig:
        from services.config.checks import check  # it knows this class

        check(self)
        return self

    @property
    def town_names(self) -> list[str]:
        """The towns in order; a league that names none has one, or those of its generator."""
        made = self.generate.towns if self.generate is not None else 1
        if made > 1:
            return [f"{ONLY_TOWN}_{number}" for number in range(1, made + 1)]
        return [town.name for town in self.towns] or [ONLY_TOWN]

    def town_of(self, firm: FirmConfig) -> str:
        """The firm's town: the one that it names, or else the first."""
        return firm.town or self.town_names[0]

    def firm(self, name: str) -> FirmConfig | None:
        """The firm of this name, if it is listed."""
        return next((firm for firm in self.firms if firm.name == name), None)

    def resolved_placement(self, number_of_agents: int) -> Literal["inline", "one", "packed"]:
        """What `auto` means for a league of this size.

        A firm that a person plays needs the terminal, and only the driver's own process has one.
        """
        if self.placement != "auto":
            return self.placement
        if any(firm.strategy == "human" for firm in self.firms):
            return "inline"
        return "one" if number_of_agents <= ONE_ACTOR_EACH_UP_TO else "packed"

    def with_overrides(self, source: str = "override", **values: Any) -> RunConfig:
        """A copy with new values for the keys that are not `None`; all is checked again."""
        changed = {key: value for key, value in values.items() if value is not None}
        return self.parse({**self.dump(), **changed}, source) if changed else self

    def dump(self) -> dict[str, Any]:
        """Plain data (JSON can hold it) from which `parse` makes an equal configuration."""
        return self.model_dump(mode="json", by_alias=True)

    @classmethod
    def parse(cls, values: Mapping[str, Any], source: str) -> RunConfig:
        """Validate plain data; a `HanseError` names the source and the key.

        Args:
            values: what a run file or a manifest holds.
            source: what the user knows the data by, such as the file's name.
        """
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            raise explain(error, cls, values, source) from None

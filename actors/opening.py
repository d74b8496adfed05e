"""What a league opens with: its firms, rules and catalogue, as the run file has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from services.config import FirmConfig, RunConfig
from services.economy.catalogue import Catalogue, standard_catalogue
from services.economy.generator import generate_firms
from services.economy.money import micros
from services.economy.rules import Rules, rules_named


def firms_of(config: RunConfig) -> list[FirmConfig]:
    """The firms that are listed, or those that the generator makes from the seed."""
    made = config.generate
    if made is None:
        return list(config.firms)
    shares = (made.farmers, made.roasters, made.retailers)
    firms = []
    for firm in generate_firms(config.seed, made.firms, made.towns, shares):
        options: dict[str, Any] = {}
        if made.strategy in ("scripted", "informed"):
            options = {"asks": firm.asks} if firm.asks else {}
            if firm.correspondents:
                options["correspondents"] = list(firm.correspondents)
        firms.append(
            FirmConfig(
                name=firm.name,
                role=firm.role,
                town=firm.town,
                strategy=made.strategy,
                cash=firm.cash,
                options=options,
            )
        )
    return firms


def rules_of(config: RunConfig) -> Rules:
    """The set of rules, with the numbers that the run file changes."""
    rules = rules_named(config.rules)
    economy = config.economy
    changed = {
        key: value
        for key in ("credit_limit", "listing_days", "max_terms_days")
        if (value := getattr(economy, key)) is not None
    }
    return replace(rules, **changed)


def catalogue_of(config: RunConfig) -> Catalogue:
    """The items and recipes, with the numbers that the run file changes."""
    items: dict[str, dict[str, Any]] = {}
    for name, item in config.items.items():
        changed: dict[str, Any] = {}
        if item.cost is not None:
            changed["unit_cost"] = micros(item.cost)
        if item.floor is not None:
            changed["floor_kg"] = item.floor
        for key in ("daily_cap", "reservation_price", "demand_base"):
            if getattr(item, key) is not None:
                changed[key] = getattr(item, key)
        items[name] = changed
    recipes: dict[str, dict[str, Any]] = {}
    for name, recipe in config.recipes.items():
        changed = {}
        if recipe.labour is not None:
            changed["labour"] = recipe.labour
        if recipe.yield_ is not None:
            changed["yield_"] = recipe.yield_
        if recipe.lag is not None:
            changed["lag_days"] = recipe.lag
        recipes[name] = changed
    return standard_catalogue().with_changes(items, recipes)

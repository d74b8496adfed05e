"""What a run is: a TOML file, read into frozen pydantic models, with errors that name file and key.

    config = load(Path("run.toml"))                 # or standard()
    config = config.with_overrides(seed=7, days=30)
    config.firms[0].name                            # 'farmer_A'

Everything that a run depends on is in the `RunConfig`; `dump` and `parse` take it to the run
folder's manifest and back.
"""

from services.config.economy import GREEN_ITEMS, ITEMS, EconomyConfig, ItemConfig, RecipeConfig
from services.config.models import (
    CONTROLLER_RULES,
    ONE_ACTOR_EACH_UP_TO,
    PLACEMENTS,
    ROLES,
    ROUTER_RULES,
    RULE_SETS,
    STRATEGIES,
    BaseStockLevels,
    ControllerConfig,
    FirmConfig,
    GenerateConfig,
    RouterConfig,
    RunConfig,
    TownConfig,
    standard_firms,
)
from services.config.reading import load, standard
from services.config.settings import apply_settings
from services.config.talking import INJECTIONS, InjectionConfig, TalkConfig
from services.config.template import commented_template
from services.config.watching import (
    CONTAINMENT_POLICIES,
    INTERVENTIONS,
    ContainmentConfig,
    ContainmentPolicy,
    InterventionConfig,
    MonitorConfig,
)

__all__ = [
    "CONTAINMENT_POLICIES",
    "CONTROLLER_RULES",
    "GREEN_ITEMS",
    "INJECTIONS",
    "INTERVENTIONS",
    "ITEMS",
    "ONE_ACTOR_EACH_UP_TO",
    "PLACEMENTS",
    "ROLES",
    "ROUTER_RULES",
    "RULE_SETS",
    "STRATEGIES",
    "BaseStockLevels",
    "ContainmentConfig",
    "ContainmentPolicy",
    "ControllerConfig",
    "EconomyConfig",
    "FirmConfig",
    "GenerateConfig",
    "InjectionConfig",
    "InterventionConfig",
    "ItemConfig",
    "MonitorConfig",
    "RecipeConfig",
    "RouterConfig",
    "RunConfig",
    "TalkConfig",
    "TownConfig",
    "apply_settings",
    "commented_template",
    "load",
    "standard",
    "standard_firms",
]

"""What a training file (TOML) may say, and how it is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from policies.environments import rewards, routing_episode
from policies.environments.seeds import Seeds
from services.config.base import ConfigModel
from services.config.problems import explain, fault, unknown
from services.config.reading import load, read_toml, whole_strategy
from services.config.settings import put_settings
from services.errors import HanseError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_Positive = Annotated[int, Field(ge=1)]
_HeldOut = Annotated[int, Field(ge=0, lt=Seeds.TRAINING[0])]
"""A league's seed that is never learned from."""


class EnvironmentConfig(ConfigModel):
    """Where is learned: a firm of a league, or the router between its towns."""

    run: str | None = None
    """The run file of the league, relative to the training file; the standard league without."""
    league: dict[str, Any] | None = None
    """The league itself, in place of a run file. A training keeps its run file like that, so that
    it goes on in the same league whatever becomes of the file."""
    firm: str = "roaster_A"
    """Which of its firms learns."""
    firms: list[str] = Field(default_factory=list)
    """Several that learn at the same time, in place of one."""
    router: str | None = None
    """The router that learns, in place of a firm, in a league with several towns."""
    share: Literal["none", "role"] = "none"
    """Whether firms of a role share their networks."""
    strategies: dict[str, str] = Field(default_factory=dict)
    """Strategies for other firms in place of those of the run file."""
    cadence: Literal["day", "turn"] = "day"
    """How often it decides."""
    objectives: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default_factory=lambda: {"profit": 1.0}
    )
    """What it is rewarded for, with weights that sum to 1."""
    cost: str = "stock_out"
    """What is measured against the budget."""
    budget: Annotated[float, Field(ge=0, le=1)] = 0.5
    """What the mean cost of a step may be; kept to with ``lagrangian.enabled``."""

    @property
    def learners(self) -> tuple[str, ...]:
        """Who learns."""
        if self.router is not None:
            return (self.router,)
        return tuple(self.firms) or (self.firm,)

    @model_validator(mode="before")
    @classmethod
    def _one_of_several(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        if values.get("router") is not None:
            usual = {"objectives": {"surplus": 1.0}, "cost": "empty_handed"}
            return usual | values
        if isinstance(values.get("firms"), list) and values["firms"]:
            return {"firm": values["firms"][0], **values}
        return values

    @model_validator(mode="after")
    def _known(self) -> Self:
        of_router = self.router is not None
        objectives = routing_episode.OBJECTIVES if of_router else rewards.OBJECTIVES
        costs = routing_episode.COSTS if of_router else rewards.COSTS
        for name in self.objectives:
            if name not in objectives:
                raise fault(unknown(name, objectives, "objective"), "environment.objectives")
        if self.cost not in costs:
            raise fault(unknown(self.cost, costs, "cost"), "environment.cost")
        if of_router:
            if self.firms:
                raise fault("are not learned beside a router; keep one", "environment.firms")
            if self.cadence != "day":
                raise fault("a router decides with every order; remove it", "environment.cadence")
            if self.run is None and self.league is None:
                raise fault(
                    "a router learns in a league with several towns; name its run file with run",
                    "environment.router",
                )
        return self

    @model_validator(mode="after")
    def _learner(self) -> Self:
        key = "environment.firms"
        if len(set(self.firms)) != len(self.firms):
            raise fault(f"{', '.join(self.firms)}: name each firm once", key)
        if self.firms and self.firm not in self.firms:
            raise fault(
                f"{self.firm!r} is not one of firms; keep one of the two", "environment.firm"
            )
        if len(self.learners) > 1 and self.cadence != "day":
            raise fault(
                "several firms decide together, once a day; write day", "environment.cadence"
            )
        for firm in self.learners:
            if firm in self.strategies:
                raise fault(f"{firm} is a firm that learns; name others", "environment.strategies")
        return self

    @field_validator("objectives")
    @classmethod
    def _weights(cls, objectives: dict[str, float]) -> dict[str, float]:
        if not objectives:
            raise fault("names no objective; give one, for example { profit = 1.0 }")
        total = sum(objectives.values())
        if abs(total - 1) > 1e-6:
            raise fault(f"the weights sum to {total:g}; they must sum to 1")
        return objectives


class NetworkConfig(ConfigModel):
    """The networks of policy and value, both of this shape."""

    hidden: Annotated[list[Annotated[int, Field(ge=1, le=4096)]], Field(max_length=8)] = Field(
        default_factory=lambda: [128, 128]
    )
    """The widths of the hidden layers."""
    usual: Annotated[float, Field(ge=0, le=10)] = 2.0
    """How much the untrained policy prefers what the scripted firm does, as a logit."""


class PPOConfig(ConfigModel):
    """Proximal policy optimisation (Schulman et al., arXiv 1707.06347)."""

    iterations: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    episodes: Annotated[int, Field(ge=1, le=1_024)] = 16
    """Episodes of an iteration; as many environments run side by side."""
    epochs: Annotated[int, Field(ge=1, le=100)] = 6
    minibatch: Annotated[int, Field(ge=1, le=100_000)] = 240
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 1e-3
    """At the start; it falls linearly, over ``decay`` iterations, and stays."""
    final_learning_rate: Annotated[float, Field(ge=0, le=1)] = 1e-4
    decay: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """In how many iterations the learning rate falls; by default in all of them."""
    discount: Annotated[float, Field(gt=0, le=1)] = 0.99
    gae_lambda: Annotated[float, Field(ge=0, le=1)] = 0.95
    clip: Annotated[float, Field(gt=0, lt=1)] = 0.2
    entropy: Annotated[float, Field(ge=0, le=1)] = 0.003
    value_weight: Annotated[float, Field(ge=0, le=100)] = 0.5
    gradient_norm: Annotated[float, Field(gt=0)] = 0.5
    runners: Annotated[int, Field(ge=0, le=64)] = 0
    """Processes that play the episodes; 0: the trainer's own."""


class ChainConfig(ConfigModel):
    """Churn reduction (CHAIN, arXiv 2409.04792)."""

    enabled: bool = True
    beta: Annotated[float, Field(ge=0)] = 0.1
    """How large its term is to be beside the policy's loss; its weight follows from that."""


class LagrangianConfig(ConfigModel):
    """Keeping to the budget by a price of cost that rises while the budget is exceeded.

    Ray, Achiam, Amodei: Benchmarking Safe Exploration in Deep Reinforcement Learning, 2019,
    section 5.2; as a controller with its integral term alone: arXiv 2007.03964, section 4.
    """

    enabled: bool = False
    rate: Annotated[float, Field(gt=0, le=1_000)] = 5.0
    """By how much the multiplier moves in an iteration whose mean cost is 1 above the budget."""
    start: Annotated[float, Field(ge=0)] = 0.0
    """The multiplier before training."""
    most: Annotated[float, Field(gt=0, le=1_000)] = 50.0
    """The most that it becomes."""

    @model_validator(mode="after")
    def _range(self) -> Self:
        if self.start > self.most:
            raise fault(f"{self.start:g} is above most ({self.most:g})", "lagrangian.start")
        return self


class ValidationConfig(ConfigModel):
    """How the best policy of a training is chosen: on seeds that are neither learned nor tested."""

    every: _Positive = 10
    """Iterations from one validation to the next."""
    seeds: Annotated[list[_HeldOut], Field(min_length=2, max_length=2)] = Field(
        default_factory=lambda: [500, 507]
    )
    """The first and the last."""

    @field_validator("seeds")
    @classmethod
    def _forwards(cls, seeds: list[int]) -> list[int]:
        first, last = seeds
        if last < first:
            raise fault(f"{seeds} runs backwards; write [{last}, {first}]")
        return seeds


class TrainingConfig(ConfigModel):
    """A training."""

    format: Literal[1] = 1
    name: str = "roaster"
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 1
    environment: EnvironmentConfig = Field(default_factory=EnvironmentConfig)
    network: NetworkConfig = Field(default_factory=NetworkConfig)
    ppo: PPOConfig = Field(default_factory=PPOConfig)
    chain: ChainConfig = Field(default_factory=ChainConfig)
    lagrangian: LagrangianConfig = Field(default_factory=LagrangianConfig)
    validation: ValidationConfig = Field(default_factory=ValidationConfig)

    @field_validator("name")
    @classmethod
    def _name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise fault(
                f"{name!r} cannot be a name; allowed: a letter, then up to 63 letters, digits,"
                " '_', '.' or '-'"
            )
        return name

    @model_validator(mode="after")
    def _rates(self) -> Self:
        if self.ppo.final_learning_rate > self.ppo.learning_rate:
            raise fault(
                f"{self.ppo.final_learning_rate:g} is above learning_rate"
                f" ({self.ppo.learning_rate:g}); it must not be",
                "ppo.final_learning_rate",
            )
        return self

    @classmethod
    def parse(cls, values: dict[str, Any], source: str) -> TrainingConfig:
        """Checks plain data.

        Raises:
            HanseError: one line with the source, the key and what is allowed.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise explain(error, cls, values, source) from None

    @classmethod
    def load(cls, path: Path | str) -> TrainingConfig:
        """Reads a training file, and the run file that it names.

        Raises:
            HanseError: one line with the file, the key and what is allowed.
        """
        path = Path(path)
        values = read_toml(path, "a training file")
        if "name" not in values and _NAME.fullmatch(path.stem):
            values["name"] = path.stem
        return cls.parse(values, str(path))._whole(path.absolute().parent, str(path))

    def with_settings(self, settings: Iterable[str]) -> TrainingConfig:
        """The same with each `key.path=value` set; files are meant relative to the working folder.

            config.with_settings(["ppo.learning_rate=3e-4", "environment.firm=retailer_A"])

        Raises:
            HanseError: one line with the setting and what is allowed.
        """
        values = self.model_dump(mode="json", exclude_unset=True)
        environment = values.setdefault("environment", {})
        if self.environment.run is not None:
            environment.pop("league", None)  # it is read from the run file, the same or another
        if self.environment.firms[:1] == [self.environment.firm]:
            environment.pop("firm", None)  # it follows from the others
        put_settings(values, settings, "ppo.iterations=50")
        if self.environment.run is not None and "league" in environment:
            raise HanseError(
                f"--set: environment.league: the league is that of {self.environment.run}; change"
                " that file, or name another with environment.run"
            )
        return self.parse(values, "--set")._whole(Path.cwd(), "--set")

    def _whole(self, folder: Path, source: str) -> TrainingConfig:
        """The same with the league that it names, and paths that are meant relative to a folder."""
        found = self.environment
        rivals = {name: whole_strategy(s, folder) for name, s in found.strategies.items()}
        update: dict[str, Any] = {"strategies": rivals}
        if found.run is not None:
            if found.league is not None:
                raise HanseError(f"{source}: environment.league: is there beside run; keep one")
            league = load(folder / found.run)
            update |= {"run": (folder / found.run).as_posix(), "league": league.dump()}
        return self.model_copy(update={"environment": found.model_copy(update=update)})

    def changed(self, source: str, **values: Any) -> TrainingConfig:
        """The same with other values, checked: ``changed("--seed", seed=7)``.

        Raises:
            HanseError: a value does not fit.
        """
        return self.parse(self.model_dump(mode="json") | values, source)

"""What can be set about balanced updates in RLlib's `learner_config_dict`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from policies.balanced.direction import BalanceSettings
from services.errors import HanseError

PREFIX = "balanced_"


class BalancedOptions(BaseModel):
    """The keys are these names with `balanced_` before them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tasks: Literal["column", "objectives"] = "column"
    """What the tasks of one module are: rows told apart by a column, or the components of its
    advantages (`policies.training.vector_gae`)."""
    column: str = "task"
    """Of whole numbers: the task of each step. Without it the module is one task."""
    shared: tuple[str, ...] = ("encoder.actor_encoder", "encoder.encoder", "encoder", "trunk")
    """How names of parameters that a module's tasks share begin; the first that any name begins
    with counts."""
    mode: Literal["normalized", "common"] = "normalized"
    """`secant` compares gradients of the same data, which mini-batches are not."""
    decay: float = Field(0.9, ge=0, lt=1)
    """Of the running mean of inner products."""
    ridge: float = Field(1e-4, ge=0)
    most_tasks: int = Field(8, ge=2)
    noise_every: int = Field(0, ge=0)
    """Mini-batches from one estimate of the gradients' noise to the next; 0: never, and no task is
    ever set aside. Off, because PPO learns from gradients that are only 1.5 to 2 times their noise
    (two small agents, mini-batches of 256 steps): the usual factor sets aside tasks that learn."""
    noise_factor: float = Field(3.0, ge=0)
    stall_steps: int = Field(50, ge=1)
    stall_share: float = Field(0.05, ge=0)

    @property
    def settings(self) -> BalanceSettings:
        """For the balancer."""
        return BalanceSettings(
            mode=self.mode,
            ridge=self.ridge,
            decay=self.decay,
            most_tasks=self.most_tasks,
            noise_factor=self.noise_factor,
            stall_steps=self.stall_steps,
            stall_share=self.stall_share,
        )


def read_options(given: Mapping[str, Any]) -> BalancedOptions:
    """The options in `learner_config_dict`; other keys are not looked at.

    Raises:
        HanseError: a key that begins with `balanced_` is unknown or has a value it cannot have.
    """
    mine = {key.removeprefix(PREFIX): value for key, value in given.items() if key[:9] == PREFIX}
    try:
        return BalancedOptions.model_validate(mine)
    except ValidationError as error:
        first = error.errors()[0]
        key = PREFIX + str(first["loc"][0])
        if first["type"] == "extra_forbidden":
            known = ", ".join(sorted(PREFIX + name for name in BalancedOptions.model_fields))
            raise HanseError(
                f"learner_config_dict: {key!r} is unknown; known are {known}"
            ) from None
        raise HanseError(
            f"learner_config_dict: {key!r} is {first['input']!r}: {first['msg']}"
        ) from None

"""What can be set about CHAIN, and how it is read from RLlib's `learner_config_dict`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from policies.chain.coefficient import CoefficientSettings
from services.errors import HanseError

PREFIX = "chain_"


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """CHAIN for one module.

    The keys of `learner_config_dict` are these names and those of
    :class:`policies.chain.coefficient.CoefficientSettings`, with `chain_` before them:

        config.learners(learner_class=ChainPPOLearner, learner_config_dict={"chain_beta": 0.1})
    """

    weight: float | None = None
    """`chain_lambda`: a fixed weight of the term; 0: off; None ("auto"): set by itself."""
    coefficient: CoefficientSettings = field(default_factory=CoefficientSettings)
    value_weight: float | None = None
    """`chain_value_lambda`: the same for the critic's term, where there are two (SAC)."""
    value_beta: float = 0.01
    """Beta of the critic's term, where there are two; the rest is as for the other."""
    reference_size: int = 0
    """Rows of the reference batch; 0: as many as the mini-batch has."""
    follow_learning_rate: bool = False
    """Whether the weight falls with the learning rate (to a tenth at least)."""
    monitor_every: int = 0
    """Mini-batches from one measurement of churn to the next; 0: never."""
    monitor_steps: tuple[int, ...] = (1,)
    """How many steps back the measurement looks."""


_NAMES = {"weight": "lambda", "value_weight": "value_lambda"}
"""Settings whose key is another word (`lambda` is no name in Python)."""


def read_settings(given: Mapping[str, Any], default: ChainSettings) -> ChainSettings:
    """The settings that `learner_config_dict` changes, on top of the default.

    Raises:
        HanseError: a key that begins with `chain_` is unknown or has a value it cannot have.
    """
    own = {
        _NAMES.get(f.name, f.name): f.name for f in fields(ChainSettings) if f.name != "coefficient"
    }
    inner = {f.name for f in fields(CoefficientSettings)}
    changed: dict[str, Any] = {}
    coefficient: dict[str, Any] = {}
    for key, value in given.items():
        if not key.startswith(PREFIX):
            continue
        name = key.removeprefix(PREFIX)
        if name in own:
            changed[own[name]] = _read(key, name, value)
        elif name in inner:
            coefficient[name] = _read(key, name, value)
        else:
            known = ", ".join(sorted(PREFIX + one for one in (*own, *inner)))
            raise HanseError(f"learner_config_dict: {key!r} is unknown; known are {known}")
    settings = replace(default, **changed, coefficient=replace(default.coefficient, **coefficient))
    if settings.coefficient.least > settings.coefficient.most:
        raise HanseError("learner_config_dict: chain_least must be at most chain_most")
    return settings


_WHOLE = {"window": 1, "warm_up": 0, "reference_size": 0, "monitor_every": 0}
"""Settings that are whole numbers, and the least they may be."""


def _read(key: str, name: str, value: Any) -> Any:
    if name.endswith("lambda") and value == "auto":
        return None
    if name == "follow_learning_rate":
        if isinstance(value, bool):
            return value
        raise HanseError(f"learner_config_dict: {key!r} must be true or false, not {value!r}")
    if name == "monitor_steps":
        steps = tuple(value) if isinstance(value, list | tuple) else ()
        if steps and all(isinstance(one, int) and 1 <= one <= 10 for one in steps):
            return steps
        raise HanseError(
            f"learner_config_dict: {key!r} must be a list of numbers from 1 to 10, not {value!r}"
        )
    if name in _WHOLE:
        if isinstance(value, int) and not isinstance(value, bool) and value >= _WHOLE[name]:
            return value
        raise HanseError(
            f"learner_config_dict: {key!r} must be a whole number from {_WHOLE[name]} up, not"
            f" {value!r}"
        )
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return float(value)
    also = ' or "auto"' if name.endswith("lambda") else ""
    raise HanseError(
        f"learner_config_dict: {key!r} must be a number from 0 up{also}, not {value!r}"
    )

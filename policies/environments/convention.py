"""How a vector-reward environment tells what a wrapper needs: objectives, descriptors, streams.

Every environment here has an attribute ``objectives`` and says in ``info``: ``vector_reward``
``(K,)``, ``cost``, ``preference`` ``(K,)`` and ``budget`` (true), ``exposed_preference`` and
``exposed_budget`` (what the agent is shown).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np

from services.errors import HanseError


def objectives_of(env: gymnasium.Env[Any, Any]) -> tuple[str, ...]:
    """The objectives of an environment that follows the convention.

    Raises:
        HanseError: it does not, or it appends the descriptors to its observations itself.
    """
    try:
        objectives = env.get_wrapper_attr("objectives")
    except AttributeError:
        raise HanseError(
            f"{env.unwrapped!r} has no objectives; use an environment with vector rewards, or"
            " policies.environments.multi_objective for one of mo-gymnasium"
        ) from None
    layout = getattr(env.unwrapped, "layout", None)
    if getattr(layout, "objectives", ()):
        raise HanseError(
            "the environment appends preference and budget to its observations, which a wrapper"
            " changes; make it with descriptors = False"
        )
    return tuple(objectives)


def exposed_names(objectives: Sequence[str]) -> tuple[str, ...]:
    """The entries of an exposed descriptor and its feedback, in the order of an observation."""
    return (
        *(f"exposed_weight.{name}" for name in objectives),
        "exposed_budget",
        "age",
        "missing",
        *(f"last_reward.{name}" for name in objectives),
        "last_cost",
        "score",
        "alarm",
        "feedback",
    )


def own_stream(seed: int, purpose: str) -> np.random.Generator:
    """A generator of a wrapper's own: the same seed and purpose give the same numbers."""
    digest = hashlib.sha256(f"{seed}:{purpose}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))

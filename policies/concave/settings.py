"""What can be set about concave PPO, and how it is read from RLlib's `learner_config_dict`.

learner_config_dict={
    "concave_scalarisation": {"utility": "soft_min", "beta": 5.0},
    "concave_constraint": {"g": {"utility": "linear", "weights": [0, 1]}, "threshold": 0.5},
}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from policies.concave.estimator import Estimator, MultiLevel, PlugIn, automatic
from policies.concave.objective import Constraint
from policies.concave.reading import read_scalarisation
from policies.concave.returns import Kind
from policies.concave.scalarisation import Scalarisation
from services.errors import HanseError

PREFIX: Final = "concave_"
Choice = Literal["auto", "plug_in", "multi_level"]
Source = Literal["auto", "fresh", "rollout"]


@dataclass(frozen=True, slots=True)
class ConcaveSettings:
    """Concave PPO for one module; the keys are these names with `concave_` before them."""

    scalarisation: Scalarisation
    """f; in the dictionary an object, or a table as in `reading`."""
    constraint: Constraint | None = None
    """g(J) >= threshold; an object, or a table with `g`, `threshold`, `rate` and `start`."""
    estimator: Choice = "auto"
    """`auto`: plug-in for what is second-order smooth, multi-level for what is not."""
    levels: int = 9
    repetitions: int = 4
    batch: int = 0
    """Fresh episodes for plug-in; 0: as many as multi-level takes on average."""
    source: Source = "auto"
    """Episodes behind omega. `rollout`: those that are learned from, in two halves, each of which
    weighs the other; only plug-in can do with a given number. `fresh`: played for the purpose.
    `auto`: `rollout` if plug-in is chosen, otherwise `fresh`."""
    returns: Kind = "discounted"
    """What J is: see :func:`policies.concave.returns.episode_return`."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuses numbers that cannot be, and multi-level on a rollout."""
        MultiLevel(self.levels, self.repetitions)
        if self.batch != 0:
            PlugIn(self.batch)
        chosen = (self.estimator_of(f) for f in self._utilities())
        if self.source == "rollout" and any(isinstance(each, MultiLevel) for each in chosen):
            raise HanseError(
                "concave_source: a rollout has a given number of episodes, but the multi-level"
                ' estimate draws its own; use "fresh", or concave_estimator = "plug_in"'
            )

    @property
    def fresh(self) -> bool:
        """Whether episodes are played for omega alone."""
        if self.source != "auto":
            return self.source == "fresh"
        return any(isinstance(self.estimator_of(f), MultiLevel) for f in self._utilities())

    def estimator_of(self, f: Scalarisation) -> Estimator:
        """How f is estimated."""
        many = MultiLevel(self.levels, self.repetitions)
        plain = self.estimator == "plug_in"
        if self.estimator == "auto":
            plain = isinstance(automatic(f), PlugIn)
        return PlugIn(self.batch or round(many.expected_trajectories)) if plain else many

    def _utilities(self) -> list[Scalarisation]:
        return [self.scalarisation, *([self.constraint.g] if self.constraint else [])]


def read_settings(given: Mapping[str, Any]) -> ConcaveSettings:
    """The settings in a `learner_config_dict`.

    Raises:
        HanseError: there is no utility, or a key that begins with `concave_` is unknown or has a
            value it cannot have.
    """
    own = {key.removeprefix(PREFIX): each for key, each in given.items() if key.startswith(PREFIX)}
    known = tuple(ConcaveSettings.__slots__)
    for name in own:
        if name not in known:
            keys = ", ".join(PREFIX + each for each in known)
            raise HanseError(f"learner_config_dict: {PREFIX + name!r} is unknown; known are {keys}")
    if own.get("scalarisation") is None:
        raise HanseError(
            "learner_config_dict: 'concave_scalarisation' is missing; it names the utility, such as"
            ' {"utility": "soft_min", "beta": 5.0}'
        )
    own["scalarisation"] = _utility(own["scalarisation"], "concave_scalarisation")
    if own.get("constraint") is not None:
        own["constraint"] = _constraint(own["constraint"])
    for name, kind in (("estimator", Choice), ("source", Source), ("returns", Kind)):
        if name in own and own[name] not in get_args(kind):
            choices = ", ".join(get_args(kind))
            raise HanseError(
                f"learner_config_dict: {PREFIX + name!r} must be one of {choices}, not"
                f" {own[name]!r}"
            )
    for name in ("levels", "repetitions", "batch", "seed"):
        value = own.get(name, 1)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise HanseError(
                f"learner_config_dict: {PREFIX + name!r} must be a whole number, not {value!r}"
            )
    return ConcaveSettings(**own)


def _utility(given: Any, where: str) -> Scalarisation:
    if isinstance(given, Scalarisation):
        return given
    if isinstance(given, Mapping):
        return read_scalarisation(given, where)
    raise HanseError(f"{where}: must be a utility or a table that names one, not {given!r}")


def _constraint(given: Any) -> Constraint:
    if isinstance(given, Constraint):
        return given
    known = tuple(Constraint.__slots__)
    if not isinstance(given, Mapping) or "g" not in given or not set(given) <= set(known):
        raise HanseError(
            f"concave_constraint: must be a table with g and perhaps {', '.join(known[1:])}, not"
            f" {given!r}"
        )
    rest = {key: value for key, value in given.items() if key != "g"}
    return Constraint(_utility(given["g"], "concave_constraint.g"), **rest)

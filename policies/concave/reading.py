"""A utility by its name: how files and `learner_config_dict` state one.

read_scalarisation({"utility": "target_shortfall", "weights": [1, 0], "targets": [0, 0.62],
                    "penalties": [0, 40]})
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, Final

from policies.concave.scalarisation import Scalarisation
from policies.concave.utilities import (
    AlphaFair,
    Linear,
    ProportionalFairness,
    Quadratic,
    SoftMin,
    TargetShortfall,
)
from services.errors import HanseError

UTILITIES: Final[Mapping[str, type[Scalarisation]]] = {
    "linear": Linear,
    "proportional_fairness": ProportionalFairness,
    "alpha_fair": AlphaFair,
    "target_shortfall": TargetShortfall,
    "soft_min": SoftMin,
    "quadratic": Quadratic,
}


def read_scalarisation(given: Mapping[str, Any], where: str = "scalarisation") -> Scalarisation:
    """The utility that a table names, with the parameters that it states.

    Args:
        given: ``utility`` and its parameters, as in the class.
        where: What the table is called, for errors.

    Raises:
        HanseError: the name or a parameter is unknown, missing, or cannot be.
    """
    name = str(given.get("utility"))
    if name not in UTILITIES:
        raise HanseError(
            f"{where}: utility must be one of {', '.join(sorted(UTILITIES))}, not {name!r}"
        )
    kind: Any = UTILITIES[name]
    known = {each.name: each for each in fields(kind)}
    if kind is ProportionalFairness:
        del known["alpha"]
    rest = {key: value for key, value in given.items() if key != "utility"}
    for key in rest:
        if key not in known:
            raise HanseError(
                f"{where}: {key!r} is no parameter of {name}; it has {', '.join(sorted(known))}"
            )
    for key, each in known.items():
        if key not in rest and each.default is MISSING:
            raise HanseError(f"{where}: {name} needs {key!r}")
    try:
        made: Scalarisation = kind(**rest)
    except HanseError as error:
        raise HanseError(f"{where}: {error}") from None
    return made

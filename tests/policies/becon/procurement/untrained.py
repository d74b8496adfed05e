"""Purchasing policies that nobody has trained: right in shape, and quick to make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.becon.procurement import artefact
from policies.becon.procurement.levers import FEATURES, LEVELS, layout
from policies.environments.procurement import OBJECTIVES
from services.economy.setup import TownSetup

HIDDEN, HEADS, INNER = 8, 3, 6


def weights(seed: int = 0) -> dict[str, NDArray[Any]]:
    rng = np.random.default_rng(seed)
    k, where = len(OBJECTIVES), layout()
    history = sum(where.sizes[name] for name in where.history)
    shapes = {
        "encoder.gru.weight_ih_l0": (3 * HIDDEN, history),
        "encoder.gru.weight_hh_l0": (3 * HIDDEN, HIDDEN),
        "encoder.gru.bias_ih_l0": (3 * HIDDEN,),
        "encoder.gru.bias_hh_l0": (3 * HIDDEN,),
        "heads.inner": (HEADS, HIDDEN + 2 * k + 2, INNER),
        "heads.inner_bias": (HEADS, INNER),
        "heads.outer": (HEADS, INNER, k + 3),
        "heads.outer_bias": (HEADS, k + 3),
        "heads.prior_inner": (HEADS, HIDDEN, 5),
        "heads.prior_outer": (HEADS, 5, k + 1),
        "gates.body.0.weight": (24, 6),
        "gates.body.0.bias": (24,),
        "gates.body.2.weight": (2, 24),
        "gates.body.2.bias": (2,),
        "gates.steepness": (2,),
        "line.body.0.weight": (24, 6),
        "line.body.0.bias": (24,),
        "line.body.2.weight": (2, 24),
        "line.body.2.bias": (2,),
    }
    made = {f"estimator.{name}": rng.normal(0.0, 0.3, shape) for name, shape in shapes.items()}
    made["estimator.calibration"] = np.array([1.5, 0.5])
    widths = (len(FEATURES) + len(LEVELS), 7, k)
    for place in range(2):
        made[f"values.{2 * place}.weight"] = rng.normal(size=(widths[place + 1], widths[place]))
        made[f"values.{2 * place}.bias"] = rng.normal(size=widths[place + 1])
    # More is held to be better, or it might buy nothing at all.
    made["values.0.weight"][:, -len(LEVELS) :] = np.abs(made["values.0.weight"][:, -len(LEVELS) :])
    made["values.2.weight"] = np.abs(made["values.2.weight"])
    return {name: value.astype(np.float32) for name, value in made.items()}


def manifest(setup: TownSetup | None = None) -> dict[str, Any]:
    return {
        "name": "untrained",
        "kappa": 0.5,
        "town": artefact.town_of(setup or TownSetup()),
        "prior_scale": 0.1,
        "hidden": [7],
        "training": {},
        "versions": {},
    }


def written(folder: Path) -> Path:
    """The folder of a policy for the standard town."""
    artefact.write(folder, manifest(), weights())
    return folder

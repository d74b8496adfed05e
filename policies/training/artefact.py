"""A trained policy as a folder: weights, and a manifest that says what they are good for.

``manifest.json`` is plain JSON, ``weights.safetensors`` holds arrays and nothing else: loading
either runs no code. A policy refuses to act where it would misread what it sees: in a town with
other rules, or with other fields or levers than those it was trained on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from policies.environments.action_layout import ActionLayout
from policies.environments.observation_layout import ObservationLayout
from policies.environments.routing_layout import RoutingDecision, RoutingLayout
from services.economy.rules import Rules
from services.errors import HanseError
from services.whole_file import whole

MANIFEST: Final = "manifest.json"
WEIGHTS: Final = "weights.safetensors"
PURCHASING: Final = "becon_purchasing"
"""The kind of another policy with such a folder: `policies.becon.procurement`."""
_REMEDY: Final = "train it anew: hanse train FILE"


class _Lever(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    levels: list[float]
    unit: str
    usual: int


class Manifest(BaseModel):
    """What is known of a policy."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    kind: Literal["levers"] = "levers"
    """Levers of a firm, set by a perceptron with tanh."""
    name: str
    role: Literal["farmer", "roaster", "retailer", "router"]
    cadence: Literal["day", "turn", "order"]
    layouts: dict[str, str]
    """The versions of what observations and levers mean."""
    observation: list[dict[str, Any]]
    """The fields, in order."""
    observation_sha256: str
    """The digest of the observation's layout, anchors of prices included."""
    levers: list[_Lever]
    """The heads, in order."""
    rules: dict[str, Any]
    """The rules of the town in which it was trained."""
    hidden: list[int]
    objectives: dict[str, float]
    training: dict[str, Any]
    """The training file, as it was read."""
    iteration: int
    versions: dict[str, str]
    weights_sha256: str
    metrics: dict[str, float] = Field(default_factory=dict)
    """What validation has found."""


def describe(
    layout: ObservationLayout | RoutingLayout, actions: ActionLayout | RoutingDecision, rules: Rules
) -> dict[str, Any]:
    """The part of a manifest that tells whether a policy fits a firm, or a router."""
    return {
        "role": layout.role,
        "layouts": {
            "observation": layout.version,
            "levers": actions.version,
        },
        "observation": [plain(asdict(field)) for field in layout.fields],
        "observation_sha256": layout.sha256,
        "levers": [plain(asdict(lever)) for lever in actions.levers],
        "rules": plain(asdict(rules)),
    }


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """As it comes back from JSON."""
    found: dict[str, Any] = json.loads(json.dumps(values))
    return found


def shown(path: Path) -> str:
    """A path in an error's line; in quotes where it has signs that a terminal would obey."""
    return str(path) if str(path).isprintable() else repr(str(path))


def reason(error: OSError | ValueError) -> str:
    """Why a file could not be read."""
    return str((error.strerror if isinstance(error, OSError) else None) or error)


def write_weights(folder: Path, weights: Mapping[str, NDArray[Any]]) -> str:
    """Writes the arrays of a policy into its folder; returns their SHA-256 for the manifest."""
    from safetensors.numpy import save

    packed = save({name: np.ascontiguousarray(array) for name, array in weights.items()})
    with whole(folder / WEIGHTS) as target:
        target.write_bytes(packed)
    return hashlib.sha256(packed).hexdigest()


def read_weights(folder: Path, sha256: str, remedy: str = _REMEDY) -> dict[str, NDArray[Any]]:
    """The arrays of a policy's folder.

    Args:
        folder: The policy's.
        sha256: What their digest must be.
        remedy: What an error advises.

    Raises:
        HanseError: they are not there, damaged, or others.
    """
    path = folder / WEIGHTS
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise HanseError(f"{path}: cannot be read: {reason(error)}; {remedy}") from None
    if hashlib.sha256(packed).hexdigest() != sha256:
        raise HanseError(
            f"{path}: these are not the weights that {MANIFEST} tells of (their digests differ);"
            f" restore both, or {remedy}"
        )
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load
    except ImportError:
        raise HanseError(
            f"{folder}: a policy needs safetensors: make rl, or pip install 'hanse[rl]'"
        ) from None
    try:
        found: dict[str, NDArray[Any]] = load(packed)
    except KeyError as error:  # safetensors knows kinds of numbers that numpy does not
        raise HanseError(
            f"{path}: holds arrays of {error.args[0]}, which cannot be read here; allowed: float32"
            f" and float64; restore it, or {remedy}"
        ) from None
    except (SafetensorError, ValueError) as error:
        raise HanseError(f"{path}: is damaged ({error}); {remedy}") from None
    return found


def write(folder: Path, manifest: Mapping[str, Any], weights: Mapping[str, NDArray[Any]]) -> None:
    """Writes a policy; a reader finds the old one or the new one.

    Args:
        folder: Made if it is not there.
        manifest: The fields of :class:`Manifest` but the digest of the weights.
        weights: ``policy.N.weight`` and ``policy.N.bias`` for each layer, and those of ``value``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    full = Manifest(**manifest, weights_sha256=write_weights(folder, weights))
    with whole(folder / MANIFEST) as target:
        target.write_text(full.model_dump_json(indent=1) + "\n", encoding="utf-8")


def read(folder: Path) -> tuple[Manifest, dict[str, NDArray[Any]]]:
    """A policy's manifest and weights.

    Raises:
        HanseError: it is not there, damaged, or of a newer kind.
    """
    manifest = read_manifest(folder)
    return manifest, read_weights(folder, manifest.weights_sha256)


def read_manifest(folder: Path) -> Manifest:
    """A policy's manifest.

    Raises:
        HanseError: it is not there, or damaged.
    """
    path = folder / MANIFEST
    try:
        told = path.read_bytes()
    except (OSError, ValueError) as error:  # a path with a zero byte is a ValueError
        within = folder / "policy"
        named = (
            within if (within / MANIFEST).is_file() else "the folder that hanse train has written"
        )
        raise HanseError(
            f"{shown(folder)}: is not a trained policy ({MANIFEST}: {reason(error)}); name {named}"
        ) from None
    try:
        return Manifest.model_validate_json(told)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        if key == "kind" and first["input"] == PURCHASING:
            raise HanseError(
                f"{folder}: is a purchasing policy, for a firm's controller; compare it with:"
                f" python -m policies.becon.procurement --policy {folder}"
            ) from None
        raise HanseError(f"{path}: {key or 'contents'}: {first['msg']}; {_REMEDY}") from None


def check_fit(
    manifest: Manifest,
    layout: ObservationLayout | RoutingLayout,
    actions: ActionLayout | RoutingDecision,
    rules: Rules,
    where: str,
) -> None:
    """Refuses a policy where it would misread what it sees, or mean something else by what it says.

    Args:
        manifest: The policy's.
        layout: What the firm sees.
        actions: What its levers mean.
        rules: The rules of its town.
        where: What the error names as the place to mend.

    Raises:
        HanseError: it says what differs.
    """
    here = describe(layout, actions, rules)
    there = manifest.model_dump()
    words = {"observation_sha256": "anchors of prices"}
    for key in ("role", "layouts", "rules", "levers", "observation", "observation_sha256"):
        word = words.get(key, key)
        found = difference(there[key], here[key])
        if found:
            raise HanseError(
                f"{where}: policy {manifest.name!r} does not fit: {word}{found};"
                " use it where it was trained, or train one for here: hanse train FILE"
            )


def difference(there: Any, here: Any) -> str:
    """The first thing in which two plain values differ, in words; "" if they do not."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in {**there, **here}:
            found = difference(there.get(key), here.get(key))
            if found:
                return f": {key}{found}"
        return ""
    if isinstance(there, list) and isinstance(here, list):
        for place in range(max(len(there), len(here))):
            one = there[place] if place < len(there) else None
            other = here[place] if place < len(here) else None
            found = difference(one, other)
            if found:
                named = one if isinstance(one, dict) else other
                name = named.get("name") if isinstance(named, dict) else place
                return f": {name}{found}"
        return ""
    if there == here:
        return ""
    return f": {_short(there)} in training, {_short(here)} here"


def _short(value: Any) -> str:
    if value is None:
        return "nothing"
    text = value.get("name", "something") if isinstance(value, dict) else json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."

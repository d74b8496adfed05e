"""A purchasing policy as a folder: weights, and a manifest that tells whether it fits.

The same two files as those of a firm's policy (`policies.training.artefact`), with another
manifest: ``weights.safetensors`` holds arrays and nothing that could run, ``manifest.json`` what
the policy sees and sets, the rules and goods of the town it was trained in, how, and digests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from policies.becon.procurement.buyer import BeconBuyer
from policies.becon.procurement.forward import SOURCES, Networks, Source
from policies.becon.procurement.levers import LEVELS, described, layout
from policies.becon.procurement.values import Layers, Values
from policies.training.artefact import (
    MANIFEST,
    WEIGHTS,
    difference,
    plain,
    read_weights,
    write_weights,
)
from services.economy.setup import TownSetup
from services.errors import HanseError
from services.whole_file import whole

KIND: Final = "becon_purchasing"
REMEDY: Final = "train it anew: python -m policies.becon.procurement --out FOLDER"


class Manifest(BaseModel):
    """What is known of a purchasing policy."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    kind: Literal["becon_purchasing"] = "becon_purchasing"
    name: str
    source: Source = "gated"
    """Where its context comes from, unless the run file says otherwise."""
    kappa: float
    """How many deviations of the budget it holds back; chosen on tuning seeds."""
    sees_and_sets: dict[str, Any]
    """Features, objectives, levers and units (`levers.described`)."""
    town: dict[str, Any]
    """Rules and goods of the town in which it was trained."""
    prior_scale: float
    hidden: list[int]
    """Widths of the network of values."""
    training: dict[str, Any]
    versions: dict[str, str]
    weights_sha256: str
    metrics: dict[str, float] = Field(default_factory=dict)


def town_of(setup: TownSetup) -> dict[str, Any]:
    """What a manifest says of a town: what decides what purchases come to."""
    return plain({"rules": asdict(setup.rules), "catalogue": asdict(setup.catalogue)})


def write(folder: Path, manifest: Mapping[str, Any], weights: Mapping[str, NDArray[Any]]) -> None:
    """Writes a policy; a reader finds the old one or the new one.

    Args:
        folder: Made if it is not there.
        manifest: The fields of :class:`Manifest` but the digest of the weights.
        weights: ``estimator.*`` and ``values.N.weight`` and ``.bias``.
    """
    told = {**manifest, "sees_and_sets": plain(described())}
    folder.mkdir(parents=True, exist_ok=True)
    full = Manifest(**told, weights_sha256=write_weights(folder, weights))
    with whole(folder / MANIFEST) as target:
        target.write_text(full.model_dump_json(indent=1) + "\n", encoding="utf-8")


class PurchasingPolicy:
    """A trained policy, from which a buyer is made for each firm.

    Args:
        manifest: What is known of it.
        weights: Its arrays.
        source: What an error names.

    Raises:
        HanseError: the arrays do not fit the manifest.
    """

    def __init__(
        self, manifest: Manifest, weights: Mapping[str, NDArray[Any]], source: str = "policy"
    ) -> None:
        self.manifest = manifest
        self.layout = layout()
        of_estimator = {
            name.removeprefix("estimator."): array
            for name, array in weights.items()
            if name.startswith("estimator.")
        }
        self.networks = Networks(self.layout, of_estimator, manifest.prior_scale, source)
        self.values = Values(_layers(weights, manifest, source))

    @classmethod
    def load(cls, folder: Path | str) -> PurchasingPolicy:
        """Reads a policy's folder.

        Raises:
            HanseError: it is not there, damaged, or of another kind.
        """
        folder = Path(folder)
        manifest = read_manifest(folder)
        weights = read_weights(folder, manifest.weights_sha256, REMEDY)
        return cls(manifest, weights, str(folder / WEIGHTS))

    def buyer(self, source: Source | None = None, kappa: float | None = None) -> BeconBuyer:
        """Who acts by it for one firm.

        Args:
            source: Where its context comes from; ``None``: as it was trained for.
            kappa: How many deviations of the budget it holds back; ``None``: as was chosen.
        """
        return BeconBuyer(
            self.layout,
            self.networks,
            self.values,
            self.manifest.source if source is None else source,
            self.manifest.kappa if kappa is None else kappa,
        )


def read_manifest(folder: Path) -> Manifest:
    """A purchasing policy's manifest.

    Raises:
        HanseError: it is not there, damaged, or of another kind.
    """
    path = folder / MANIFEST
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except OSError as error:
        raise HanseError(
            f"{folder}: is not a trained policy ({MANIFEST}: {error.strerror or error}); name a"
            " purchasing policy, such as trainings/buyer-seed1/policy"
        ) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        for each in error.errors(include_url=False):
            if each["loc"] == ("kind",):
                raise HanseError(
                    f"{path}: kind: this policy is of the kind {each['input']!r}, a controller"
                    f" needs {KIND!r}; name another folder, or {REMEDY}"
                ) from None
        key = ".".join(map(str, first["loc"]))
        raise HanseError(f"{path}: {key or 'contents'}: {first['msg']}; {REMEDY}") from None


def check_fit(manifest: Manifest, setup: TownSetup, where: str) -> None:
    """Refuses a policy whose levers mean something else here, or whose town had other rules.

    Raises:
        HanseError: it says what differs.
    """
    for name, there, here in (
        ("what it sees and sets", manifest.sees_and_sets, plain(described())),
        ("the town", manifest.town, town_of(setup)),
    ):
        found = difference(there, here)
        if found:
            raise HanseError(
                f"{where}: policy {manifest.name!r} does not fit: {name}{found};"
                f" use it where it was trained, or {REMEDY}"
            )


def check_source(source: str, where: str) -> Source:
    """A source that there is.

    Raises:
        HanseError: there is no such source.
    """
    for known in SOURCES:
        if source == known:
            return known
    raise HanseError(f"{where}: there is no source {source!r}; allowed: {', '.join(SOURCES)}")


@lru_cache(maxsize=16)
def _loaded(folder: str, stamp: tuple[int, int]) -> PurchasingPolicy:
    return PurchasingPolicy.load(folder)


def shared(folder: Path | str) -> PurchasingPolicy:
    """The policy of a folder, read once for all who act by it in a process.

    Raises:
        HanseError: it is not there, damaged, or of another kind.
    """
    path = Path(folder)
    try:
        about = (path / WEIGHTS).stat()
    except OSError:
        return PurchasingPolicy.load(path)  # which says what is wrong
    return _loaded(str(path.absolute()), (about.st_mtime_ns, about.st_size))


def _layers(weights: Mapping[str, NDArray[Any]], manifest: Manifest, source: str) -> Layers:
    found = []
    inputs = len(manifest.sees_and_sets["features"]) + len(LEVELS)
    outputs = len(manifest.sees_and_sets["objectives"])
    for place, width in enumerate([*manifest.hidden, outputs]):
        arrays = []
        for part, shape in (("weight", (width, inputs)), ("bias", (width,))):
            name = f"values.{2 * place}.{part}"
            array = weights.get(name)
            if array is None or array.shape != shape or not np.isfinite(array).all():
                has = "is missing" if array is None else f"has shape {list(array.shape)}"
                raise HanseError(
                    f"{source}: {name} {has}, but by its manifest it has finite numbers in shape"
                    f" {list(shape)}; restore the folder, or {REMEDY}"
                )
            arrays.append(np.asarray(array, np.float64))
        found.append((arrays[0], arrays[1]))
        inputs = width
    return tuple(found)

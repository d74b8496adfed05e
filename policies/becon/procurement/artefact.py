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
from typing import Annotated, Any, Final, Literal

from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from policies.becon.procurement.arrays import REMEDY, Arrays
from policies.becon.procurement.buyer import BeconBuyer
from policies.becon.procurement.forward import SOURCES, Networks, Source
from policies.becon.procurement.levers import FEATURES, LEVELS, described, layout
from policies.becon.procurement.values import Layers, Values
from policies.environments.procurement import OBJECTIVES
from policies.training.artefact import (
    MANIFEST,
    WEIGHTS,
    difference,
    plain,
    read_weights,
    reason,
    shown,
    write_weights,
)
from services.economy.setup import TownSetup
from services.errors import HanseError
from services.whole_file import whole

KIND: Final = "becon_purchasing"


class Manifest(BaseModel):
    """What is known of a purchasing policy."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    format: Literal[1] = 1
    kind: Literal["becon_purchasing"] = "becon_purchasing"
    name: str
    source: Source = "gated"
    """Where its context comes from, unless the run file says otherwise."""
    kappa: Annotated[float, Field(ge=0, le=10)]
    """How many deviations of the budget it holds back; chosen on tuning seeds."""
    sees_and_sets: dict[str, Any]
    """Features, objectives, levers and units (`levers.described`)."""
    town: dict[str, Any]
    """Rules and goods of the town in which it was trained."""
    prior_scale: Annotated[float, Field(ge=0, le=100)]
    hidden: Annotated[list[Annotated[int, Field(ge=1, le=4096)]], Field(max_length=8)]
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
        self.networks = Networks(self.layout, weights, manifest.prior_scale, source, "estimator.")
        self.values = Values(_layers(Arrays(weights, source, "values."), manifest.hidden))

    @classmethod
    def load(cls, folder: Path | str) -> PurchasingPolicy:
        """Reads a policy's folder.

        Raises:
            HanseError: it is not there, damaged, of another kind, or for other levers.
        """
        folder = Path(folder)
        manifest = read_manifest(folder)
        # Arrays of a policy that sees or sets something else need not fit; it is said what differs.
        check_levers(manifest, str(folder / MANIFEST))
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
        told = path.read_bytes()
    except (OSError, ValueError) as error:
        raise HanseError(
            f"{shown(folder)}: is not a trained policy ({MANIFEST}: {reason(error)}); name a"
            " purchasing policy, such as trainings/buyer-seed1/policy"
        ) from None
    try:
        return Manifest.model_validate_json(told)
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
    check_levers(manifest, where)
    _check_same(manifest, "the town", manifest.town, town_of(setup), where)


def check_levers(manifest: Manifest, where: str) -> None:
    """Refuses a policy that sees or sets something else than purchasing controllers do here.

    Raises:
        HanseError: it says what differs.
    """
    here = plain(described())
    _check_same(manifest, "what it sees and sets", manifest.sees_and_sets, here, where)


def _check_same(
    manifest: Manifest, name: str, there: dict[str, Any], here: dict[str, Any], where: str
) -> None:
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
    except (OSError, ValueError):
        return PurchasingPolicy.load(path)  # which says what is wrong
    return _loaded(str(path.absolute()), (about.st_mtime_ns, about.st_size))


def _layers(arrays: Arrays, hidden: list[int]) -> Layers:
    found = []
    inputs = len(FEATURES) + len(LEVELS)
    for place, width in enumerate([*hidden, len(OBJECTIVES)]):
        weight = arrays.take(f"{2 * place}.weight", width, inputs)
        found.append((weight, arrays.take(f"{2 * place}.bias", width)))
        inputs = width
    return tuple(found)

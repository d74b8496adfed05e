"""The shape of an agent as plain data: for RLlib's model configuration and for manifests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from policies.becon.ensemble import EnsembleForm
from policies.becon.estimator import EstimatorForm
from policies.becon.network import AgentForm
from policies.becon.observation import Layout
from services.errors import HanseError


def plain(layout: Layout, form: AgentForm) -> dict[str, Any]:
    """Layout and form as a dictionary of plain values, fit for JSON."""
    told = asdict(layout)
    told["levels"] = list(layout.levels)
    return {"layout": told, "form": asdict(form)}


def restored(values: Mapping[str, Any], where: str = "model_config") -> tuple[Layout, AgentForm]:
    """The inverse of `plain`.

    Args:
        values: As `plain` made it; other keys are left alone.
        where: What an error names.

    Raises:
        HanseError: something is missing, or there is something that an agent does not have.
    """
    for key in ("layout", "form"):
        if not isinstance(values.get(key), Mapping):
            raise HanseError(f"{where}: {key} is missing; make it with policies.becon.forms.plain")
    told = dict(values["layout"])
    told["levels"] = tuple(int(n) for n in told.get("levels", ()))
    form = dict(values["form"])
    estimator = dict(form.get("estimator", {}))
    ensemble = _made(EnsembleForm, estimator.pop("ensemble", {}), f"{where}: ensemble")
    estimator["ensemble"] = ensemble
    form["estimator"] = _made(EstimatorForm, estimator, f"{where}: estimator")
    return _made(Layout, told, f"{where}: layout"), _made(AgentForm, form, f"{where}: form")


def _made(kind: type[Any], values: Mapping[str, Any], where: str) -> Any:
    known = {each.name for each in fields(kind)}
    if unknown := set(values) - known:
        raise HanseError(
            f"{where}: there is no {sorted(unknown)[0]!r}; allowed: {', '.join(sorted(known))}"
        )
    try:
        return kind(**values)
    except TypeError as error:
        raise HanseError(f"{where}: {error}; make it with policies.becon.forms.plain") from None

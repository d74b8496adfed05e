"""BECON and what it is compared with, each a named configuration of one agent (note, section 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from policies.becon.estimator import EstimatorForm, Source
from policies.becon.network import AgentForm


@dataclass(frozen=True, slots=True)
class Variant:
    """A configuration."""

    form: AgentForm = field(default_factory=AgentForm)
    budget_label: Literal["truth", "context"] = "truth"
    """The budget that the multiplier answers to in training: the simulator's, or the one that the
    agent works by."""
    told_truth: bool = False
    """Whether its descriptor is perfect: the oracle."""
    curriculum: bool = False
    """Whether it begins with partly perfect descriptors."""


def _source(source: Source) -> AgentForm:
    return AgentForm(EstimatorForm(source=source))


VARIANTS: Final[Mapping[str, Variant]] = MappingProxyType(
    {
        "oracle": Variant(_source("exposed"), told_truth=True),
        "exposed": Variant(_source("exposed")),
        "history": Variant(_source("history")),
        "filter": Variant(_source("filter")),
        "fixed": Variant(_source("fixed"), budget_label="context"),
        "unconstrained": Variant(
            AgentForm(EstimatorForm(source="exposed"), pricing="none"),
        ),
        "inferred": Variant(
            AgentForm(EstimatorForm(source="fixed"), pricing="none", inferred=True)
        ),
        "lagrangian": Variant(AgentForm(EstimatorForm(source="exposed"), pricing="scalar")),
        "becon": Variant(_source("gated"), curriculum=True),
    }
)
"""`exposed` to `filter`: one source of the context alone. `fixed`: equal weights, a budget of one
half. `unconstrained`: conditioned on the descriptor, cost not priced. `inferred`: in the way of
DPI. `lagrangian`: PPO-Lagrangian, one lambda for all contexts."""

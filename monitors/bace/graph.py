"""What BACE says: who drives whom in one context, as a message, a networkx graph, a drawing."""

from __future__ import annotations

from typing import Final, Literal

import networkx
from pydantic import BaseModel, ConfigDict

from monitors.caspian.alert import Figure
from services.messages import Payload

CAUTION: Final = (
    "Granger-type predictive influence, not causation: a driver outside the node set shows as"
    " influence between those it drives."
)

Class = Literal["strict", "screening"]
"""`strict`: stronger than all, `screening`: stronger than 99 % of what arises without influence."""

State = Literal["published", "partial", "unreliable", "insufficient"]
"""`partial`: two halves of the data do not agree on the whole, as they hardly can where few drive
many; only the edges that are strict in both halves are shown. `unreliable`: there are none of
those. `insufficient`: too few windows."""


class Influence(BaseModel):
    """One edge."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")

    source: str
    target: str
    """Whose next values the source's past helps to forecast."""
    weight: Figure
    """Of z-scores, per tick; its sign says whether the target moves with or against the source."""
    p_class: Class
    var_p: Figure
    """The p value of the Granger test in a vector autoregression."""
    by_way_of: str | None = None
    """The node through which it may run: the steps to and from it are both stronger."""


class InfluenceGraph(Payload):
    """The influences of one context; payload of what the connectivity monitor publishes.

    A graph that is withheld has no edges, and `notes` says why.
    """

    type: Literal["influence_graph"] = "influence_graph"
    context: str
    state: State
    nodes: tuple[str, ...]
    edges: tuple[Influence, ...] = ()
    """The strongest first."""
    reliability: Figure = 0.0
    """Spearman correlation of the weights found in two halves of the data."""
    agreement: Figure = 0.0
    """Spearman correlation of the weights with the strengths of the vector autoregression."""
    auroc_vs_var: Figure | None = None
    """How well the weights rank the autoregression's significant edges first (None: it has none,
    or all are)."""
    var_only: tuple[tuple[str, str], ...] = ()
    """(source, target) of edges that only the autoregression sees."""
    threshold_screening: Figure = 0.0
    threshold_strict: Figure = 0.0
    windows: int = 0
    """Training windows of the context."""
    tick_minutes: Figure = 60.0
    notes: tuple[str, ...] = ()
    caution: str = CAUTION

    @property
    def strict(self) -> tuple[Influence, ...]:
        """The edges that are stronger than everything that arises without influence."""
        return tuple(edge for edge in self.edges if edge.p_class == "strict")

    def to_networkx(self, strict_only: bool = False) -> networkx.DiGraph:
        """All nodes; edges from source to target with everything that is known of them."""
        graph = networkx.DiGraph(context=self.context, state=self.state)
        graph.add_nodes_from(self.nodes)
        for edge in self.strict if strict_only else self.edges:
            graph.add_edge(
                edge.source,
                edge.target,
                weight=edge.weight,
                p_class=edge.p_class,
                var_p=edge.var_p,
                by_way_of=edge.by_way_of,
            )
        return graph

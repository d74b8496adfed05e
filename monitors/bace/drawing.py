"""An influence graph as inline SVG: nodes on a circle, arrows from who drives to who is driven."""

from __future__ import annotations

import math
from html import escape

from monitors.bace.graph import Influence, InfluenceGraph

WITH, AGAINST = "#1f6f8b", "#b5442e"
"""Colours of influence with and against the source's movement."""
DOT = 5
MARGIN = 90


def svg(graph: InfluenceGraph, size: int = 480) -> str:
    """The graph as one `<svg>` element that needs nothing from outside.

    Strict edges are solid, screening edges dashed; the width follows the weight.

    Args:
        graph: What is drawn; one that is withheld shows its nodes and says that it is.
        size: Width and height in pixels.
    """
    centre, radius = size / 2, size / 2 - MARGIN
    number = max(1, len(graph.nodes))
    angles = [2 * math.pi * place / number - math.pi / 2 for place in range(number)]
    places = {
        node: (centre + radius * math.cos(angle), centre + radius * math.sin(angle))
        for node, angle in zip(graph.nodes, angles, strict=False)
    }
    most = max((abs(edge.weight) for edge in graph.edges), default=1.0)
    told = f"Who drives whom in context {graph.context}: {len(graph.edges)} influences"
    withheld = graph.state in ("unreliable", "insufficient")
    told += f" ({graph.state}, withheld)" if withheld else f" ({graph.state})"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" width="{size}"'
        f' height="{size}" role="img" font-family="sans-serif" font-size="12">',
        f"<title>{escape(told)}</title>",
        "<defs>",
        *(_arrow_head(name, colour) for name, colour in (("with", WITH), ("against", AGAINST))),
        "</defs>",
        *(_edge(edge, places, most) for edge in reversed(graph.edges)),
    ]
    for node, angle in zip(graph.nodes, angles, strict=False):
        x, y = places[node]
        side = math.cos(angle)
        anchor = "middle" if abs(side) < 0.2 else "start" if side > 0 else "end"
        dx, dy = 10 * side, 14 * math.sin(angle) + 4
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{DOT}" fill="currentColor"/>')
        parts.append(
            f'<text x="{x + dx:.1f}" y="{y + dy:.1f}" text-anchor="{anchor}"'
            f' fill="currentColor">{escape(node)}</text>'
        )
    if withheld:
        parts.append(
            f'<text x="{centre:.1f}" y="{centre:.1f}" text-anchor="middle"'
            f' fill="currentColor">withheld: {graph.state}</text>'
        )
    return "\n".join([*parts, "</svg>"])


def _arrow_head(name: str, colour: str) -> str:
    return (
        f'<marker id="bace-{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8"'
        f' markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
        f'<path d="M0 0L10 5L0 10z" fill="{colour}"/></marker>'
    )


def _edge(edge: Influence, places: dict[str, tuple[float, float]], most: float) -> str:
    """A curve that bends to its left, so that an edge and its counterpart lie apart."""
    (ax, ay), (bx, by) = places[edge.source], places[edge.target]
    length = math.hypot(bx - ax, by - ay) or 1.0
    ux, uy = (bx - ax) / length, (by - ay) / length
    ax, ay = ax + (DOT + 2) * ux, ay + (DOT + 2) * uy
    bx, by = bx - (DOT + 2) * ux, by - (DOT + 2) * uy
    mx, my = (ax + bx) / 2 + 0.12 * length * uy, (ay + by) / 2 - 0.12 * length * ux
    name, colour = ("with", WITH) if edge.weight >= 0 else ("against", AGAINST)
    dashed = "" if edge.p_class == "strict" else ' stroke-dasharray="5 4"'
    told = f"{edge.source} drives {edge.target}: {edge.weight:+.3f} ({edge.p_class})"
    return (
        f'<path d="M{ax:.1f} {ay:.1f}Q{mx:.1f} {my:.1f} {bx:.1f} {by:.1f}" fill="none"'
        f' stroke="{colour}" stroke-width="{1 + 2 * abs(edge.weight) / most:.2f}"{dashed}'
        f' marker-end="url(#bace-{name})"><title>{escape(told)}</title></path>'
    )

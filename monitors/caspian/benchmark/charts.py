"""Charts of a benchmark as SVG text: no script, no external resource, colours from the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final, NamedTuple

WIDTH: Final = 560
HEIGHT: Final = 340
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 44


class Line(NamedTuple):
    """A line of a chart."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


class Axis(NamedTuple):
    """A linear axis."""

    title: str
    low: float
    high: float
    marks: Sequence[float]


def lines(title: str, lines: Sequence[Line], across: Axis, up: Axis, *, steps: bool) -> str:
    """A line chart with a legend below.

    Args:
        title: For those who cannot see it.
        lines: What to draw, at most eight.
        across: The horizontal axis.
        up: The vertical axis.
        steps: Whether values jump at the next x instead of moving there.
    """
    parts = [_grid(across, up)]
    # The first is drawn last, and so above the others.
    for place, line in reversed(list(enumerate(lines))):
        points: list[tuple[float, float]] = []
        for x, y in zip(line.x, line.y, strict=True):
            if steps and points:
                points.append((_place(x, across, vertical=False), points[-1][1]))
            points.append((_place(x, across, vertical=False), _place(y, up, vertical=True)))
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline class="line s{place + 1}" points="{path}"/>')
    return _figure(title, "".join(parts), [line.name for line in lines])


class Group(NamedTuple):
    """Bars that stand together."""

    name: str
    values: Sequence[tuple[float, float, float] | None]
    """Value, and the ends of its interval; None leaves a gap."""


def bars(title: str, groups: Sequence[Group], names: Sequence[str], up: Axis) -> str:
    """Grouped bars with intervals and a legend below.

    Args:
        title: For those who cannot see it.
        groups: From left to right.
        names: Of the bars of each group.
        up: The vertical axis.
    """
    across = Axis("", 0, len(groups), ())
    parts = [_grid(across, up)]
    room = (WIDTH - LEFT - RIGHT) / max(len(groups), 1)
    wide = room * 0.8 / max(len(names), 1)
    floor = _place(up.low, up, vertical=True)
    for number, group in enumerate(groups):
        start = LEFT + room * (number + 0.1)
        for place, value in enumerate(group.values):
            if value is None:
                continue
            x = start + place * wide
            top, low, high = (_place(each, up, vertical=True) for each in value)
            parts.append(
                f'<rect class="s{place + 1}" x="{x:.1f}" y="{top:.1f}" width="{wide - 2:.1f}"'
                f' height="{max(floor - top, 0):.1f}"><title>{escape(group.name)},'
                f" {escape(names[place])}: {value[0]:.2f}</title></rect>"
                f'<line class="interval" x1="{x + wide / 2 - 1:.1f}" x2="{x + wide / 2 - 1:.1f}"'
                f' y1="{low:.1f}" y2="{high:.1f}"/>'
            )
        parts.append(_text(start + room * 0.4, HEIGHT - BOTTOM + 18, group.name))
    return _figure(title, "".join(parts), names)


def _figure(title: str, body: str, names: Sequence[str]) -> str:
    legend = "".join(
        f'<li><svg aria-hidden="true" viewBox="0 0 12 12"><rect class="s{place + 1}" width="12"'
        f' height="12"/></svg>{escape(name)}</li>'
        for place, name in enumerate(names)
    )
    return (
        f'<figure><svg role="img" viewBox="0 0 {WIDTH} {HEIGHT}"><title>{escape(title)}</title>'
        f"{body}</svg><figcaption><ul>{legend}</ul></figcaption></figure>"
    )


def _grid(across: Axis, up: Axis) -> str:
    parts = []
    for mark in up.marks:
        y = _place(mark, up, vertical=True)
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            + _text(LEFT - 8, y + 4, f"{mark:g}", "end")
        )
    for mark in across.marks:
        x = _place(mark, across, vertical=False)
        parts.append(
            f'<line class="grid" y1="{TOP}" y2="{HEIGHT - BOTTOM}" x1="{x:.1f}" x2="{x:.1f}"/>'
            + _text(x, HEIGHT - BOTTOM + 18, f"{mark:g}")
        )
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, across.title))
    parts.append(
        f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">'
        f"{escape(up.title)}</text>"
    )
    return "".join(parts)


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _place(value: float, axis: Axis, *, vertical: bool) -> float:
    share = (min(max(value, axis.low), axis.high) - axis.low) / (axis.high - axis.low)
    if vertical:
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    return LEFT + share * (WIDTH - LEFT - RIGHT)

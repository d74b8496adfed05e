"""A benchmark's results as one HTML page that opens from the disk, without a network or script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from rich.table import Table

from monitors.caspian.benchmark import attributing
from monitors.caspian.benchmark.charts import Axis, Group, Line, bars, lines
from monitors.caspian.benchmark.detectors import (
    CASPIAN,
    COSINE,
    COUNTS,
    FOREST,
    LITERAL,
    NOVELTY,
    RANKS,
    UNCONDITIONAL,
)
from monitors.caspian.benchmark.results import Attribution, Detection, Estimate, Results
from monitors.caspian.benchmark.tables import extent, tables

DRAWN: Final = (CASPIAN, RANKS, COSINE, UNCONDITIONAL, FOREST, NOVELTY, COUNTS, LITERAL)
"""Detectors in the charts: as many as can be told apart."""
LATEST: Final = 40
"""Last tick after the onset that the chart of delays shows."""


def page(results: Results) -> str:
    """The page; the same results give the same bytes.

    Its content security policy forbids scripts and every request. All text is escaped.
    """
    rows = [row for name in DRAWN for row in results.detections if row.detector == name]
    charts = "".join(
        f"<section><h2>{escape(title)}</h2><p>{escape(text)}</p>{chart}</section>"
        for title, text, chart in (
            (
                "True against false positives",
                "A trace is positive if its largest score exceeds a threshold; one point for each.",
                _roc(rows),
            ),
            (
                "How soon abrupt cascades are found",
                "Share of abrupt cascades with an alarm so many ticks after the onset, at the"
                " threshold that 5 % of benign traces exceed.",
                _delays(rows),
            ),
            (
                "Who is blamed rightly",
                "Share of abrupt cascades in which the agent named first has played the role;"
                " lines are 95 % intervals.",
                _blame(results.attributions),
            ),
        )
    )
    notices = "".join(f'<p class="notice">{escape(text)}</p>' for text in results.warnings)
    return _PAGE.format(
        style=_STYLE,
        facts=escape(extent(results)),
        notices=notices,
        charts=charts,
        tables="".join(_table(table) for table in tables(results)),
    )


def _roc(rows: Sequence[Detection]) -> str:
    curves = [
        Line(row.detector, [x or 0.0 for x in row.roc_false], [y or 0.0 for y in row.roc_true])
        for row in rows
    ]
    marks = (0, 0.2, 0.4, 0.6, 0.8, 1)
    return lines(
        "Receiver operating characteristic of the detectors",
        curves,
        Axis("share of benign traces with an alarm", 0, 1, marks),
        Axis("share of attacked traces with an alarm", 0, 1, marks),
        steps=True,
    )


def _delays(rows: Sequence[Detection]) -> str:
    curves = []
    for row in rows:
        known = row.abrupt_delays
        shares = [
            sum(delay is not None and delay <= tick for delay in known) / max(len(known), 1)
            for tick in range(LATEST + 1)
        ]
        curves.append(Line(row.detector, range(LATEST + 1), shares))
    return lines(
        "Share of abrupt cascades found by ticks since the onset",
        curves,
        Axis("ticks since the onset", 0, LATEST, range(0, LATEST + 1, 5)),
        Axis("share of abrupt cascades found", 0, 1, (0, 0.2, 0.4, 0.6, 0.8, 1)),
        steps=True,
    )


def _blame(rows: Sequence[Attribution]) -> str:
    abrupt = [row for row in rows if row.kind == "abrupt"]
    groups = [
        Group(role, [_ends(getattr(row, role)) for row in abrupt]) for role in attributing.ROLES
    ]
    return bars(
        "Share of rightly named origins, bridges and amplifiers by method",
        groups,
        [row.method for row in abrupt],
        Axis("share named rightly", 0, 1, (0, 0.2, 0.4, 0.6, 0.8, 1)),
    )


def _ends(one: Estimate | None) -> tuple[float, float, float] | None:
    if one is None or one.value is None:
        return None
    return (
        one.value,
        one.value if one.low is None else one.low,
        one.value if one.high is None else one.high,
    )


def _table(table: Table) -> str:
    """A terminal's table in HTML; cells are plain text but for the colours of yes and no."""
    head = "".join(f"<th>{escape(str(column.header))}</th>" for column in table.columns)
    columns = [[_plain(cell) for cell in column.cells] for column in table.columns]
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in zip(*columns, strict=True)
    )
    caption = f"<p>{escape(str(table.caption))}</p>" if table.caption else ""
    return (
        f"<section><h2>{escape(str(table.title))}</h2>{caption}"
        f'<div class="scroller"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div></section>"
    )


def _plain(cell: object) -> str:
    text = str(cell)
    for markup in ("[green]", "[bold red]", "[/]"):
        text = text.replace(markup, "")
    return text


_STYLE: Final = """
:root { color-scheme: light dark; --paper: #ffffff; --raised: #f5f6f7; --ink: #1a1d21;
  --soft: #596069; --rule: #dcdfe3; --grid: #e9ebee; --accent: #0b5a9d;
  --s1: #0b5a9d; --s2: #c9842b; --s3: #2b9a8b; --s4: #a05cc2; --s5: #d1575b; --s6: #6f9a3c;
  --s7: #8a7a6a; --s8: #4c6ef5; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --raised: #1d2125;
  --ink: #e8eaed; --soft: #a2a9b2; --rule: #343a41; --grid: #262b30; --accent: #80b9f2;
  --s1: #80b9f2; --s2: #e3a95c; --s3: #5cc7b8; --s4: #c692e0; --s5: #ee8a8d; --s6: #a2c96e;
  --s7: #b5a594; --s8: #8ba3ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 36px 28px 96px; max-width: 1200px; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, Arial,
  sans-serif; font-variant-numeric: tabular-nums; }
h1 { margin: 0 0 6px; font-size: 34px; line-height: 1.15; font-weight: 650; }
h2 { margin: 0 0 4px; font-size: 20px; font-weight: 650; }
p { margin: 0 0 12px; max-width: 78ch; color: var(--soft); }
section { padding-top: 36px; }
.notice { padding: 8px 14px; background: var(--raised); border-left: 3px solid var(--accent);
  color: var(--ink); }
figure { margin: 0; max-width: 760px; }
figure > svg { width: 100%; height: auto; }
figcaption ul { display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 0; padding: 0;
  list-style: none; font-size: 13.5px; color: var(--soft); }
figcaption svg { width: 11px; height: 11px; margin-right: 6px; }
text { font-size: 12px; fill: var(--soft); }
.grid { stroke: var(--grid); }
.interval { stroke: var(--ink); stroke-width: 1.5; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.line.s1 { stroke-width: 3; }
.s1 { fill: var(--s1); } .s2 { fill: var(--s2); } .s3 { fill: var(--s3); }
.s4 { fill: var(--s4); } .s5 { fill: var(--s5); } .s6 { fill: var(--s6); }
.s7 { fill: var(--s7); } .s8 { fill: var(--s8); }
.line.s1 { stroke: var(--s1); } .line.s2 { stroke: var(--s2); } .line.s3 { stroke: var(--s3); }
.line.s4 { stroke: var(--s4); } .line.s5 { stroke: var(--s5); } .line.s6 { stroke: var(--s6); }
.line.s7 { stroke: var(--s7); } .line.s8 { stroke: var(--s8); }
.line { fill: none !important; }
.scroller { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; }
th, td { padding: 5px 14px 5px 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--rule); min-width: 5.5em; }
th { color: var(--soft); font-weight: 500; }
"""

_PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>CASPIAN on synthetic cascades: a benchmark of Hanse</title>
<style>{style}</style>
</head>
<body>
<header><h1>CASPIAN on synthetic cascades</h1><p>{facts}</p>{notices}</header>
<main>{charts}{tables}</main>
</body>
</html>
"""

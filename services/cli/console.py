"""How every command speaks: results on stdout, progress and notes on stderr, JSON when asked."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="A key of the run file; can be given several times."
    ),
]
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="A run's folder, or its name below runs/.")
]

_PIPED_WIDTH = 120
"""A table in a file or a pipe has no terminal to fit into."""
_WIDE = 100
"""From this width on there is room for air between the columns."""


def say(text: str = "") -> None:
    """A line of the result."""
    typer.echo(text)


def note(text: str) -> None:
    """A line about the work: it must not get into a result that is piped on."""
    typer.echo(text, err=True)


def say_json(document: Any) -> None:
    """The one JSON document of a command."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))


def say_table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> None:
    """A table; a column whose name begins with `>` is aligned to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH)
    table = Table(
        box=box.SIMPLE_HEAD,
        title=title or None,
        title_justify="left",
        title_style="bold",
        pad_edge=False,
        show_edge=False,
        collapse_padding=console.width < _WIDE,
    )
    for number, column in enumerate(columns):
        table.add_column(
            column.removeprefix(">"),
            justify="right" if column.startswith(">") else "left",
            overflow="fold",
            no_wrap=number == 0,
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    say()
    console.print(table)
    say()


def dollars(amount: float | None) -> str:
    """`1,234.56`; the column says that it is dollars."""
    return "" if amount is None else f"{amount:,.2f}"


def compact(amount: float) -> str:
    """`15.2k`: five characters or so, for a line that shows many amounts."""
    for limit, unit, digits in ((1e9, "G", 1), (1e6, "M", 1), (1e3, "k", 1)):
        if abs(amount) >= limit * 0.99995:
            return f"{amount / limit:.{digits}f}{unit}"
    return f"{amount:.0f}"


def size(number_of_bytes: float) -> str:
    """`3.1 MB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if number_of_bytes < 1000:
            return f"{number_of_bytes:.0f} B" if unit == "B" else f"{number_of_bytes:.1f} {unit}"
        number_of_bytes /= 1000
    return f"{number_of_bytes:.1f} TB"


def typed(*words: str | Path) -> str:
    """A command as the user should type it."""
    return shlex.join(str(word) for word in words)

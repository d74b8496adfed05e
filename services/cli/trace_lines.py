"""Lines of `hanse trace` in a terminal, with hanging indents, and whole where they are piped."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_PIPED_WIDTH = 1_000_000
"""A line in a file or a pipe has no terminal to fit into: nothing is wrapped."""
_NARROWEST = 24
"""Columns behind an indent; in a terminal that has no room for it lines begin at the left."""


def plain(text: str) -> str:
    """A text without anything that steers the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "�" for c in text)


def text(*parts: tuple[str, str] | str) -> Text:
    """Parts, each with or without a style, as one text."""
    from rich.text import Text

    # Words of the run are never markup, nor may they steer the terminal: somebody's letter may hold
    # square brackets, escape sequences or letters that run the other way.
    return Text.assemble(
        *((plain(part[0]), part[1]) if isinstance(part, tuple) else plain(part) for part in parts)
    )


def show(shown: object, indent: int = 0) -> None:
    """Prints something; the lines that follow the first one of a text begin at an indent."""
    from rich.text import Text

    console = _console()
    if isinstance(shown, Text):
        for line in hanging(console, shown, indent) if sys.stdout.isatty() else [shown]:
            console.print(line)
    else:
        console.print(shown)


def hanging(console: Console, shown: Text, indent: int) -> list[Text]:
    """A text as lines that fit into a console, all but the first one indented."""
    from rich.text import Text

    width = console.width
    if indent == 0 or width - indent < _NARROWEST or shown.cell_len <= width:
        return [shown]
    # The first line is longer by the indent: so much stands before what is wrapped.
    head, rest = shown[:indent], shown[indent:]
    lines = rest.wrap(console, width - indent, overflow="fold")
    for line in lines:
        line.rstrip()
    return [head + lines[0], *(Text(" " * indent) + line for line in lines[1:])]


def _console() -> Console:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH, highlight=False)

"""How a command gets into the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import typer


def help_text(function: Callable[..., None]) -> str:
    """A docstring as the terminal is to wrap it: each of its paragraphs is one line."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def add(app: typer.Typer, function: Callable[..., None], examples: str, name: str = "") -> None:
    """Makes a function a command.

    Args:
        app: Where to.
        function: Its docstring is the command's help.
        examples: What stands below the help.
        name: The command's name; the function's own if empty.
    """
    app.command(name=name or None, help=help_text(function), epilog=examples)(function)

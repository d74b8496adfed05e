"""`hanse new`: a run file, or a training file, to begin with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from services.cli.console import Json, note, say, say_json, typed
from services.errors import HanseError

EXAMPLE = """Examples:

  hanse new coffee.toml

  hanse new roaster.toml --training
"""


def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    training: Annotated[
        bool, typer.Option("--training", help="A training file, for hanse train.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a run file (or a training file) with every key, its default and a comment.

    It describes the standard league (or training), so it runs as it is. A file that exists is left
    alone.
    """
    if training:
        from policies.training.template import training_template as template
    else:
        from services.config import commented_template as template

    # The file's name serves as the run's, if it can be one.
    usual = "roaster" if training else "coffee"
    name = file.stem if re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", file.stem) else usual
    try:
        with file.open("x", encoding="utf-8") as target:
            target.write(template(name, typed(file)))
    except FileExistsError:
        raise HanseError(f"{file}: exists already; choose another name, or remove it") from None
    except FileNotFoundError:
        raise HanseError(f"{file}: there is no folder {file.parent}; make it first") from None
    except OSError as error:
        raise HanseError(
            f"{file}: cannot be written: {error.strerror or error}; choose another place"
        ) from None
    if as_json:
        say_json({"file": str(file)})
    else:
        say(str(file))
        note(f"start it with: {typed('hanse', 'train' if training else 'run', file)}")

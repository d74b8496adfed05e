"""The command `hanse`: its commands, and what becomes of an error.

Nothing heavy is imported here: each command imports what it needs when it is called, so that
`hanse --help` answers at once.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from services.cli import (
    bench,
    branch,
    cluster,
    doctor,
    evaluate,
    export,
    monitor,
    new,
    replay,
    report,
    resume,
    run,
    runs,
    sweep,
    trace,
    train,
)
from services.cli.commands import add
from services.cli.console import note, say
from services.errors import HanseError

app = typer.Typer(
    name="hanse",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


add(app, run.run, run.EXAMPLE)
add(app, resume.resume, resume.EXAMPLE)
add(app, branch.branch, branch.EXAMPLE)
add(app, replay.replay, replay.EXAMPLE)
add(app, report.report, report.EXAMPLE)
trace.register(app)
monitor.register(app)
add(app, sweep.sweep, sweep.EXAMPLE)
add(app, train.train, train.EXAMPLE)
add(app, evaluate.evaluate, evaluate.EXAMPLE)
bench.register(app)
cluster.register(app)
add(app, runs.runs, runs.EXAMPLE)
add(app, export.export, export.EXAMPLE)
add(app, new.new, new.EXAMPLE)
add(app, doctor.doctor, doctor.EXAMPLE)

# Some versions of typer carry a click of their own, some use the package: either way this is the
# base of its errors about arguments.
_ArgumentError: type[Exception] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            say(f"hanse {version('hanse')}")
        except PackageNotFoundError:
            say("hanse (not installed, run from its source)")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog="""First steps:

  hanse run                  the standard league, 90 days in seconds

  hanse new coffee.toml      a run file of your own

  hanse COMMAND --help       what a command does, with examples
""",
)
def hanse(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Leagues of agents that trade with each other, on Ray: deterministic and resumable."""
    if context.invoked_subcommand is None:
        text = context.get_help()  # with rich it is printed at once, and this is empty
        if text:
            say(text)


def main() -> None:
    """Run the command line; the process ends with 0, 2 (bad input, one line) or 130 (stopped)."""
    sys.exit(run_command())


def run_command(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        arguments: without the program's name; those of the process if left out.
    """
    try:
        code = app(args=arguments, prog_name="hanse", standalone_mode=False)
        sys.stdout.flush()
    except HanseError as error:
        return _refuse(str(error))
    except _ArgumentError as error:
        return _refuse(_about_arguments(error))
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:
        # The reader has gone (`hanse runs | head`); Python must not try again at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code if isinstance(code, int) else 0


def _refuse(message: str) -> int:
    note(f"hanse: {' '.join(message.split())}")
    return 2


def _about_arguments(error: Exception) -> str:
    message: str = error.format_message()  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "hanse"
    return f"{message[:1].lower()}{message[1:].rstrip('.')}; see: {path} --help"


if __name__ == "__main__":
    main()

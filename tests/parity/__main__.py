"""`python -m tests.parity FOLDER ... [--replay]`: 0 all equal, 1 a difference, 2 a bad folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from services.errors import HanseError
from tests.parity.compare import check_folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Checks each folder, prints one line for each, and returns the worst exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.parity",
        description="Compares our coffee economy with ledgers measured on CoffeeBench.",
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="a reference world")
    parser.add_argument(
        "--replay",
        action="store_true",
        help="apply the recorded actions instead of letting the firms decide",
    )
    options = parser.parse_args(arguments)
    code = 0
    for folder in options.folders:
        try:
            outcome = check_folder(folder, replay=options.replay)
        except HanseError as error:
            print(f"parity: {error}", file=sys.stderr)
            code = 2
            continue
        print(f"{folder}: {outcome}", flush=True)
        if not outcome.equal:
            code = max(code, 1)
    return code


if __name__ == "__main__":
    sys.exit(main())

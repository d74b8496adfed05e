"""Makes the calibrations that come with Hanse: ``python -m actors.studies.standard [FIRMS ...]``.

To be done again whenever the talking leagues, the monitor's settings or its feed have changed; a
calibration of other settings is refused. The sizes that are not named stay as they are.
"""

from __future__ import annotations

import argparse
import json

from actors.studies.calibrating import calibrate_league
from actors.studies.detecting import contents
from actors.studies.leagues import TOWNS, talking_league
from actors.watchers import STANDARD
from services.whole_file import whole

SEGMENTS = 160


def main() -> None:
    """Calibrates and writes."""
    parser = argparse.ArgumentParser(prog="python -m actors.studies.standard", description=__doc__)
    parser.add_argument("firms", nargs="*", type=int, default=list(TOWNS), help="6, 24, 96 (all)")
    parser.add_argument("--segments", type=int, default=SEGMENTS, help=f"of each ({SEGMENTS})")
    parser.add_argument("--processes", type=int, help="at the same time (one a processor)")
    given = parser.parse_args()
    held = json.loads(STANDARD.read_bytes()) if STANDARD.exists() else {}
    for firms in given.firms:
        found = calibrate_league(talking_league(firms, 0), given.segments, given.processes)
        held[str(firms)] = contents(found)
        print(f"{firms} firms: {found.thresholds}", flush=True)
    ordered = {size: held[size] for size in sorted(held, key=int)}
    with whole(STANDARD) as target:
        target.write_text(json.dumps(ordered, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""What the command line says of a calibration before a league is played under it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from services.cli.console import note
from services.errors import HanseError

if TYPE_CHECKING:
    from services.config import RunConfig

REMEDY = "make it anew: hanse monitor calibrate FILE --out"


def check_calibration(held: dict[str, Any], file: str) -> None:
    """Refuses a calibration that no monitor can use, while its file's name is known.

    Args:
        held: What the file holds.
        file: Its name.

    Raises:
        HanseError: one line with the file, the key and the remedy.
    """
    from monitors.caspian.calibration import EVIDENCE, Calibration
    from services.config.problems import unknown

    try:
        found = Calibration.parse(held, file)
    except HanseError as error:
        raise HanseError(f"{error}; {REMEDY} {file}") from None
    for name in found.thresholds:
        if name not in EVIDENCE:
            named = unknown(name, EVIDENCE, "statistic")
            raise HanseError(f"{file}: thresholds.{name}: {named}; {REMEDY} {file}")


def warn_of_size(config: RunConfig) -> None:
    """Says that a calibration is none of a league of this size, if that is so."""
    if config.monitor is None or config.monitor.calibration is None:
        return
    from actors.watchers import standard_calibrations

    firms = len(config.firms) if config.generate is None else config.generate.firms
    if isinstance(config.monitor.calibration, dict):
        made_for = config.monitor.calibration.get("firms")
        if made_for not in (None, firms):
            note(
                f"the calibration was made with {made_for} firms, and this league has {firms}: how"
                " often it alarms falsely is not known; make one of its own: hanse monitor"
                " calibrate"
            )
        return
    known = sorted(standard_calibrations())
    if firms not in known:
        sizes = f"{', '.join(map(str, known[:-1]))} and {known[-1]}"
        note(
            f'calibration = "standard" was made with {sizes} firms, and this league has {firms}:'
            " how often it alarms falsely is not known; make one of its own: hanse monitor"
            " calibrate"
        )

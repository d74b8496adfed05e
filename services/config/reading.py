"""Reading a run file."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from services.config.models import FORMAT, RunConfig
from services.errors import HanseError
from services.strategy_lines import POLICY, policy_folder


def standard() -> RunConfig:
    """The run that needs no file: 90 days, six firms, scripted and heuristic."""
    return RunConfig()


CalibrationCheck = Callable[[dict[str, Any], str], object]
"""Refuses the contents of a calibration's file, whose name is given for the error."""


def load(
    path: Path | str, *, calibrated: bool = True, check_calibration: CalibrationCheck | None = None
) -> RunConfig:
    """Read and check a run file.

    Args:
        path: The file.
        calibrated: Whether the calibration that it names is read, too; it may still have to be
            made.
        check_calibration: Looks into the calibration that it names, while the file's name is known;
            without it what is wrong in there is found when the monitor is made.

    Raises:
        HanseError: one line with the file, the key and what is allowed.
    """
    path = Path(path)
    values = read_toml(path)
    _refuse_newer_format(values, path)
    if not calibrated and isinstance(values.get("monitor"), dict):
        values["monitor"].pop("calibration", None)
    whole = with_whole_paths(values, path.absolute().parent, check_calibration)
    return RunConfig.parse(whole, str(path))


def read_toml(path: Path, kind: str = "a run file") -> dict[str, Any]:
    """The contents of a file of ours.

    Raises:
        HanseError: one line with the file, what is wrong with it, and the remedy.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        option = "" if kind == "a run file" else " --training"
        raise HanseError(
            f"{path}: there is no such file; write one with: hanse new {path}{option}"
        ) from None
    except IsADirectoryError:
        name = kind.removeprefix("a ")
        raise HanseError(f"{path}: this is a folder; name the {name} in it") from None
    except UnicodeDecodeError as error:
        raise HanseError(
            f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8 text"
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        reason = getattr(error, "strerror", None) or error
        raise HanseError(f"{path}: cannot be read: {reason}; check its permissions") from None
    try:
        # TOML in a file with Windows line ends is fine; tomllib wants them whole.
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise HanseError(f"{path}: not valid TOML: {_lower(str(error))}; mend that line") from None
    except (ValueError, RecursionError) as error:  # thousands of digits, or of brackets
        reason = "nested too deep" if isinstance(error, RecursionError) else _lower(str(error))
        raise HanseError(f"{path}: not {kind}: {reason}; mend that value") from None


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _refuse_newer_format(values: dict[str, Any], path: Path) -> None:
    written = values.get("format", FORMAT)
    if isinstance(written, int) and not isinstance(written, bool) and written > FORMAT:
        raise HanseError(
            f"{path}: format: {written} is newer than this hanse reads; "
            f"allowed: {FORMAT} (or upgrade: pip install --upgrade hanse)"
        )


def with_whole_paths(
    values: dict[str, Any], folder: Path, check_calibration: CalibrationCheck | None = None
) -> dict[str, Any]:
    """`mine.py:Mine` is meant relative to the run file; a resumed run may start somewhere else."""

    def whole(table: Any, key: str = "strategy") -> Any:
        name = table.get(key) if isinstance(table, dict) else None
        if not isinstance(name, str):
            return table
        if key in ("strategy", "policy"):
            return {**table, key: whole_strategy(name, folder)}
        return {**table, key: _whole_class(name, folder)}

    changed = dict(values)
    if isinstance(changed.get("firms"), list):
        changed["firms"] = [whole(firm) for firm in changed["firms"]]
    if isinstance(changed.get("controllers"), list):
        changed["controllers"] = [whole(one, "policy") for one in changed["controllers"]]
    if isinstance(changed.get("routers"), list):
        changed["routers"] = [whole(one, "policy") for one in changed["routers"]]
    if isinstance(changed.get("injections"), list):
        changed["injections"] = [whole(one, "kind") for one in changed["injections"]]
    if "generate" in changed:
        changed["generate"] = whole(changed["generate"])
    monitor = changed.get("monitor")
    if isinstance(monitor, dict) and isinstance(monitor.get("calibration"), str):
        changed["monitor"] = {
            **monitor,
            "calibration": _calibration(monitor["calibration"], folder, check_calibration),
        }
    return changed


def whole_strategy(strategy: str, folder: Path) -> str:
    """A strategy, whose file or folder (if it names one) is meant relative to a folder."""
    policy = policy_folder(strategy)
    if policy:
        return f"{POLICY}{(folder / policy).as_posix()}"
    return _whole_class(strategy, folder)


def _whole_class(name: str, folder: Path) -> str:
    if not re.fullmatch(r".+\.py:\w+", name):
        return name
    file, _, class_name = name.rpartition(":")
    return f"{(folder / file).as_posix()}:{class_name}"


def _calibration(name: str, folder: Path, check: CalibrationCheck | None) -> Any:
    """What a calibration's file holds: a run keeps it, as its alarms depend on it."""
    if name == "standard":
        return name
    path = folder / name
    try:
        held = json.loads(path.read_bytes())
    except OSError as error:
        raise HanseError(
            f"{path}: monitor.calibration: cannot be read: {error.strerror or error}; write one"
            f' with: hanse monitor calibrate FILE --out {name}, or use "standard"'
        ) from None
    except (ValueError, RecursionError):
        held = None
    if not isinstance(held, dict):
        raise HanseError(
            f"{path}: monitor.calibration: is not a calibration; write one with:"
            f" hanse monitor calibrate FILE --out {name}"
        )
    if check is not None:
        check(held, str(path))
    return held

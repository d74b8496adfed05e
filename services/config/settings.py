"""`key=value` from a command line, applied to a run configuration or other nested values."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from services.config.models import RunConfig
from services.config.problems import unknown
from services.config.reading import CalibrationCheck, with_whole_paths
from services.errors import HanseError


def apply_settings(
    config: RunConfig,
    settings: Iterable[str],
    *,
    check_calibration: CalibrationCheck | None = None,
) -> RunConfig:
    """The configuration with each `key.path=value` set; members of lists go by their names.

        apply_settings(config, ["economy.loss_probability=0.1", "firms.roaster_A.strategy=passive"])

    A value is read as TOML, and taken as text when it is not TOML, so quotes may be left out. A
    strategy's `path.py:Class` and a calibration's file are meant relative to the working directory.

    Args:
        config: The configuration.
        settings: The settings.
        check_calibration: As for :func:`~services.config.reading.load`.
    """
    values = config.dump()
    put_settings(values, settings)
    return RunConfig.parse(with_whole_paths(values, Path.cwd(), check_calibration), "--set")


def put_settings(values: dict[str, Any], settings: Iterable[str], example: str = "days=30") -> None:
    """Sets each `key.path=value` in nested tables, whatever these are of.

    Args:
        values: The tables; tables that are not there yet are made.
        settings: The settings.
        example: A setting that would fit, for the error.

    Raises:
        HanseError: what is given is no setting, or goes through something that has no keys.
    """
    for setting in settings:
        key, equals, text = setting.partition("=")
        path = _path(key) if equals else []
        if not path:
            raise HanseError(
                f"--set {setting}: is not a setting; allowed: key=value, such as {example}"
            )
        _put(values, path, _value(text.strip()), setting)


def _path(key: str) -> list[str]:
    """The parts of a dotted TOML key (a name with a dot in it goes in quotes); [] if it is none."""
    try:
        nested: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        return []
    path: list[str] = []
    while isinstance(nested, dict):
        if len(nested) != 1:
            return []
        part, nested = next(iter(nested.items()))
        path.append(part)
    return path


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # no TOML, or thousands of digits or brackets
        return text


def _put(values: dict[str, Any], path: list[str], value: Any, setting: str) -> None:
    here: Any = values
    for depth, part in enumerate(path[:-1]):
        if isinstance(here, list):
            here = _member(here, part, setting)
        elif part in here and here[part] is not None:
            here = here[part]
        else:
            here[part] = {}
            here = here[part]
        if not isinstance(here, (dict, list)):
            raise HanseError(
                f"--set {setting}: {'.'.join(path[: depth + 1])} has no keys; set it itself"
            )
    if isinstance(here, list):
        raise HanseError(
            f"--set {setting}: name a key of {path[-1]}, such as {'.'.join(path)}.strategy=passive"
        )
    here[path[-1]] = value


def _member(members: list[Any], name: str, setting: str) -> dict[str, Any]:
    names = [member["name"] for member in members if isinstance(member, dict)]
    if name not in names:
        raise HanseError(f"--set {setting}: {unknown(name, names, 'name')}")
    return next(member for member in members if member["name"] == name)

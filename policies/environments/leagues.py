"""The league that an environment plays: a run file, a configuration, or the standard one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from services.config import RunConfig, load, standard
from services.errors import HanseError


def as_config(config: RunConfig | str | Path | None) -> RunConfig:
    """A configuration as it is, from its file, or the standard league's.

    Raises:
        HanseError: the file cannot be read or does not fit.
    """
    if config is None:
        return standard()
    return config if isinstance(config, RunConfig) else load(config)


def with_strategies(config: RunConfig, strategies: Mapping[str, str]) -> RunConfig:
    """The same league, in which some firms play other strategies.

    Raises:
        HanseError: there is no such firm or strategy, or the league is made by a generator.
    """
    if not strategies:
        return config
    values = config.dump()
    firms = {firm["name"]: firm for firm in values["firms"]}
    for name, strategy in strategies.items():
        if name not in firms:
            raise HanseError(
                f"strategies: there is no firm {name!r} in the run file;"
                f" allowed: {', '.join(firms) or 'none, as a generator makes them'}"
            )
        firms[name].update(strategy=strategy, options={}, controller=None)
    return RunConfig.parse(values, "strategies")

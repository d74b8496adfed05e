"""Whether options have the types that a strategy's constructor asks for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from actors.strategies.informed import INFORMED, informed
from actors.strategies.scripted import KINDS, scripted

_CONFIG = ConfigDict(strict=True, arbitrary_types_allowed=True)
_BY_ROLE: dict[Callable[..., Any], Mapping[str, type]] = {scripted: KINDS, informed: INFORMED}
"""Strategies with a class for each role."""


def check_options(kind: Callable[..., Any], role: str, options: Mapping[str, Any]) -> None:
    """Refuses options of a wrong type; unknown ones are left to the constructor.

    Args:
        kind: A strategy that comes with Hanse.
        role: The firm's role.
        options: Keyword arguments of the strategy.

    Raises:
        TypeError: the sentence names the option and what is wrong with it.
    """
    hints = _parameters(_BY_ROLE[kind][role] if kind in _BY_ROLE else kind)
    for name, value in options.items():
        if name not in hints:
            continue
        try:
            TypeAdapter(hints[name], config=_CONFIG).validate_python(value)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join([name, *(str(part) for part in first["loc"])])
            raise TypeError(
                f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}, got {first['input']!r}"
            ) from None


def _parameters(kind: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of all named parameters, also of those that are passed on to base classes."""
    found: dict[str, Any] = {}
    for base in reversed(inspect.getmro(kind)):  # type: ignore[arg-type]
        constructor = vars(base).get("__init__")
        if inspect.isfunction(constructor):
            hints = get_type_hints(constructor)
            for name, parameter in inspect.signature(constructor).parameters.items():
                if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and name in hints:
                    found[name] = hints[name]
    return found

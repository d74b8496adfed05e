"""A function that remembers its last answer, for things that nobody changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

_Thing = TypeVar("_Thing")
_Value = TypeVar("_Value")


class Kept(Generic[_Thing, _Value]):
    """Asks a function once for each thing, and again when it is asked about another.

    Things are told apart by identity, and the last one is held, so nothing is ever mistaken for
    another that has come to lie in its place.

    Args:
        function: Of one argument that nobody changes afterwards; its answers are shared.
    """

    def __init__(self, function: Callable[[_Thing], _Value]) -> None:
        self._function = function
        self._thing: Any = self  # nobody asks about that
        self._value: Any = None

    def __call__(self, thing: _Thing) -> _Value:
        """The function's answer."""
        if thing is not self._thing:
            self._value = self._function(thing)
            self._thing = thing
        value: _Value = self._value
        return value

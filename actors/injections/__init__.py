"""What may be done to a league while it runs: five attacks, and three events that look like one.

A file for each; the base class with the hooks for one's own is in ``injection.py``, what puts them
around an agent in ``injected.py``. Who is origin, bridge and amplifier: ``actors.talkers``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, get_args

from actors.injections.contract_handover import ContractHandover
from actors.injections.corrupted_memory import CorruptedMemory
from actors.injections.faulty_tool import FaultyTool
from actors.injections.harvest_shock import HarvestShock
from actors.injections.injected import Injected, Withheld
from actors.injections.injection import Begins, Injection, Scene, changed
from actors.injections.mixed import Mixed
from actors.injections.price_rumour import PriceRumour
from actors.injections.promotion_burst import PromotionBurst
from actors.injections.retry_storm import RetryStorm
from actors.strategies.loading import load_module
from services.errors import HanseError

__all__ = ["INJECTIONS", "Injected", "Injection", "Scene", "Withheld", "changed", "find_injection"]

INJECTIONS: dict[str, type[Injection]] = {
    "price_rumour": PriceRumour,
    "corrupted_memory": CorruptedMemory,
    "faulty_tool": FaultyTool,
    "retry_storm": RetryStorm,
    "mixed": Mixed,
    "harvest_shock": HarvestShock,
    "promotion_burst": PromotionBurst,
    "contract_handover": ContractHandover,
}
"""The injections that come with Hanse, by the name used in a run file."""


def find_injection(kind: str, key: str) -> type[Injection]:
    """The class of an injection.

    Args:
        kind: A known one, ``module:Class`` or ``path.py:Class``.
        key: What an error names as the place to mend.

    Raises:
        HanseError: there is none of that name, it is no :class:`Injection`, or what its class says
            of it does not fit.
    """
    known = INJECTIONS.get(kind)
    if known is not None:
        return known
    module_name, _, class_name = kind.rpartition(":")
    try:
        found = getattr(load_module(module_name), class_name, None)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also sys.exit: a module does not end the program
        said = " ".join(str(error).split())
        raise HanseError(
            f"{key}: {kind!r} cannot be imported: {type(error).__name__}: {said};"
            " check the path and what the module imports"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Injection)):
        raise HanseError(
            f"{key}: {kind!r} is no injection; derive a class of that name from"
            " actors.injections.Injection"
        )
    for name, (fits, allowed) in _FACTS.items():
        value = getattr(found, name)
        if not fits(value):
            raise HanseError(
                f"{key}: {kind!r}: {name} = {value!r} does not fit; allowed: {allowed}"
            )
    return found


_BEGINS: Final = get_args(Begins)
_FACTS: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "attack": (lambda value: isinstance(value, bool), "True or False"),
    "begins_with": (lambda value: value in _BEGINS, ", ".join(map(repr, _BEGINS))),
    "enquires": (lambda value: isinstance(value, bool), "True or False"),
    "hours": (lambda value: type(value) is int and value >= 1, "a whole number of at least 1"),
}
"""What the class of an injection says of it, and may say: nobody reads it before the run starts."""

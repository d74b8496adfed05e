"""How firms decide, a file for each strategy; a user's own come from ``module:Class``.

Here: strategies and the function that finds them by name. Not here: the rules of trade
(``services.economy``) and how policies are learned (``policies``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from actors.strategies.heuristic import Heuristic
from actors.strategies.human import Human
from actors.strategies.importing import Importing
from actors.strategies.informed import informed
from actors.strategies.loading import load_module
from actors.strategies.managed import Managed
from actors.strategies.options import check_options
from actors.strategies.passive import Passive
from actors.strategies.random import RandomLegal
from actors.strategies.repaired import Repaired
from actors.strategies.scripted import scripted
from actors.strategies.strategy import DailyPlan, Plan, Strategy
from services.errors import HanseError
from services.strategy_lines import is_own, policy_folder

if TYPE_CHECKING:
    from services.economy.setup import TownSetup

__all__ = ["STRATEGIES", "DailyPlan", "Plan", "Strategy", "find_strategy", "make_strategy"]

STRATEGIES: dict[str, Callable[..., Strategy]] = {
    "passive": Passive,
    "heuristic": Heuristic,
    "repaired": Repaired,
    "scripted": scripted,
    "managed": Managed,
    "importing": Importing,
    "informed": informed,
    "random": RandomLegal,
    "human": Human,
}
"""The strategies that come with Hanse, by the name used in a run file."""

_OF_POLICIES = {"sampled", "usual"}


def make_strategy(
    name: str,
    firm: str,
    role: str,
    options: dict[str, Any],
    where: str = "run file",
    setup: Callable[[], TownSetup] | None = None,
) -> Strategy:
    """A firm's strategy.

    Args:
        name: A known strategy, ``module:Class``, ``path.py:Class`` or ``policy:FOLDER``.
        firm: The firm's name.
        role: farmer, roaster or retailer.
        options: Keyword arguments of the strategy.
        where: What an error names as the place to mend.
        setup: What the firm's town is made of; a trained policy must know it.

    Raises:
        HanseError: no such strategy, its module cannot be imported, or its options do not fit.
    """
    key = f"{where}: firms.{firm}.strategy"
    kind = find_strategy(name, key)
    try:
        if name in STRATEGIES:
            check_options(kind, role, options)
        elif policy_folder(name) is not None:
            if odd := sorted(set(options) - _OF_POLICIES):
                raise TypeError(f"a policy has no option {odd[0]}; allowed: sampled, usual")
            assert setup is not None
            options = {**options, "setup": setup()}
        strategy = kind(firm, role, **options)
        if is_own(name) and isinstance(strategy, Strategy):
            strategy.untrusted = True
    except (HanseError, KeyboardInterrupt):
        raise
    except BaseException as error:  # also sys.exit: a strategy does not end the program
        raise HanseError(
            f"{where}: firms.{firm}.options: strategy {name!r} cannot be made: {_reason(error)}"
        ) from error
    if not isinstance(strategy, Strategy):
        raise HanseError(
            f"{key}: {name!r} is a {type(strategy).__name__}, not a Strategy;"
            " derive it from actors.strategies.Strategy or DailyPlan"
        )
    return strategy


def find_strategy(name: str, key: str) -> Callable[..., Strategy]:
    """The class of a strategy.

    Raises:
        HanseError: the line names ``key`` and what can be done.
    """
    known = STRATEGIES.get(name)
    if known is not None:
        return known
    if (folder := policy_folder(name)) is not None:
        from actors.strategies.learned import Learned  # numpy is for who wants policies

        return partial(Learned, folder=folder, where=key)
    module_name, separator, class_name = name.rpartition(":")
    if not separator:
        raise HanseError(
            f"{key}: unknown strategy {name!r}; allowed: {', '.join(STRATEGIES)},"
            " or your own as module:Class or path.py:Class, or a trained policy as policy:FOLDER"
        )
    try:
        module = load_module(module_name)
        found = getattr(module, class_name, None)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also sys.exit: a module does not end the program
        raise HanseError(
            f"{key}: {name!r} cannot be imported: {type(error).__name__}: {_line(error)};"
            " check the path and what the module imports"
        ) from error
    if not callable(found):
        names = [
            n
            for n, v in vars(module).items()
            if isinstance(v, type) and issubclass(v, Strategy) and v.__module__ == module.__name__
        ]
        raise HanseError(
            f"{key}: {module_name} has no class {class_name!r};"
            f" its strategies: {', '.join(names) or 'none'}"
        )
    return found  # type: ignore[no-any-return]


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _reason(error: BaseException) -> str:
    """What went wrong; what is no mere error, such as SystemExit, also by its name."""
    if isinstance(error, Exception):
        return _line(error)
    return f"{type(error).__name__} {_line(error)}".strip()

"""How firms decide, a file for each strategy; a user's own come from ``module:Class``.

Here: strategies and the function that finds them by name. Not here: the rules of trade
(``services.economy``) and learned policies (``policies``).
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from actors.strategies.heuristic import Heuristic
from actors.strategies.human import Human
from actors.strategies.importing import Importing
from actors.strategies.managed import Managed
from actors.strategies.passive import Passive
from actors.strategies.random import RandomLegal
from actors.strategies.repaired import Repaired
from actors.strategies.scripted import scripted
from actors.strategies.strategy import DailyPlan, Plan, Strategy
from services.errors import HanseError

__all__ = ["STRATEGIES", "DailyPlan", "Plan", "Strategy", "find_strategy", "make_strategy"]

STRATEGIES: dict[str, Callable[..., Strategy]] = {
    "passive": Passive,
    "heuristic": Heuristic,
    "repaired": Repaired,
    "scripted": scripted,
    "managed": Managed,
    "importing": Importing,
    "random": RandomLegal,
    "human": Human,
}
"""The strategies that come with Hanse, by the name used in a run file."""


def make_strategy(
    name: str, firm: str, role: str, options: dict[str, Any], where: str = "run file"
) -> Strategy:
    """A firm's strategy.

    Args:
        name: A known strategy, ``module:Class`` or ``path.py:Class``.
        firm: The firm's name.
        role: farmer, roaster or retailer.
        options: Keyword arguments of the strategy.
        where: What an error names as the place to mend.

    Raises:
        HanseError: no such strategy, its module cannot be imported, or its options do not fit.
    """
    key = f"{where}: firms.{firm}.strategy"
    kind = find_strategy(name, key)
    try:
        strategy = kind(firm, role, **options)
    except HanseError:
        raise
    except Exception as error:
        raise HanseError(
            f"{where}: firms.{firm}.options: strategy {name!r} cannot be made: {_line(error)}"
        ) from error
    if not isinstance(strategy, Strategy):
        raise HanseError(
            f"{key}: {name!r} is a {type(strategy).__name__}, not a Strategy;"
            " derive it from actors.strategies.Strategy or DailyPlan"
        )
    if name not in STRATEGIES:
        strategy.untrusted = True
    return strategy


def find_strategy(name: str, key: str) -> Callable[..., Strategy]:
    """The class of a strategy.

    Raises:
        HanseError: the line names ``key`` and what can be done.
    """
    known = STRATEGIES.get(name)
    if known is not None:
        return known
    module_name, separator, class_name = name.rpartition(":")
    if not separator:
        raise HanseError(
            f"{key}: unknown strategy {name!r}; allowed: {', '.join(STRATEGIES)},"
            " or your own as module:Class or path.py:Class"
        )
    try:
        module = (
            _load_file(Path(module_name))
            if module_name.endswith(".py")
            else (_load_module(module_name))
        )
    except (Exception, SystemExit) as error:
        raise HanseError(
            f"{key}: {name!r} cannot be imported: {type(error).__name__}: {_line(error)};"
            " check the path and what the module imports"
        ) from error
    found = getattr(module, class_name, None)
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


def _load_module(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return importlib.import_module(name)


def _load_file(path: Path) -> ModuleType:
    path = path.resolve()
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    # The same in every process: the name may reach the log in an object's representation.
    name = f"hanse_strategy_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module

"""Where an agent's error arose, in a few words that are the same on every machine."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from types import TracebackType

_ROOT = Path(__file__).resolve().parents[1]
_OURS = tuple(str(_ROOT / name) for name in ("actors", "services", "policies", "monitors"))
_LIBRARIES = tuple(
    dict.fromkeys(
        str(Path(sysconfig.get_path(name)).resolve())
        for name in ("stdlib", "platstdlib", "purelib", "platlib")
    )
)
_FOREIGN = (*(f"{folder}/" for folder in (*_OURS, *_LIBRARIES)), "<")
"""Code that is not the user's; Python names code without a file ``<...>``."""
_STRATEGIES = f"{_ROOT / 'actors' / 'strategies'}/"
_BASE = f"{_STRATEGIES}strategy.py"


def where(error: BaseException, agent: object) -> str:
    """The innermost place in the user's own code, such as ``broken.py:19 in day``.

    Args:
        error: what the agent raised.
        agent: the agent; the module of its strategy counts as the user's wherever it lies.

    Returns:
        A file's name without its folders, or for a strategy of Hanse's its path in the package.
        Empty if no such code was under way.
    """
    kind = type(getattr(agent, "strategy", agent))
    own = getattr(sys.modules.get(kind.__module__), "__file__", None)
    cause: BaseException | None = error
    while cause is not None:
        places = list(_places(cause.__traceback__))
        for chosen in (
            [place for place in places if place[0] == own or not place[0].startswith(_FOREIGN)],
            [place for place in places if place[0].startswith(_STRATEGIES) and place[0] != _BASE],
        ):
            if chosen:
                file, line, function = chosen[-1]
                return f"{_called(file)}:{line} in {function}"
        cause = cause.__cause__
    return ""


def _places(traceback: TracebackType | None) -> list[tuple[str, int, str]]:
    places = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        places.append((code.co_filename, traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    return places


def _called(file: str) -> str:
    path = Path(file)
    return path.relative_to(_ROOT).as_posix() if file.startswith(_OURS) else path.name

"""Importing users' own strategies: every source file once in a process, whatever it is called by.

A file is known as ``path.py:Class``, as ``module:Class`` and to its neighbours, which import it by
name. Were it loaded under two names, its classes and payloads would exist twice.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType


def load_module(name: str) -> ModuleType:
    """A module by its name, or by its file if that ends in ``.py``."""
    return _load_file(Path(name)) if name.endswith(".py") else _load_by_name(name)


def _load_by_name(name: str) -> ModuleType:
    here = Path.cwd()
    if str(here) not in sys.path:
        sys.path.insert(0, str(here))
    if name not in sys.modules:
        spec = importlib.util.find_spec(name)
        loaded = _loaded(Path(spec.origin)) if spec is not None and spec.origin else None
        if loaded is not None:
            return loaded
    with _neighbours(here):
        return importlib.import_module(name)


def _load_file(path: Path) -> ModuleType:
    path = path.resolve()
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    loaded = _loaded(path)
    if loaded is not None:
        return loaded
    # The same in every process: the name may reach the log in an object's representation.
    name = f"hanse_strategy_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _neighbours(path.parent):
            spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


@contextmanager
def _neighbours(folder: Path) -> Iterator[None]:
    """Lets what is imported meanwhile import the files of a folder by name, as a script may.

    Those that are loaded already get their plain names for that long; a name that something else
    has, such as ``random``, is left to it.
    """
    lent = {}
    for module in list(sys.modules.values()):
        file = _file(module)
        if file is not None and file.parent == folder and file.stem not in sys.modules:
            lent[file.stem] = module
    sys.modules.update(lent)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))
        for name, module in lent.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def _loaded(path: Path) -> ModuleType | None:
    """The module that a file has become already; the program itself (``__main__``) is none."""
    path = path.resolve()
    for name, module in list(sys.modules.items()):
        if name != "__main__" and _file(module) == path:
            return module
    return None


def _file(module: ModuleType) -> Path | None:
    # Read without __getattr__, which lazy modules answer with an import.
    file = getattr(module, "__dict__", {}).get("__file__")
    return Path(file) if isinstance(file, str) else None

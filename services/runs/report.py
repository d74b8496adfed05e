"""The report of a run: one HTML file that opens from the disk, without a network or a server."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import os
import re
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any, Final

from services.errors import HanseError
from services.runs import Run
from services.runs.report_data import collect

SCRIPTS: Final = (
    "report_format.js",
    "report_table.js",
    "report_chart.js",
    "report_flow.js",
    "report_money.js",
    "report_trade.js",
    "report_log.js",
    "report.js",
)
"""The page's scripts in the order in which they are joined into one."""


def write_report(folder: Path, target: Path | None = None) -> Path:
    """Writes the report of the run in ``folder`` and returns its path.

    The page is a single file: data, style and script are inside, and its content security policy
    forbids every request. The same run gives the same bytes. A run that is still being written
    can be reported too; the page then says up to which day it goes.

    Args:
        folder: the run folder.
        target: where to write; ``<folder>/report.html`` if not given.

    Raises:
        HanseError: the folder holds no readable run, or the page cannot be written.
    """
    folder = Path(folder)
    target = folder / "report.html" if target is None else Path(target)
    page = render(collect(Run(folder), folder))
    _write(target, page)
    return target


def render(data: dict[str, Any]) -> str:
    """The page that shows ``data`` (as :func:`collect` returns it)."""
    script = "\n".join(_part(name) for name in SCRIPTS)
    script = f'(function () {{\n"use strict";\n{script}\n}})();'
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    run = data["run"]
    parts = {
        "title": html.escape(f"{run['name']}, seed {run['seed']}: a run of Hanse"),
        "script_hash": f"sha256-{digest}",
        "style": _part("report.css"),
        "data": as_script_text(data),
        "script": script,
    }
    # One pass, so that nothing that is put in can be taken for a placeholder.
    return re.sub(r"\{\{(\w+)\}\}", lambda m: parts[m[1]], _part("report_template.html"))


def as_script_text(value: Any) -> str:
    """JSON that is inert inside a ``<script type="application/json">`` element.

    ``<``, ``>`` and ``&`` only occur inside JSON strings and are written as escapes, so that no
    text of a run can end the element or open a comment. Non-ASCII is escaped as well, which
    takes care of line separators and of lone surrogates; NaN and infinities become ``null``.
    """
    text = json.dumps(_finite(value), separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value


def _part(name: str) -> str:
    return resources.files("services.runs").joinpath(name).read_text(encoding="utf-8")


def _write(target: Path, page: str) -> None:
    """Writes beside the target and renames, so that a full disk leaves an older report whole."""
    if target.is_dir():
        raise HanseError(f"{target} is a folder; name the file that the report should become")
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=".report-", dir=target.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(page)
        # mkstemp makes files private; a report is as readable as any file its owner creates.
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        reason = error.strerror or str(error)
        raise HanseError(f"{target}: the report cannot be written: {reason}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

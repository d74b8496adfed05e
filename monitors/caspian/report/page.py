"""The page as one HTML file that opens from the disk, without a network or a server."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from importlib import resources
from pathlib import Path
from typing import Any, Final

from monitors.caspian.report.data import Monitoring
from monitors.caspian.report.judging import judge
from services.errors import HanseError
from services.runs.report import as_script_text
from services.whole_file import whole

_RUNS: Final = "services.runs"
_OWN: Final = "monitors.caspian.report"

SCRIPTS: Final = (
    (_RUNS, "report_format.js"),
    (_OWN, "monitor_words.js"),
    (_OWN, "monitor_terms.js"),
    (_OWN, "monitor_signals.js"),
    (_OWN, "monitor_graph.js"),
    (_OWN, "monitor_alerts.js"),
    (_OWN, "monitor.js"),
)
"""The page's scripts in the order in which they are joined into one."""

STYLES: Final = ((_RUNS, "report.css"), (_OWN, "monitor.css"))


def render(monitoring: Monitoring) -> str:
    """The page; the same data give the same text."""
    script = "\n".join(_part(*name) for name in SCRIPTS)
    script = f'(function () {{\n"use strict";\n{script}\n}})();'
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {
        "title": html.escape(f"{monitoring.name}, seed {monitoring.seed}: what its monitor saw"),
        "script_hash": f"sha256-{digest}",
        "style": "\n".join(_part(*name) for name in STYLES),
        "data": as_script_text(shown(monitoring)),
        "script": script,
    }
    # One pass, so that nothing that is put in can be taken for a placeholder.
    template = _part(_OWN, "monitor_template.html")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def shown(monitoring: Monitoring) -> dict[str, Any]:
    """The data as the page's script takes them, with the verdicts."""
    verdicts, others = judge(monitoring)
    return {
        **monitoring.model_dump(mode="json"),
        "verdicts": [
            {
                **verdict._asdict(),
                "truth": verdict.truth.model_dump(mode="json"),
                "roles": [role._asdict() for role in verdict.roles],
            }
            for verdict in verdicts
        ],
        "other_alerts": others,
    }


def write_page(target: Path, monitoring: Monitoring) -> Path:
    """Writes the page, whole or not at all, and returns where.

    Raises:
        HanseError: it cannot be written.
    """
    if target.is_dir():
        raise HanseError(f"{target} is a folder; name the file that the page should become")
    try:
        with whole(target) as partial:
            partial.write_text(render(monitoring), encoding="utf-8", newline="\n")
    except OSError as error:
        reason = error.strerror or str(error)
        raise HanseError(f"{target}: the page cannot be written: {reason}") from error
    return target


def _part(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")

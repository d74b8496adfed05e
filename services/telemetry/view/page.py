"""The page of a trace: the template, its style and script, and the file that holds a whole run."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import IO, Any, Final

from services.economy.refusals import REFUSALS
from services.errors import HanseError
from services.runs import Run
from services.runs.report import as_script_text
from services.telemetry.reader import TraceReader
from services.telemetry.view.chunks import day_chunk, packed
from services.telemetry.view.overview import Overview, agents_of
from services.whole_file import whole

_RUNS: Final = "services.runs"
_VIEW: Final = "services.telemetry.view"

SCRIPTS: Final = (
    (_RUNS, "report_format.js"),
    (_VIEW, "view_day.js"),
    (_VIEW, "view_source.js"),
    (_VIEW, "view_words.js"),
    (_VIEW, "view_paint.js"),
    (_VIEW, "view_list.js"),
    (_VIEW, "view_strip.js"),
    (_VIEW, "view_axis.js"),
    (_VIEW, "view_spans.js"),
    (_VIEW, "view_legend.js"),
    (_VIEW, "view_waterfall.js"),
    (_VIEW, "view_graph.js"),
    (_VIEW, "view_search.js"),
    (_VIEW, "view_story.js"),
    (_VIEW, "view_details.js"),
    (_VIEW, "view.js"),
)
"""The page's scripts in the order in which they are joined into one."""

STYLES: Final = ((_RUNS, "report.css"), (_VIEW, "view.css"))


def write_page(run: Run, out: Path | None = None) -> Path:
    """Writes a run's trace as one HTML file that needs no network, and returns its path.

    The days are in it as compressed chunks, of which the page opens those that it shows. The same
    run gives the same bytes, and one that is still being written is shown up to its last whole day.

    Args:
        run: The run.
        out: Where to write; ``trace.html`` in the run's folder if not given.

    Raises:
        HanseError: The run is damaged, or the page cannot be written.
    """
    target = run.folder / "trace.html" if out is None else Path(out)
    reader = TraceReader(run)
    overview = Overview(run)
    overview.grow()
    with _whole(target) as file:
        file.writelines(page(index(run, overview), served=False, chunks=_chunks(reader, overview)))
    return target


def index(run: Run, overview: Overview) -> dict[str, Any]:
    """What the page has at hand before it opens a day."""
    manifest = run.manifest
    return {
        "run": {
            "name": manifest.name,
            "id": manifest.id,
            "seed": manifest.seed,
            "days": manifest.days,
            "rules": manifest.rules,
            "folder": run.folder.resolve().name,
            "state": run.state,
            "hanse_version": manifest.hanse_version,
        },
        "refusals": REFUSALS,
        "agents": agents_of(run) if overview.days else [],
        "days": [list(day) for day in overview.days],
    }


def orders_chunk(overview: Overview) -> list[list[Any]]:
    """Exchange, offer, ids and days of every order."""
    return [list(order) for order in overview.orders]


def page(
    data: dict[str, Any], *, served: bool, chunks: Iterable[tuple[str, bytes]] = ()
) -> Iterator[str]:
    """The page, piece by piece.

    Args:
        data: What :func:`index` returns.
        served: Whether the page may ask its server for more.
        chunks: Names and gzipped JSON of what it brings along.
    """
    script = "\n".join(_part(*name) for name in SCRIPTS)
    script = f'(function () {{\n"use strict";\n{script}\n}})();'
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    run = data["run"]
    parts = {
        "title": html.escape(f"{run['name']}, seed {run['seed']}: the trace of a run of Hanse"),
        "policy": policy(digest, served=served),
        "style": "\n".join(_part(*name) for name in STYLES),
        "data": as_script_text({**data, "served": served}),
        "script": script,
    }
    # One pass, so that nothing that is put in can be taken for a placeholder.
    text = re.sub(r"\{\{(\w+)\}\}", lambda m: parts[m[1]], _part(_VIEW, "view_template.html"))
    head, end, tail = text.partition("</body>")
    yield head
    # Behind the script, which can draw before a browser has read them all.
    for name, content in chunks:
        encoded = base64.b64encode(content).decode()
        yield f'<script type="text/plain" id="chunk-{name}">{encoded}</script>\n'
    yield end + tail


def policy(digest: str, *, served: bool) -> str:
    """The page's content security policy: its own script and nothing else."""
    rules = [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        f"script-src 'sha256-{digest}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    if served:
        rules.append("connect-src 'self'")
    return "; ".join(rules)


def _chunks(reader: TraceReader, overview: Overview) -> Iterator[tuple[str, bytes]]:
    for day in range(len(overview.days)):
        yield f"day-{day}", packed(day_chunk(reader, day))
    yield "orders", packed(orders_chunk(overview))


def _part(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


@contextmanager
def _whole(target: Path) -> Iterator[IO[str]]:
    """A file that takes its name once it is complete, so that an older one is never half gone."""
    if target.is_dir():
        raise HanseError(f"{target} is a folder; name the file that the page should become")
    try:
        with whole(target) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
            yield file
    except OSError as error:
        reason = error.strerror or str(error)
        raise HanseError(
            f"{target}: the page cannot be written ({reason}); choose another place with --out"
        ) from error

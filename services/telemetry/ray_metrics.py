"""Ray's own metrics, which its dashboard and its Prometheus endpoint show.

They need ``ray[default]``. Ray is never imported from here: only if it runs already is it used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

_NEEDED = ("aiohttp", "aiohttp_cors", "grpc", "opencensus", "prometheus_client")
"""What ``ray[default]`` brings along; without any of it Ray swallows all metrics."""
_TAGS = {
    "hanse.messages": ("type",),
    "hanse.message.bytes": ("type",),
    "hanse.handler.duration": ("role",),
    "hanse.cash": ("firm",),
    "hanse.alerts": ("agent",),
    "hanse.measures": ("measure",),
    "hanse.agent.errors": ("trouble",),
    "hanse.spans.exported": ("exporter",),
    "hanse.spans.dropped": ("exporter",),
}


def ray_takes_metrics() -> bool:
    """Whether Ray runs in this process and can do something with metrics."""
    ray = sys.modules.get("ray")
    if ray is None or not _there():
        return False
    running = getattr(ray, "is_initialized", None)
    return running is not None and bool(running())


@cache
def _there() -> bool:
    return all(find_spec(name) is not None for name in _NEEDED)


class RayMetrics:
    """The metrics of Hanse as Ray has them: ``hanse_messages`` for ``hanse.messages``.

    Args:
        buckets: The bounds of the histogram of durations, in seconds.
    """

    def __init__(self, buckets: Sequence[float]) -> None:
        from services.telemetry.metrics import CATALOGUE

        self.instruments: dict[str, Callable[[float, dict[str, str]], None]] = {
            name: _instrument(name, kind, description, buckets)
            for name, (kind, _, description) in CATALOGUE.items()
        }


def _instrument(
    name: str, kind: str, description: str, buckets: Sequence[float]
) -> Callable[[float, dict[str, str]], None]:
    import importlib

    metrics: Any = importlib.import_module("ray.util.metrics")
    tags = _TAGS.get(name, ())
    called = name.replace(".", "_")
    if kind == "counter":
        made = metrics.Counter(called, description=description, tag_keys=tags)
        put = made.inc
    elif kind == "gauge":
        made = metrics.Gauge(called, description=description, tag_keys=tags)
        put = made.set
    else:
        made = metrics.Histogram(
            called, description=description, boundaries=list(buckets), tag_keys=tags
        )
        put = made.observe

    def record(value: float, about: dict[str, str]) -> None:
        if kind == "counter" and value <= 0:
            return  # Ray's counters take nothing else
        put(value, tags=dict(zip(tags, about.values(), strict=True)))

    return record

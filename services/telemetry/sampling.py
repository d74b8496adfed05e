"""Which spans are exported: by ``OTEL_TRACES_SAMPLER`` and ``OTEL_TRACES_SAMPLER_ARG``.

The decision is the SDK's own and falls by trace id, so a trace is exported whole or not at all, and
every process decides alike. A span with an error, and an alert, is exported in any case (its
ancestors need not be), unless nothing is to be exported at all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    DEFAULT_OFF,
    DEFAULT_ON,
    Decision,
    ParentBasedTraceIdRatio,
    Sampler,
    TraceIdRatioBased,
)

from services.errors import HanseError

if TYPE_CHECKING:
    from services.telemetry.span import Span

_VARIABLE = "OTEL_TRACES_SAMPLER"
_ARGUMENT = "OTEL_TRACES_SAMPLER_ARG"
_WHOLE: Mapping[str, Sampler] = {
    "always_on": ALWAYS_ON,
    "always_off": ALWAYS_OFF,
    "parentbased_always_on": DEFAULT_ON,
    "parentbased_always_off": DEFAULT_OFF,
}
_RATIOS = {
    "traceidratio": TraceIdRatioBased,
    "parentbased_traceidratio": ParentBasedTraceIdRatio,
}
_REMEMBERED = 100_000


class Sampling:
    """Decides which spans are exported.

    Args:
        sampler: A sampler of the SDK. It is asked once for each trace, with its id alone: all our
            spans are there before the first is asked about, so no parent has decided before.
    """

    def __init__(self, sampler: Sampler = ALWAYS_ON) -> None:
        self._sampler = sampler
        self._decided: dict[int, bool] = {}
        self.keeps_all = sampler in (ALWAYS_ON, DEFAULT_ON)
        """Whether no span is left out."""
        self.keeps_none = sampler in (ALWAYS_OFF, DEFAULT_OFF)
        """Whether every span is left out, those with errors too."""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """The sampling that the environment asks for; by default every span is exported.

        Raises:
            HanseError: the sampler has another name, or its ratio is no number from 0 to 1.
        """
        name = environ.get(_VARIABLE, "").strip().lower() or "parentbased_always_on"
        if name in _WHOLE:
            return cls(_WHOLE[name])
        if name not in _RATIOS:
            raise HanseError(
                f"{_VARIABLE}={name!r} is none of {', '.join(sorted([*_WHOLE, *_RATIOS]))}"
            )
        given = environ.get(_ARGUMENT, "").strip()
        try:
            return cls(_RATIOS[name](float(given or "1")))
        except ValueError:
            raise HanseError(
                f"{_ARGUMENT}={given!r} is not a number from 0 to 1, as {_VARIABLE}={name} needs it"
            ) from None

    def keeps(self, span: Span) -> bool:
        """Whether the span is exported."""
        if self.keeps_none:
            return False
        if span.error is not None or _is_alert(span):
            return True
        kept = self._decided.get(span.trace_id)
        if kept is None:
            if len(self._decided) >= _REMEMBERED:
                self._decided.clear()
            decision = self._sampler.should_sample(None, span.trace_id, span.name).decision
            kept = self._decided[span.trace_id] = decision is Decision.RECORD_AND_SAMPLE
        return kept


def _is_alert(span: Span) -> bool:
    return span.name == "alert" or span.name.startswith("alert ")

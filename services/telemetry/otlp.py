"""OTLP over HTTP: spans to a collector, as the variables ``OTEL_EXPORTER_OTLP_*`` say.

A collector that is away, overloaded or slow is asked again, with ever longer pauses, for as long as
the run goes on; what it refuses for good is counted as failed and not sent twice.
"""

from __future__ import annotations

import gzip
import logging
import math
import os
import random
import re
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import unquote, urlsplit

from services.errors import HanseError
from services.telemetry.exporting import Patience, Sent
from services.telemetry.redaction import redact

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

    from services.telemetry.span import Span

_log = logging.getLogger(__name__)
_AGAIN = frozenset({429, 502, 503, 504})
"""The answers after which OTLP lets a client try again."""
_FIRST_PAUSE, _LONGEST_PAUSE, _LONGEST_TOLD = 0.2, 5.0, 600.0
_PREFIX = "OTEL_EXPORTER_OTLP"
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True)
class OtlpSettings:
    """Where and how to send one signal. Its headers are secrets: they are never shown."""

    endpoint: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 10.0
    """Seconds for one attempt."""
    compression: str = "gzip"
    """gzip, deflate or none."""
    verify: str | bool = True
    """The file of the certificates to trust, instead of the system's."""
    certificate: str | tuple[str, str] | None = field(default=None, repr=False)
    """The client's own: a file, or (certificate, key)."""
    give_up: float = math.inf
    """Seconds for which a collector that takes nothing is waited for; then each batch is tried
    once."""

    @classmethod
    def from_environment(
        cls, environ: Mapping[str, str] = os.environ, signal: str = "TRACES"
    ) -> Self:
        """What the environment says; a signal's own variables go before those for all signals.

        Args:
            environ: The environment, which names an endpoint.
            signal: TRACES or METRICS.

        Raises:
            HanseError: a protocol other than http/protobuf, or a value that cannot be used.
        """
        name, protocol = _given(environ, signal, "PROTOCOL")
        if protocol not in ("", "http/protobuf"):
            raise HanseError(
                f"{name}={protocol}: Hanse speaks http/protobuf only; unset it, and let the"
                " endpoint be the collector's HTTP port, such as http://localhost:4318"
            )
        millis = environ.get("OTEL_BSP_EXPORT_TIMEOUT", "").strip()
        key = _given(environ, signal, "CLIENT_KEY")[1]
        certificate = _given(environ, signal, "CLIENT_CERTIFICATE")[1]
        return cls(
            endpoint=_endpoint(environ, signal),
            headers=_headers(*_given(environ, signal, "HEADERS")),
            timeout=_seconds(*_given(environ, signal, "TIMEOUT")),
            compression=_compression(*_given(environ, signal, "COMPRESSION")),
            verify=_given(environ, signal, "CERTIFICATE")[1] or True,
            certificate=(certificate, key) if certificate and key else certificate or None,
            give_up=int(millis) / 1000 if millis.isdecimal() else math.inf,
        )

    @property
    def is_local(self) -> bool:
        """Whether the endpoint is on this machine."""
        host = urlsplit(self.endpoint).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.")

    @property
    def shown(self) -> str:
        """The endpoint without anything in it that may be secret."""
        parts = urlsplit(self.endpoint)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


class OtlpSink:
    """Sends spans to a collector.

    Args:
        settings: Where to and how.
        resource: Whom the spans come from.
    """

    def __init__(self, settings: OtlpSettings, resource: Resource) -> None:
        import requests

        self.name = "otlp"
        self.trouble = ""
        self._settings = settings
        self._resource = resource
        self._session = requests.Session()
        # No proxy leads to this machine, whatever the environment says of proxies.
        self._session.trust_env = not settings.is_local
        self._session.verify = settings.verify
        self._session.cert = settings.certificate
        self._headers = {
            "User-Agent": "hanse-otlp",
            **settings.headers,
            "Content-Type": "application/x-protobuf",
        }
        if settings.compression != "none":
            self._headers["Content-Encoding"] = settings.compression
        self._told = False
        self._away_since: float | None = None

    def send(self, spans: Sequence[Span], patience: Patience) -> Sent:
        """Sends a batch, again and again if it must be, and says what became of it."""
        from services.telemetry.otlp_encoding import encode

        body = _compressed(encode(spans, self._resource), self._settings.compression)
        pause = _FIRST_PAUSE
        while True:
            self.trouble = self.trouble or f"{self._settings.shown} has not answered yet"
            answer = self._post(body, patience)
            self.trouble = answer.reason if answer.again else ""
            if not answer.again:
                self._away_since = None
                rejected = min(answer.rejected, len(spans)) if answer.accepted else len(spans)
                return Sent(len(spans) - rejected, rejected, answer.reason)
            self._tell(answer.reason)
            wait = pause * random.uniform(0.8, 1.2) if answer.after is None else answer.after
            pause = min(pause * 2, _LONGEST_PAUSE)
            if self._away_since is None:
                self._away_since = time.monotonic()
            if time.monotonic() + wait > self._away_since + self._settings.give_up:
                self._away_since = -math.inf  # until it takes something
                return Sent(0, len(spans), answer.reason)
            if not patience.wait(wait):
                return Sent(0, 0, answer.reason)

    def close(self, patience: Patience) -> None:
        """Lets the connections go."""
        self._session.close()

    def _post(self, body: bytes, patience: Patience) -> _Answer:
        import requests

        allowed = max(min(self._settings.timeout, patience.left()), 0.001)
        try:
            response = self._session.post(
                self._settings.endpoint,
                data=body,
                headers=self._headers,
                timeout=allowed,
                allow_redirects=False,
            )
        except requests.exceptions.SSLError:
            return _Answer(False, False, f"{self._settings.shown} has no certificate to trust")
        except requests.exceptions.Timeout:
            reason = f"{self._settings.shown} did not answer within {allowed:.3g} seconds"
            return _Answer(False, True, reason)
        except requests.exceptions.ConnectionError:
            return _Answer(False, True, f"{self._settings.shown} cannot be reached")
        except requests.exceptions.RequestException as error:
            return _Answer(False, False, redact(f"{self._settings.shown}: {type(error).__name__}"))
        status = response.status_code
        if 200 <= status < 300:
            return _accepted(response.content)
        reason = f"{self._settings.shown} answered {status} {response.reason or ''}".rstrip()
        if status in (401, 403):
            reason += f"; see {_PREFIX}_HEADERS"
        elif 300 <= status < 400 or status in (404, 405):
            reason += f"; see {_PREFIX}_ENDPOINT"
        again = status in _AGAIN
        after = _retry_after(response.headers.get("Retry-After")) if again else None
        return _Answer(False, again, reason, after)

    def _tell(self, reason: str) -> None:
        if not self._told:
            self._told = True
            _log.warning("%s; the spans wait and are sent again", reason)


class _Answer(NamedTuple):
    accepted: bool
    again: bool
    reason: str = ""
    after: float | None = None
    """Seconds that the collector wants to be left alone."""
    rejected: int = 0


def _accepted(content: bytes) -> _Answer:
    """An answer that takes the request, perhaps without some of its spans."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
        ExportTraceServiceResponse,
    )

    response = ExportTraceServiceResponse()
    try:
        response.ParseFromString(content)
    except Exception:  # a collector's chatter, such as "OK" or {}; what counts is the status
        return _Answer(True, False)
    partial = response.partial_success
    if partial.rejected_spans <= 0:
        return _Answer(True, False)
    reason = redact(partial.error_message) or "the collector rejected some"
    return _Answer(True, False, reason, rejected=partial.rejected_spans)


def _retry_after(value: str | None) -> float | None:
    """The header in seconds, which may be a number or a date."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    if not math.isfinite(seconds):
        return None
    return min(max(seconds, _FIRST_PAUSE), _LONGEST_TOLD)


def _compressed(body: bytes, compression: str) -> bytes:
    if compression == "gzip":
        return gzip.compress(body, 3, mtime=0)
    return zlib.compress(body, 3) if compression == "deflate" else body


# ---- the environment ---------------------------------------------------------------------------


def _given(environ: Mapping[str, str], signal: str, what: str) -> tuple[str, str]:
    """Name and value of the variable that counts for a signal."""
    for name in (f"{_PREFIX}_{signal}_{what}", f"{_PREFIX}_{what}"):
        value = environ.get(name, "").strip()
        if value:
            return name, value
    return f"{_PREFIX}_{what}", ""


def _endpoint(environ: Mapping[str, str], signal: str) -> str:
    name, given = _given(environ, signal, "ENDPOINT")
    try:
        parts = urlsplit(given)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of the port
        usable = False
    if not usable:
        raise HanseError(
            f"{name}={redact(given.rpartition('@')[2])!r} is not a URL with http:// or https://,"
            " such as http://localhost:4318"
        )
    if name == f"{_PREFIX}_{signal}_ENDPOINT":
        return given
    return parts._replace(path=f"{parts.path.rstrip('/')}/v1/{signal.lower()}").geturl()


def _headers(name: str, given: str) -> dict[str, str]:
    headers = {}
    for item in filter(None, (item.strip() for item in given.split(","))):
        key, equals, value = item.partition("=")
        key, value = unquote(key.strip()), unquote(value.strip())
        if not equals or not _HEADER_NAME.fullmatch(key) or not (value + " ").isprintable():
            raise HanseError(
                f"{name} is not of the form name=value,name=value with URL-encoded values"
                " (its content is not shown, as it may be secret)"
            )
        try:
            value.encode("latin-1")
        except UnicodeEncodeError:
            raise HanseError(
                f"{name}: the value of {key} has characters that no HTTP header can carry"
            ) from None
        headers[key] = value
    return headers


def _seconds(name: str, given: str) -> float:
    """Seconds, as OpenTelemetry for Python reads them; from 1000 on milliseconds, as specified."""
    try:
        number = float(given or 10)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise HanseError(f"{name}={given!r} is not a number of seconds above 0")
    return number / 1000 if number >= 1000 else number


def _compression(name: str, given: str) -> str:
    chosen = given.lower() or "gzip"
    if chosen not in ("gzip", "deflate", "none"):
        raise HanseError(f"{name}={given!r} is none of gzip, deflate, none")
    return chosen

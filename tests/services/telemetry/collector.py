"""A collector on the loopback: takes OTLP over HTTP, and misbehaves as told."""

from __future__ import annotations

import gzip
import threading
import zlib
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Answer(NamedTuple):
    """What the collector says to a request."""

    status: int = 200
    headers: Mapping[str, str] = MappingProxyType({})
    body: bytes = b""


class Request(NamedTuple):
    """What the collector was sent; the body is already unpacked."""

    path: str
    headers: dict[str, str]
    body: bytes


class Collector:
    """Serves as long as its ``with`` block lasts.

    Args:
        answers: What it says to the first requests; afterwards it is content.
        port: Where; 0 for any.
    """

    def __init__(self, *answers: Answer, port: int = 0) -> None:
        self.requests: list[Request] = []
        self.hang = threading.Event()
        """Once set, requests are left without an answer until it is cleared or the end."""
        self._answers = list(answers)
        self._over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self._receive))
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def _receive(self, request: Request) -> Answer:
        while self.hang.is_set() and not self._over.is_set():
            self._over.wait(0.01)
        self.requests.append(request)
        return self._answers.pop(0) if self._answers else Answer()

    def span_ids(self) -> list[int]:
        """The ids of all spans that it was sent."""
        return [int.from_bytes(span.span_id, "big") for span in self.spans()]

    def spans(self) -> list[Any]:
        """All spans that it was sent, as the official classes read them."""
        return [
            span
            for request in self.requests
            if request.path.endswith("/v1/traces")
            for group in ExportTraceServiceRequest.FromString(request.body).resource_spans
            for scope in group.scope_spans
            for span in scope.spans
        ]

    def metric_names(self) -> set[str]:
        """The names of all metrics that it was sent."""
        return {
            metric.name
            for request in self.requests
            if request.path.endswith("/v1/metrics")
            for group in ExportMetricsServiceRequest.FromString(request.body).resource_metrics
            for scope in group.scope_metrics
            for metric in scope.metrics
        }

    def __enter__(self) -> Self:
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()


def _handler(receive: Callable[[Request], Answer]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            encoding = self.headers.get("Content-Encoding")
            if encoding == "gzip":
                body = gzip.decompress(body)
            elif encoding == "deflate":
                body = zlib.decompress(body)
            answer = receive(Request(self.path, dict(self.headers.items()), body))
            try:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)
            except OSError:
                pass  # whoever asked has gone

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler

"""Serves a run's trace to this machine's own browser, and nothing else to nobody else."""

from __future__ import annotations

import json
import re
import sys
import webbrowser
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, Final
from urllib.parse import urlsplit

from services.errors import HanseError
from services.runs import Run
from services.telemetry.reader import TraceReader
from services.telemetry.view.chunks import day_chunk, packed
from services.telemetry.view.overview import Overview
from services.telemetry.view.page import index, orders_chunk, page

LOOPBACK: Final = "127.0.0.1"
PATIENCE: Final = 0.25
"""Seconds that an answer may spend on days that nobody has looked at yet."""

MOST_KEPT: Final = 64 * 1024 * 1024
"""Bytes of days that are kept as they were sent: whole days never change, and a second search
through a run asks for all of them again."""

_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def serve(
    run: Run,
    port: int = 0,
    open_browser: bool = True,
    *,
    say: Callable[[str], object] = print,
) -> None:
    """Serves the trace of a run until Ctrl-C.

    Days that are written meanwhile appear on the page.

    Args:
        run: The run.
        port: Where to listen on this machine; 0 for any port that is free.
        open_browser: Whether to open the page at once.
        say: Is called with each line for the user.

    Raises:
        HanseError: The port is taken, or the run is damaged.
    """
    with TraceServer(run, port) as server:
        say(f"{server.address}  (only on this machine; Ctrl-C ends it)")
        if open_browser:
            webbrowser.open(server.address)
        try:
            server.wait()
        except KeyboardInterrupt:
            say("ended")


class TraceServer:
    """A server for one run's trace, on this machine's loopback only.

    It answers GET requests for the page and its data, from the page that it has itself sent::

        with TraceServer(Run("runs/coffee")) as server:
            print(server.address)
            server.wait()

    Args:
        run: The run.
        port: Where to listen; 0 for any port that is free.

    Raises:
        HanseError: The port is taken or no port.
    """

    def __init__(self, run: Run, port: int = 0) -> None:
        self._source = _Source(run)
        try:
            self._http = _Http((LOOPBACK, port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "it is no port"
            raise HanseError(
                f"port {port}: cannot be used ({reason}); choose another with --port, or leave it"
                " out"
            ) from error
        self._http.source = self._source
        self._thread = Thread(target=self._http.serve_forever, args=(0.1,), daemon=True)

    @property
    def address(self) -> str:
        """Of the page."""
        return f"http://{LOOPBACK}:{self._http.server_port}/"

    def __enter__(self) -> TraceServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def wait(self) -> None:
        """Until somebody interrupts."""
        while self._thread.is_alive():
            self._thread.join(0.2)


class _Source:
    """What there is to send; one request at a time reads the run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._reader = TraceReader(run)
        self._overview = Overview(run)
        self._kept: dict[int, bytes] = {}
        self._size = 0
        self._lock = Lock()

    def page(self) -> str:
        with self._lock:
            self._overview.grow(PATIENCE)
            return "".join(page(index(self._run, self._overview), served=True))

    def news(self, days: int) -> dict[str, Any]:
        """What is new for a page that knows so many days."""
        with self._lock:
            more = self._overview.grow(PATIENCE)
            found = index(self._run, self._overview)
            return {
                "state": found["run"]["state"],
                "days": found["days"][days:],
                "agents": [] if days else found["agents"],
                "more": more,
            }

    def day(self, day: int) -> bytes:
        with self._lock:
            kept = self._kept.get(day)
            if kept is None:
                kept = self._kept[day] = packed(day_chunk(self._reader, day), level=1)
                self._size += len(kept)
                while self._size > MOST_KEPT and len(self._kept) > 1:
                    self._size -= len(self._kept.pop(next(iter(self._kept))))
            return kept

    def orders(self) -> bytes:
        with self._lock:
            return packed(orders_chunk(self._overview), level=1)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    source: _Source

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle of an answer is nothing to tell anybody."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server_version, sys_version = "Hanse", ""
    timeout = 30
    server: _Http

    def do_GET(self) -> None:
        path = urlsplit(self.path)
        if not self._from_here(path.path):
            self._refuse(HTTPStatus.FORBIDDEN, "only for the page itself, on this machine")
            return
        try:
            self._answer(path.path, path.query)
        except HanseError as error:
            self._refuse(HTTPStatus.NOT_FOUND, str(error))

    def _not_allowed(self) -> None:
        self.close_connection = True  # a body may follow that nobody reads
        self._refuse(HTTPStatus.METHOD_NOT_ALLOWED, "only GET is answered here")

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = _not_allowed  # noqa: N815

    def _from_here(self, path: str) -> bool:
        """Whether the request comes from a browser's address line or from the page.

        A site that has its own name point to this machine (DNS rebinding) is told by ``Host``;
        one that asks across origins, by ``Origin`` and ``Sec-Fetch-Site``.
        """
        port = self.server.server_port
        hosts = {f"{LOOPBACK}:{port}", f"localhost:{port}"}
        if self.headers.get_all("Host", []) not in [[host] for host in hosts]:
            return False
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in hosts}:
            return False
        site = self.headers.get("Sec-Fetch-Site", "none")
        followed = path == "/" and self.headers.get("Sec-Fetch-Mode") == "navigate"
        return site in ("same-origin", "none") or followed

    def _answer(self, path: str, query: str) -> None:
        source = self.server.source
        if path == "/":
            self._send("text/html; charset=utf-8", source.page().encode())
        elif path == "/data/news" and (days := re.fullmatch(r"from=(\d{1,9})", query)):
            self._send("application/json", json.dumps(source.news(int(days[1]))).encode())
        elif day := re.fullmatch(r"/data/day/(\d{1,9})", path):
            self._send("application/json", source.day(int(day[1])), gzipped=True)
        elif path == "/data/orders":
            self._send("application/json", source.orders(), gzipped=True)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "nothing here")

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        body = (json.dumps({"error": reason}) + "\n").encode()
        self._send("application/json", body, status=status)

    def _send(
        self,
        kind: str,
        body: bytes,
        *,
        gzipped: bool = False,
        status: HTTPStatus = HTTPStatus.OK,
    ) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if gzipped:
            self.send_header("Content-Encoding", "gzip")
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal belongs to whoever started it."""

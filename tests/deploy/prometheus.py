"""A Prometheus of our own, on loopback, for as long as a test needs it."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

PROGRAM = shutil.which("prometheus")
CHECKER = shutil.which("promtool")
_START_SECONDS = 20.0


class Prometheus:
    """One that runs.

    Args:
        url: Where its HTTP API is.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The series that a query gives now; what it refuses raises."""
        answer = self._get("query", query=expression)
        assert answer["status"] == "success"
        result: list[dict[str, Any]] = answer["data"]["result"]
        return result

    def refuses(self, expression: str) -> bool:
        """Whether it cannot read a query."""
        try:
            self._get("query", query=expression)
        except urllib.error.HTTPError as error:
            return error.code == 400
        return False

    def await_sum(self, expression: str, value: float, seconds: float = 10.0) -> None:
        """Waits until a query's only number is this one."""
        deadline = time.monotonic() + seconds
        while True:
            found = [float(series["value"][1]) for series in self.query(f"sum({expression})")]
            if found == [value]:
                return
            assert time.monotonic() < deadline, f"{expression}: {found}, not {value}"
            time.sleep(0.1)

    def _get(self, path: str, **parameters: str) -> Any:
        words = urllib.parse.urlencode(parameters)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self._url}/api/v1/{path}?{words}", timeout=10) as answer:
            return json.load(answer)


@contextmanager
def running(configuration: dict[str, Any], folder: Path) -> Iterator[Prometheus]:
    """Starts it with a configuration, in a folder; ends it."""
    assert PROGRAM is not None
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(configuration))
    port = _free_port()
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            [PROGRAM, f"--config.file={folder}/prometheus.yaml",
             f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{port}"],
            stdout=log, stderr=log,
        ) as process,
    ):  # fmt: skip
        try:
            _await_port(port, process, folder / "log")
            yield Prometheus(f"http://127.0.0.1:{port}")
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _await_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)

"""The server: for this machine's own browser, for the page itself, and for reading only."""

import gzip
import http.client
import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from services.errors import HanseError
from services.runs import Run, RunStore
from services.telemetry.reader import TraceReader
from services.telemetry.view import TraceServer, serve
from services.telemetry.view.chunks import day_chunk
from tests.services.runs.samples import manifest
from tests.services.telemetry.view.traded import Log, play, traded


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Any:
        zipped = self.headers["Content-Encoding"] == "gzip"
        return json.loads(gzip.decompress(self.body) if zipped else self.body)


def port_of(server: TraceServer) -> int:
    return int(server.address.rstrip("/").rpartition(":")[2])


def ask(server: TraceServer, path: str, method: str = "GET", **headers: str) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=10)
    with closing(connection):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=named)
        found = connection.getresponse()
        return Answer(found.status, found.headers, found.read())


@pytest.fixture
def server(tmp_path: Path) -> Iterator[TraceServer]:
    with TraceServer(traded(tmp_path / "run")) as server:
        yield server


def test_it_sends_the_page(server: TraceServer) -> None:
    answer = ask(server, "/")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert b"connect-src 'self'" in answer.body
    assert b"chunk-day" not in answer.body


def test_it_sends_a_day_and_the_orders_compressed(server: TraceServer, tmp_path: Path) -> None:
    reader = TraceReader(Run(tmp_path / "run"))
    assert ask(server, "/data/day/1").json() == day_chunk(reader, 1)
    assert ask(server, "/data/orders").json() == []  # of the days that it has told of: none yet
    ask(server, "/data/news?from=0")
    assert ask(server, "/data/orders").json()[0][:2] == ["exchange", "O1"]


def test_it_tells_only_the_days_that_are_new(server: TraceServer) -> None:
    news = ask(server, "/data/news?from=0").json()
    assert len(news["days"]) == 3
    assert news["state"] == "resumable"
    assert [agent["name"] for agent in news["agents"]] == ["exchange", "farmer_A", "roaster_A"]
    assert ask(server, "/data/news?from=2").json()["days"] == news["days"][2:]
    assert ask(server, "/data/news?from=3").json()["days"] == []


def test_days_that_are_written_meanwhile_are_news(tmp_path: Path) -> None:
    log = Log()
    with (
        closing(RunStore.create(tmp_path / "run", manifest())) as store,
        TraceServer(Run(tmp_path / "run")) as server,
    ):
        first = ask(server, "/data/news?from=0").json()
        assert (first["days"], first["state"]) == ([], "running")
        play(store, log, 0)
        assert len(ask(server, "/data/news?from=0").json()["days"]) == 1
        play(store, log, 1)
        assert len(ask(server, "/data/news?from=1").json()["days"]) == 1


def test_a_name_that_points_here_is_refused(server: TraceServer) -> None:
    port = port_of(server)
    for path in ("/", "/data/day/0"):
        assert ask(server, path, Host=f"evil.example:{port}").status == 403
        assert ask(server, path, Host="127.0.0.1").status == 403
        assert ask(server, path, Host=f"localhost:{port}").status == 200
        assert ask(server, path, Host=f"127.0.0.1:{port}").status == 200


def test_two_hosts_in_one_request_are_refused(server: TraceServer) -> None:
    port = port_of(server)
    lines = ["GET / HTTP/1.1", f"Host: 127.0.0.1:{port}", "Host: evil.example", "", ""]
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall("\r\n".join(lines).encode())
        assert connection.recv(64).startswith(b"HTTP/1.0 403 ")


def test_other_origins_get_no_data(server: TraceServer) -> None:
    assert ask(server, "/data/day/0", Origin="https://evil.example").status == 403
    assert ask(server, "/data/day/0", Origin="null").status == 403
    assert ask(server, "/data/day/0", Sec_Fetch_Site="cross-site").status == 403
    assert ask(server, "/data/day/0", Sec_Fetch_Site="same-site").status == 403
    followed = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert ask(server, "/data/day/0", **followed).status == 403
    assert ask(server, "/data/day/0", Sec_Fetch_Site="same-origin").status == 200


def test_a_link_from_elsewhere_may_lead_to_the_page(server: TraceServer) -> None:
    assert ask(server, "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate").status == 200
    assert ask(server, "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors").status == 403


def test_no_answer_may_be_read_framed_kept_or_guessed_by_others(server: TraceServer) -> None:
    for path in ("/", "/data/day/0", "/nothing"):
        headers = ask(server, path).headers
        assert headers["Access-Control-Allow-Origin"] is None
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
def test_only_get_is_answered(server: TraceServer, method: str) -> None:
    answer = ask(server, "/data/day/0", method)
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET"


@pytest.mark.parametrize(
    "path",
    [
        "/run.db",
        "/manifest.json",
        "/../run.db",
        "/data",
        "/data/",
        "/data/day/",
        "/data/day/-1",
        "/data/day/1/..",
        "/data/day/%31",
        "/data/news",
        "/data/news?from=x",
        "/data/news?from=1&from=2",
        "http:/data/day/1x",
    ],
)
def test_there_is_nothing_but_the_page_and_its_data(server: TraceServer, path: str) -> None:
    assert ask(server, path).status == 404


def test_a_day_that_the_run_does_not_have_is_told_in_a_line(server: TraceServer) -> None:
    answer = ask(server, "/data/day/99")
    assert answer.status == 404
    assert "no day 99; the run has days 0 to 2" in answer.json()["error"]


def test_a_browser_that_goes_away_in_the_middle_is_not_told(
    server: TraceServer, capfd: pytest.CaptureFixture[str]
) -> None:
    port = port_of(server)
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            at_once = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
            connection.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    assert ask(server, "/").status == 200
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


def test_it_listens_on_loopback_only(server: TraceServer) -> None:
    assert server.address.startswith("http://127.0.0.1:")
    assert server._http.server_address[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_told_in_a_line(server: TraceServer, tmp_path: Path) -> None:
    with pytest.raises(HanseError, match=rf"port {port_of(server)}: cannot be used"):
        TraceServer(Run(tmp_path / "run"), port_of(server))
    with pytest.raises(HanseError, match="port 70000: cannot be used"):
        TraceServer(Run(tmp_path / "run"), 70_000)


def test_serving_says_where_and_ends_on_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)

    def interrupt(self: TraceServer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TraceServer, "wait", interrupt)
    said: list[str] = []
    before = threading.active_count()
    serve(traded(tmp_path / "run"), say=said.append)
    assert said[0].startswith("http://127.0.0.1:")
    assert opened == [said[0].split()[0]]
    assert threading.active_count() == before


def test_the_browser_stays_closed_if_it_is_not_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(TraceServer, "wait", lambda self: None)
    serve(traded(tmp_path / "run"), open_browser=False, say=lambda line: None)
    assert opened == []

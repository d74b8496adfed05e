"""A head that speaks otherwise than it is spoken to is said in a line, at once."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services.cluster.certificates import Authority
from services.cluster.handshake import check_head
from services.errors import HanseError

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
SETTINGS = b"\0\0\0\4\0\0\0\0\0"


class Certificates:
    """An authority's, and one of a host at 127.0.0.1."""

    def __init__(self, folder: Path) -> None:
        authority = Authority(folder)
        authority.make("A cluster")
        self.authority = authority.certificate
        self.key, self.certificate = authority.issue(folder, ["h1"])

    @property
    def environ(self) -> dict[str, str]:
        return {
            "RAY_USE_TLS": "1",
            "RAY_TLS_CA_CERT": str(self.authority),
            "RAY_TLS_SERVER_CERT": str(self.certificate),
            "RAY_TLS_SERVER_KEY": str(self.key),
        }

    def server(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        context.load_verify_locations(self.authority)
        context.verify_mode = ssl.CERT_REQUIRED
        return context


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("others"))


Head = Callable[[ssl.SSLContext | None], int]


@pytest.fixture
def head() -> Iterator[Head]:
    """Starts something that answers one client as a server of HTTP/2 does; its port."""
    opened: list[socket.socket] = []

    def start(context: ssl.SSLContext | None) -> int:
        server = socket.create_server(("127.0.0.1", 0))
        opened.append(server)

        def answer() -> None:
            try:
                with server.accept()[0] as plain:
                    plain.settimeout(5)
                    client = plain if context is None else context.wrap_socket(plain, True)
                    with client:
                        if client.recv(24).startswith(b"PRI"):
                            client.sendall(SETTINGS)
            except OSError:
                pass  # the client has been refused

        threading.Thread(target=answer, daemon=True).start()
        return int(server.getsockname()[1])

    yield start
    for server in opened:
        server.close()


def test_a_head_without_tls_is_fine_without(head: Head) -> None:
    check_head("127.0.0.1", head(None), {})


def test_a_head_with_the_same_authority_is_fine(head: Head, ours: Certificates) -> None:
    check_head("127.0.0.1", head(ours.server()), ours.environ)


@pytest.mark.parametrize(
    ("there", "here", "how"),
    [
        (None, "ours", "with the certificates that the cluster file names"),
        ("ours", None, "without TLS"),
        ("others", "ours", "with the certificates that the cluster file names"),
    ],
)
def test_a_head_that_speaks_otherwise_is_said_in_a_line(
    request: pytest.FixtureRequest, head: Head, there: str | None, here: str | None, how: str
) -> None:
    server = None if there is None else request.getfixturevalue(there).server()
    environ = {} if here is None else request.getfixturevalue(here).environ
    with pytest.raises(HanseError, match=f"lets nobody in {how}") as refused:
        check_head("127.0.0.1", head(server), environ)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "path", "said"),
    [
        ("RAY_TLS_CA_CERT", "", "RAY_TLS_CA_CERT is not set, which RAY_USE_TLS needs"),
        ("RAY_TLS_CA_CERT", "/nowhere", "RAY_TLS_CA_CERT: /nowhere cannot be read on this machine"),
        ("RAY_TLS_CA_CERT", __file__, f"RAY_TLS_CA_CERT: {__file__} holds no certificate"),
        ("RAY_TLS_SERVER_KEY", "/nowhere", "RAY_TLS_SERVER_KEY: /nowhere cannot be read"),
        ("RAY_TLS_SERVER_KEY", __file__, "are no certificate and its key"),
    ],
)
def test_a_file_that_this_machine_lacks_is_named_and_not_the_head_blamed(
    head: Head, ours: Certificates, name: str, path: str, said: str
) -> None:
    environ = {**ours.environ, name: path}
    with pytest.raises(HanseError, match=re.escape(said)) as refused:
        check_head("127.0.0.1", head(ours.server()), environ)
    assert "another cluster file" not in str(refused.value)


def test_where_nothing_listens_is_told_apart() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ConnectionRefusedError):
        check_head("127.0.0.1", port, {})

"""Whether a cluster's head speaks as the programs that ask it: with TLS, and the same authority.

Ray itself would try for a minute, and say nothing of the reason.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from typing import Final

from services.cluster.tls import FILES, SWITCH, is_on
from services.errors import HanseError

_HTTP2: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
"""How a client of HTTP/2, and so of gRPC, begins; the server answers at once (RFC 9113, 3.4)."""
_REMEDY: Final = "put it there, or let Hanse make it: hanse cluster down CLUSTER_FILE, then up"


def check_head(host: str, port: int, environ: Mapping[str, str], seconds: float = 3.0) -> None:
    """Connects as Ray would.

    Args:
        host: The head.
        port: Of its global control store.
        environ: The variables with which Ray is told of TLS.
        seconds: How long an answer may take.

    Raises:
        OSError: nothing listens there.
        HanseError: what listens there does not speak so, or a file for TLS is not here.
    """
    context = _context(environ) if is_on(environ.get(SWITCH, "")) else None
    with socket.create_connection((host, port), timeout=seconds) as plain:
        try:
            with plain if context is None else _with_tls(plain, host, context) as connection:
                connection.sendall(_HTTP2)
                answer = connection.recv(9)
        except TimeoutError:
            return  # it is busy, which Ray waits for
        except OSError:
            answer = b""
    if not answer:
        how = "with the certificates that the cluster file names" if context else "without TLS"
        raise HanseError(
            f"what runs at {host}:{port} lets nobody in {how}: it was started with another cluster"
            " file; hanse cluster down CLUSTER_FILE, then up"
        )


def _with_tls(plain: socket.socket, host: str, context: ssl.SSLContext) -> ssl.SSLSocket:
    return context.wrap_socket(plain, server_hostname=host)


def _context(environ: Mapping[str, str]) -> ssl.SSLContext:
    certificate, key, authority = (_readable(name, environ.get(name, "")) for name in FILES)
    try:
        context = ssl.create_default_context(cafile=authority)
    except OSError:
        raise HanseError(f"{FILES[2]}: {authority} holds no certificate; {_REMEDY}") from None
    try:
        context.load_cert_chain(certificate, key)
    except OSError:
        raise HanseError(
            f"{FILES[0]}, {FILES[1]}: {certificate} and {key} are no certificate and its key;"
            f" {_REMEDY}"
        ) from None
    context.set_alpn_protocols(["h2"])
    return context


def _readable(name: str, path: str) -> str:
    if not path:
        raise HanseError(f"{name} is not set, which {SWITCH} needs; name the file on this machine")
    try:
        with open(path, "rb"):
            return path
    except OSError as error:
        raise HanseError(
            f"{name}: {path} cannot be read on this machine: {error.strerror or error}; {_REMEDY}"
        ) from None

"""Whether a cluster's head speaks as the programs that ask it: with TLS, and the same authority.

Ray itself would try for a minute, and say nothing of the reason.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from typing import Final

from services.cluster.tls import SWITCH, is_on
from services.errors import HanseError

_HTTP2: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
"""How a client of HTTP/2, and so of gRPC, begins; the server answers at once (RFC 9113, 3.4)."""


def check_head(host: str, port: int, environ: Mapping[str, str], seconds: float = 3.0) -> None:
    """Connects as Ray would.

    Args:
        host: The head.
        port: Of its global control store.
        environ: The variables with which Ray is told of TLS.
        seconds: How long an answer may take.

    Raises:
        OSError: nothing listens there.
        HanseError: what listens there does not speak so.
    """
    encrypted = is_on(environ.get(SWITCH, ""))
    with socket.create_connection((host, port), timeout=seconds) as plain:
        try:
            with _with_tls(plain, host, environ) if encrypted else plain as connection:
                connection.sendall(_HTTP2)
                answer = connection.recv(9)
        except TimeoutError:
            return  # it is busy, which Ray waits for
        except OSError:
            answer = b""
    if not answer:
        how = "with the certificates that the cluster file names" if encrypted else "without TLS"
        raise HanseError(
            f"what runs at {host}:{port} lets nobody in {how}: it was started with another cluster"
            " file; hanse cluster down FILE, then up"
        )


def _with_tls(plain: socket.socket, host: str, environ: Mapping[str, str]) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=environ["RAY_TLS_CA_CERT"])
    context.load_cert_chain(environ["RAY_TLS_SERVER_CERT"], environ["RAY_TLS_SERVER_KEY"])
    context.set_alpn_protocols(["h2"])
    return context.wrap_socket(plain, server_hostname=host)

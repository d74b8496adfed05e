"""What hosts show to others, and how their secrets are kept."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pydantic import StringConstraints, TypeAdapter

from services.cluster.asking import on_host, understood
from services.cluster.ssh import Ssh


class Listener(NamedTuple):
    """Something that takes connections."""

    address: str
    port: int
    program: str
    """``?`` if it is another user's."""

    @property
    def beyond_loopback(self) -> bool:
        """Whether other machines can reach it, if no firewall is between."""
        return not (self.address.startswith("127.") or self.address == "::1")


class Exposure(NamedTuple):
    """What a host said (:mod:`services.cluster.exposed_on_host`)."""

    addresses: list[str]
    shared_memory: int
    """Free bytes of /dev/shm."""
    secrets: dict[str, Annotated[str, StringConstraints(pattern="^[0-7]{1,4}$")]]
    """Octal mode by file, of those that exist."""
    certificate: str
    """Of its own TLS certificate, in PEM; empty if Hanse has made none."""
    listening: list[Listener]

    @classmethod
    def parse(cls, answer: dict[str, Any]) -> Exposure:
        """From a host's answer.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: it is not such an answer.
        """
        parts = [line.split(" ", 2) for line in answer["listening"]]
        listening = [Listener(address, int(port), name) for address, port, name in parts]
        told = {**answer, "listening": listening}
        return TypeAdapter(cls).validate_python(told, strict=True)


def ask(ssh: Ssh, host: str) -> Exposure:
    """What a host shows.

    Raises:
        HanseError: it does not answer so that it can be understood, or has no Ray.
    """
    answer = on_host(ssh, host, "exposed", "exposed_on_host.py")
    return understood(host, lambda: Exposure.parse(answer))

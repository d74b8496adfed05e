"""TLS between the hosts of a cluster, as its cluster file has it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from services.cluster.ray_start import RayStart
from services.errors import HanseError

FOLDER_THERE: Final = ".hanse/tls"
"""Where hosts have the certificates that Hanse makes, below the user's home."""
SWITCH: Final = "RAY_USE_TLS"
FILES: Final = ("RAY_TLS_SERVER_CERT", "RAY_TLS_SERVER_KEY", "RAY_TLS_CA_CERT")
"""The variables that name Ray the files of :class:`Tls`, in the same order."""
_ON: Final = ("1", "true")
_PATH: Final = re.compile(r"(~|\$HOME|\$\{HOME\})?/([A-Za-z0-9_./-]|\$HOSTNAME|\$\{HOSTNAME\})+")


def is_on(value: str) -> bool:
    """Whether a value of RAY_USE_TLS switches it on for Ray."""
    return value.lower() in _ON


class Tls(NamedTuple):
    """The files that a host shows and checks others by; paths as the cluster file writes them."""

    certificate: str
    key: str
    authority: str

    @property
    def is_hanses(self) -> bool:
        """Whether Hanse makes the files; else they are the user's own."""
        return self == HANSES

    def words(self) -> str:
        """The shell words before a command that set Ray's variables for it."""
        files = zip(FILES, self, strict=True)
        return " ".join([f"{SWITCH}=1", *(f'{name}="{_in_quotes(path)}"' for name, path in files)])


HANSES: Final = Tls(
    *(f"~/{FOLDER_THERE}/{name}" for name in ("$HOSTNAME.pem", "$HOSTNAME.key", "authority.pem"))
)
"""What a cluster file names to have Hanse make the certificates."""


def tls_of(starts: Mapping[str, Sequence[RayStart]], path: object) -> Tls | None:
    """The TLS of a cluster; ``None`` if it has none.

    Args:
        starts: By key of the cluster file, every `ray start` there.
        path: The cluster file.

    Raises:
        HanseError: some starts have it and others have not, or a file is not named.
    """
    found = [
        (key, _of_start(start, f"{path}: {key}"))
        for key, of_key in starts.items()
        for start in of_key
    ]
    for key, tls in found:
        if tls != found[0][1]:
            raise HanseError(
                f"{path}: {key}: {SWITCH} and the files that go with it have to be the same before"
                " every `ray start`, or hosts refuse each other"
            )
    return found[0][1] if found else None


def _of_start(start: RayStart, where: str) -> Tls | None:
    if not is_on(start.variables.get(SWITCH, "")):
        return None
    for name in FILES:
        value = start.variables.get(name, "")
        if not _PATH.fullmatch(value):
            fault = "is missing" if not value else f"{value[:60]!r} is no whole path"
            raise HanseError(
                f"{where}: {SWITCH}=1: {name} {fault}; write"
                f" {name}={HANSES[FILES.index(name)]}, and Hanse makes the file"
            )
    return Tls(*(_usual(start.variables[name]) for name in FILES))


def _usual(path: str) -> str:
    """The same path, however the shell may be told of it."""
    plain = path.replace("{", "").replace("}", "")
    return f"~{plain.removeprefix('$HOME')}" if plain.startswith("$HOME/") else plain


def _in_quotes(path: str) -> str:
    return f"$HOME{path[1:]}" if path.startswith("~") else path

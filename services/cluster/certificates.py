"""A cluster's private certificate authority, and a certificate for each of its hosts.

The authority stays on the user's machine, in ``~/.hanse/<cluster>-authority``, for its owner alone.
Each host gets a private key, a certificate with its own names and addresses, and the authority's
certificate. All is made by the system's `openssl`, version 1.1.1 or later.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from services.cluster import exposure
from services.cluster.cluster_file import ClusterFile
from services.cluster.ssh import Ssh, printable
from services.cluster.tls import FOLDER_THERE
from services.errors import HanseError

AUTHORITY_DAYS: Final = 3650
HOST_DAYS: Final = 400
"""Every start of the cluster gives its hosts new ones, so that this is how long it may run."""
_EARLIER: Final = timedelta(hours=1)
"""A host whose clock is a little behind must not hold its certificate for one of the future."""
_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,252}")
_CURVE: Final = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
_SETTINGS: Final = """\
[req]
distinguished_name = name
[name]
[ca]
default_ca = authority
[authority]
database = {folder}/issued
rand_serial = yes
new_certs_dir = {folder}
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[of_authority]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[of_host]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth, clientAuth
subjectAltName = {names}
"""


class _Refused(HanseError):
    """What `openssl` says of a command that it does not carry out."""


class Authority:
    """Signs the certificates of one cluster's hosts.

    Args:
        folder: Where it is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = folder / "authority.key"
        self.certificate = folder / "authority.pem"

    @classmethod
    def of(cls, cluster: ClusterFile) -> Authority:
        """The one of a cluster, whether it exists or not."""
        return cls(Path.home() / ".hanse" / f"{cluster.name}-authority")

    def make(self, name: str) -> bool:
        """Makes it if there is none; whether it did.

        Args:
            name: What its certificate is called.

        Raises:
            HanseError: it cannot be written, others can read its key, or there is no `openssl`.
        """
        if self.key.exists() and self.certificate.exists():
            if self.key.stat().st_mode & 0o077:
                raise HanseError(
                    f"{self.key}: others can read the key of the cluster's certificates, and could"
                    f" pass for a host; remove {self.folder}, and hanse cluster up makes another"
                )
            return False
        with self.place() as place:
            key, certificate = _issued(
                place, f"{name} {secrets.token_hex(4)}", "of_authority", AUTHORITY_DAYS
            )
            key.rename(self.key)
            certificate.rename(self.certificate)
        return True

    @contextmanager
    def place(self) -> Iterator[Path]:
        """A folder for a while, for its owner alone.

        Raises:
            HanseError: it cannot be written to.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.folder.chmod(0o700)
            with tempfile.TemporaryDirectory(dir=self.folder) as place:
                yield Path(place)
        except OSError as error:
            raise HanseError(
                f"{self.folder}: the cluster's certificates cannot be written:"
                f" {error.strerror or error}; make room, or let {self.folder.parent} be written to"
            ) from None

    def issue(self, place: Path, names: Sequence[str]) -> tuple[Path, Path]:
        """Makes a host's key and certificate, ``<first name>.key`` and ``.pem``, in a folder.

        Args:
            place: The folder.
            names: The host's names and addresses, its own name first.

        Raises:
            HanseError: one of them is no name, or they cannot be made.
        """
        for name in names:
            if not _NAME.fullmatch(name):
                raise HanseError(
                    f"{name[:60]!r}: no certificate can be made for a host that calls itself so;"
                    " name it with letters, digits, - and . (hostnamectl hostname NAME)"
                )
        try:
            key, certificate = _issued(
                place, names[0], "of_host", HOST_DAYS, names, (self.key, self.certificate)
            )
        except _Refused as error:
            raise HanseError(
                f"{self.folder}: the cluster's authority cannot sign, and may be damaged: {error};"
                " remove this folder, and hanse cluster up makes another"
            ) from None
        return (
            key.rename(place / f"{names[0]}.key"),
            certificate.rename(place / f"{names[0]}.pem"),
        )


def certify(
    cluster: ClusterFile, ssh: Ssh, names: Mapping[str, str], tell: Callable[[str], None]
) -> None:
    """Gives every host a new certificate, if the cluster file leaves that to Hanse.

    Args:
        cluster: The cluster.
        ssh: The way to its hosts.
        names: For each host its own name.
        tell: Is told what is done.

    Raises:
        HanseError: they cannot be made, or a host cannot take them.
    """
    if cluster.tls is None or not cluster.tls.is_hanses:
        return
    authority = Authority.of(cluster)
    if authority.make(f"Hanse cluster {cluster.name}"):
        tell(f"made the authority {authority.folder}: it signs the hosts' certificates")

    def send(host: str) -> None:
        addresses = exposure.ask(ssh, host).addresses
        # No private key of a host stays here.
        with authority.place() as place:
            own = authority.issue(place, [names[host], host, *addresses])
            ssh.send(host, [*own, authority.certificate], FOLDER_THERE)

    _, problems = ssh.on_all(cluster.hosts, send)
    if problems:
        # What is wrong with the authority is so for every host.
        raise HanseError(f"{cluster.path}: {'; '.join(dict.fromkeys(problems))}")


def days_left(certificate: str) -> int:
    """Whole days for which a certificate is valid.

    Args:
        certificate: In PEM.

    Raises:
        HanseError: it is none, or there is no `openssl`.
    """
    try:
        said = _openssl("x509", "-noout", "-enddate", given=certificate)
    except _Refused as error:
        raise HanseError(
            f"the certificate is damaged: {error}; hanse cluster down, then up, which brings a"
            " new one"
        ) from None
    end = datetime.strptime(said.partition("=")[2].strip(), "%b %d %H:%M:%S %Y GMT")
    return (end.replace(tzinfo=UTC) - datetime.now(UTC)).days


def alternative_names(names: Iterable[str]) -> str:
    """A certificate's alternative names in the words of `openssl`, each once."""
    return ", ".join(dict.fromkeys(f"{_kind(name)}:{name}" for name in names if name))


def _kind(name: str) -> str:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return "DNS"
    return "IP"


def _issued(
    place: Path,
    name: str,
    extensions: str,
    days: int,
    names: Sequence[str] = (),
    signer: tuple[Path, Path] | None = None,
) -> tuple[Path, Path]:
    """A new key and its certificate, in a folder; signed by itself if there is no signer."""
    key, request, certificate = place / "new.key", place / "new.csr", place / "new.pem"
    settings = place / "settings"
    alternative = alternative_names([*names, "localhost", "127.0.0.1"])
    settings.write_text(_SETTINGS.format(folder=place, names=alternative))
    (place / "issued").write_text("")
    config = ("-config", str(settings))
    _openssl("req", "-new", *_CURVE, *config, "-subj", f"/CN={name[:64]}",
             "-keyout", str(key), "-out", str(request))  # fmt: skip
    key.chmod(0o600)
    signing = ["-selfsign", "-keyfile", str(key)]
    if signer is not None:
        signing = ["-keyfile", str(signer[0]), "-cert", str(signer[1])]
    begin = datetime.now(UTC) - _EARLIER
    _openssl("ca", "-batch", "-notext", *config, *signing, "-in", str(request),
             "-startdate", _moment(begin), "-enddate", _moment(begin + timedelta(days=days)),
             "-extensions", extensions, "-out", str(certificate))  # fmt: skip
    return key, certificate


def _moment(when: datetime) -> str:
    return when.strftime("%Y%m%d%H%M%SZ")


def _openssl(*words: str, given: str = "") -> str:
    try:
        done = subprocess.run(
            ["openssl", *words], input=given, capture_output=True, text=True, errors="replace",
            check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise HanseError(
            "openssl is not installed here, which makes the cluster's certificates; install it"
            " (apt install openssl), or take RAY_USE_TLS out of the cluster file"
        ) from None
    if done.returncode != 0:
        said = printable(done.stderr).strip().splitlines()
        lines = [line.strip() for line in said if not line.startswith("Using configuration")]
        raise _Refused(
            f"openssl {words[0]} (1.1.1 or later) fails:"
            f" {lines[0] if lines else f'exit code {done.returncode}'}"
        )
    return done.stdout

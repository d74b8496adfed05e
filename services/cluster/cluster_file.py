"""The cluster file: a file for `ray up`, read and checked before anything is started."""

from __future__ import annotations

import ipaddress
import json
import re
import secrets
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Any, Final

from services.cluster.ray_start import check_start, head_port
from services.cluster.tls import Tls, tls_of
from services.errors import HanseError
from services.whole_file import whole

TOKEN_THERE: Final = "~/.ray/auth_token"
"""Where Ray looks for the token on every host."""
_EXAMPLE: Final = "see deploy/local.yaml for one that has everything"
_STARTS: Final = ("head_start_ray_commands", "worker_start_ray_commands")
_MOST_BYTES: Final = 1_000_000
_USER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_LABEL: Final = r"[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?"
_HOST: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*\.?")


@dataclass(frozen=True)
class ClusterFile:
    """What a cluster file says, as far as Hanse has to know it."""

    path: Path
    name: str
    head: str
    workers: tuple[str, ...]
    user: str
    key: Path
    """The private key that opens every host."""
    token: Path
    """The token that lets its owner give the cluster work; on this machine."""
    port: int
    """Where the head answers other hosts."""
    tls: Tls | None = None
    """How hosts encrypt what they say to each other; ``None``: they do not."""

    @property
    def typed(self) -> str:
        """The file's name as a shell takes it, for commands that a person is told to type."""
        return quote(str(self.path))

    @property
    def hosts(self) -> tuple[str, ...]:
        """All hosts, the head first."""
        return (self.head, *self.workers)

    @property
    def ray_variables(self) -> str:
        """The shell words that let a program on a host take part in the cluster."""
        words = ["RAY_AUTH_MODE=token", "RAY_USAGE_STATS_ENABLED=0"]
        return " ".join([*words, *([] if self.tls is None else [self.tls.words()])])

    @classmethod
    def read(cls, path: Path) -> ClusterFile:
        """Reads a cluster file.

        Raises:
            HanseError: it cannot be read, is not what Ray takes, or lacks what a cluster needs.
        """
        try:
            return cls._read(path)
        except (ValueError, KeyError, AttributeError, TypeError, RuntimeError) as error:
            why = " ".join(str(error).split())[:200] or type(error).__name__
            raise HanseError(f"{path}: this is not a cluster file: {why}; {_EXAMPLE}") from None

    @classmethod
    def _read(cls, path: Path) -> ClusterFile:
        values = _values(path)
        _check_schema(values, path)
        provider = values["provider"]
        if provider["type"] != "local":
            raise HanseError(
                f"{path}: provider.type: {provider['type']!r}: hanse cluster starts hosts over ssh"
                " (local); start a cloud's with ray up, as the head of deploy/aws.yaml tells"
            )
        if values.get("docker"):
            raise HanseError(f"{path}: docker: hanse cluster does not look into containers")
        head = _host(_text(provider, "provider", "head_ip", path), f"{path}: provider.head_ip")
        workers = provider.get("worker_ips") or []
        if not isinstance(workers, list) or not all(isinstance(name, str) for name in workers):
            workers = []
        if not workers:
            raise HanseError(
                f"{path}: provider.worker_ips: list the other hosts, at least one; {_EXAMPLE}"
            )
        workers = [_host(worker, f"{path}: provider.worker_ips") for worker in workers]
        twice = sorted({host for host in (head, *workers) if (head, *workers).count(host) > 1})
        if twice:
            raise HanseError(f"{path}: provider: {twice[0]} is named twice; name each host once")
        auth = values.get("auth") or {}
        mounts = values.get("file_mounts") or {}
        if TOKEN_THERE not in mounts:
            raise HanseError(
                f'{path}: file_mounts: "{TOKEN_THERE}" is missing; without a token anybody who'
                f" reaches a port of the cluster could run code on it; {_EXAMPLE}"
            )
        starts = {key: check_start(values.get(key), f"{path}: {key}", _EXAMPLE) for key in _STARTS}
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", values["cluster_name"]):
            raise HanseError(
                f"{path}: cluster_name: use at most 64 letters, digits, - and _, and nothing else"
            )
        key_file = _file(auth, "auth", "ssh_private_key", path)
        if not key_file.is_file():
            # ssh would go on with other keys that it finds, and `ray up` would not.
            raise HanseError(
                f"{path}: auth.ssh_private_key: the key {key_file} does not exist; name another, or"
                f" make it: ssh-keygen -t ed25519 -f {key_file}"
            )
        user = _text(auth, "auth", "ssh_user", path)
        if not _USER.fullmatch(user):
            raise HanseError(
                f"{path}: auth.ssh_user: {user[:40]!r} is no user's name; use letters, digits, _ ."
                " and -, with a letter or _ first"
            )
        return cls(
            path,
            values["cluster_name"],
            head,
            tuple(workers),
            user,
            key_file,
            _file(mounts, "file_mounts", TOKEN_THERE, path),
            head_port(starts[_STARTS[0]], f"{path}: {_STARTS[0]}"),
            tls_of(starts, path),
        )

    def make_token(self) -> bool:
        """Makes the token if there is none; whether it did.

        Raises:
            HanseError: it cannot be written, is empty, or others can read it.
        """
        if self.check_token():
            return False
        try:
            self.token.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with whole(self.token) as partial:
                partial.touch(mode=0o600, exist_ok=False)
                partial.write_text(secrets.token_hex(32))
        except OSError as error:
            raise HanseError(
                f"{self.token}: the token cannot be written: {error.strerror or error};"
                f" name another file in {self.path}: file_mounts"
            ) from None
        return True

    def check_token(self) -> bool:
        """Looks at the token; whether there is one.

        Raises:
            HanseError: it cannot be read, is empty, or others can read it.
        """
        try:
            if not self.token.exists():
                return False
            if not self.token.is_file():
                raise HanseError(
                    f"{self.token}: the token is no regular file; remove it, and hanse cluster up"
                    " makes another"
                )
            text, mode = self.token.read_bytes(), self.token.stat().st_mode
        except OSError as error:
            raise HanseError(
                f"{self.token}: the token cannot be read: {error.strerror or error}; let its owner"
                f" read it, or name another file in {self.path}: file_mounts"
            ) from None
        if not text.strip():
            raise HanseError(
                f"{self.token}: the token is empty; remove it, and hanse cluster up makes another"
            )
        if mode & 0o077:
            raise HanseError(
                f"{self.token}: others can read the token, and could run code on the cluster;"
                f" remove it, and hanse cluster up makes another (or, if nobody else has seen it:"
                f" chmod 600 {self.token})"
            )
        return True


def _values(path: Path) -> dict[str, Any]:
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            # Aliases of aliases can make gigabytes of a few lines.
            if self.check_event(yaml.AliasEvent):
                mark = self.peek_event().start_mark
                raise yaml.MarkedYAMLError(
                    problem="aliases (*) are not read, write it out", problem_mark=mark
                )
            return super().compose_node(parent, index)

        def construct_object(self, node: Any, deep: bool = False) -> Any:
            try:
                return super().construct_object(node, deep)
            except (ValueError, KeyError, AttributeError):
                # YAML takes it for a number or a date, which it is not.
                problem = f"{str(node.value)[:40]!r} is no {node.tag.rpartition(':')[2][:40]}"
                raise yaml.MarkedYAMLError(
                    problem=f"{problem}; put it in quotation marks", problem_mark=node.start_mark
                ) from None

    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            # A pipe would be waited for, and `ray up` has to read the file once more.
            raise HanseError(f"{path}: this is no regular file; name one; {_EXAMPLE}")
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise HanseError(
                f"{path}: this is no cluster file, as it has more than {_MOST_BYTES / 1e6:.0f} MB;"
                f" {_EXAMPLE}"
            )
        values = yaml.load(text.decode(), Loader)
    except OSError as error:
        raise HanseError(
            f"{path}: cannot be read: {error.strerror or error}; copy deploy/local.yaml and name"
            " your hosts in it"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f"line {mark.line + 1}: "
        problem = getattr(error, "problem", None) or "not a text file"
        raise HanseError(f"{path}: {line}this is not YAML: {problem}") from None
    if not isinstance(values, dict):
        raise HanseError(f"{path}: this is not a cluster file; {_EXAMPLE}")
    return values


def ray_schema() -> dict[str, Any]:
    """Ray's own schema of a cluster file.

    Raises:
        HanseError: Ray is not installed.
    """
    spec = find_spec("ray")  # Ray itself would take half a second to import
    if spec is None or not spec.submodule_search_locations:
        raise HanseError("Ray is not installed here; pip install 'ray==2.60.*'")
    file = Path(spec.submodule_search_locations[0]) / "autoscaler" / "ray-schema.json"
    schema: dict[str, Any] = json.loads(file.read_text())
    return schema


def _check_schema(values: dict[str, Any], path: Path) -> None:
    import jsonschema

    errors = jsonschema.Draft7Validator(ray_schema()).iter_errors(values)
    # What is missing is told before what is odd.
    first = min(
        errors, key=lambda e: (e.validator != "required", list(map(str, e.path))), default=None
    )
    if first is None:
        return
    where = ".".join(str(part) for part in first.path)
    if first.validator == "required":
        [missing] = re.findall(r"^'(.+)' is a required property", first.message) or ["a key"]
        key = f"{where}.{missing}" if where else missing
        raise HanseError(f"{path}: {key} is missing; {_EXAMPLE}")
    message = first.message.replace(repr(first.instance), "its value")
    raise HanseError(f"{path}: {where or 'the file'}: {message}; {_EXAMPLE}")


def _text(table: dict[str, Any], name: str, key: str, path: Path) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        raise HanseError(f"{path}: {name}.{key} is missing; {_EXAMPLE}")
    if not value.isprintable():
        raise HanseError(f"{path}: {name}.{key}: holds a control character; write it without")
    return value


def _file(table: dict[str, Any], name: str, key: str, path: Path) -> Path:
    value = _text(table, name, key, path)
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise HanseError(
            f"{path}: {name}.{key}: {value[:60]!r}: there is no such user here; write the"
            " whole path"
        ) from None


def _host(name: str, where: str) -> str:
    """A host's name or IPv4 address, if it is one."""
    if ":" in name:
        raise HanseError(
            f"{where}: {name[:60]!r} looks like an IPv6 address; name the host, or its IPv4 address"
        )
    fits = len(name) <= 253 and _HOST.fullmatch(name) is not None
    if fits and re.fullmatch(r"[0-9.]+", name):
        try:
            ipaddress.IPv4Address(name)
        except ValueError:
            fits = False
    if not fits:
        raise HanseError(f"{where}: {name[:60]!r} is no host's name and no IPv4 address")
    return name

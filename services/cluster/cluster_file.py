"""The cluster file: a file for `ray up`, read and checked before anything is started."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from services.errors import HanseError

TOKEN_THERE: Final = "~/.ray/auth_token"
"""Where Ray looks for the token on every host."""
_EXAMPLE: Final = "see deploy/local.yaml for one that has everything"
_STARTS: Final = ("head_start_ray_commands", "worker_start_ray_commands")


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

    @property
    def hosts(self) -> tuple[str, ...]:
        """All hosts, the head first."""
        return (self.head, *self.workers)

    @classmethod
    def read(cls, path: Path) -> ClusterFile:
        """Reads a cluster file.

        Raises:
            HanseError: it cannot be read, is not what Ray takes, or lacks what a cluster needs.
        """
        values = _values(path)
        _check_schema(values, path)
        provider = values["provider"]
        if provider["type"] != "local":
            raise HanseError(
                f"{path}: provider.type: {provider['type']!r}: hanse cluster starts hosts over ssh"
                " (local); start a cloud's with ray up"
            )
        if values.get("docker"):
            raise HanseError(f"{path}: docker: hanse cluster does not look into containers")
        head = _text(provider, "provider", "head_ip", path)
        workers = provider.get("worker_ips") or []
        if not workers or not all(isinstance(worker, str) for worker in workers):
            raise HanseError(
                f"{path}: provider.worker_ips: list the other hosts, at least one; {_EXAMPLE}"
            )
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
        for key in _STARTS:
            _check_start(values.get(key), key, path)
        if not re.fullmatch(r"[A-Za-z0-9_-]+", values["cluster_name"]):
            raise HanseError(f"{path}: cluster_name: use letters, digits, - and _ alone")
        key_file = Path(_text(auth, "auth", "ssh_private_key", path)).expanduser()
        if not key_file.is_file():
            # ssh would go on with other keys that it finds, and `ray up` would not.
            raise HanseError(
                f"{path}: auth.ssh_private_key: the key {key_file} does not exist; name another, or"
                f" make it: ssh-keygen -t ed25519 -f {key_file}"
            )
        found = re.search(r"--port[= ](\d+)", _start(values[_STARTS[0]]))
        return cls(
            path,
            values["cluster_name"],
            head,
            tuple(workers),
            _text(auth, "auth", "ssh_user", path),
            key_file,
            Path(_text(mounts, "file_mounts", TOKEN_THERE, path)).expanduser(),
            int(found[1]) if found else 6379,
        )

    def make_token(self) -> bool:
        """Makes the token if there is none; whether it did.

        Raises:
            HanseError: it cannot be written.
        """
        if self.token.exists():
            return False
        try:
            self.token.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.token.touch(mode=0o600, exist_ok=False)
            self.token.write_text(secrets.token_hex(32))
        except OSError as error:
            raise HanseError(
                f"{self.token}: the token cannot be written: {error.strerror or error}; name"
                f" another file in {self.path}: file_mounts"
            ) from None
        return True


def _values(path: Path) -> dict[str, Any]:
    import yaml

    try:
        values = yaml.safe_load(path.read_text())
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
    return value


def _start(commands: Any) -> str:
    """The command that starts Ray, of a list of commands."""
    lines = [commands] if isinstance(commands, str) else commands or []
    return next((line for line in lines if "ray start" in str(line)), "")


def _check_start(commands: Any, key: str, path: Path) -> None:
    command = _start(commands)
    if not command:
        raise HanseError(f"{path}: {key}: there is no `ray start` in it; {_EXAMPLE}")
    if not re.search(r"\bRAY_AUTH_MODE=token\b", command):
        raise HanseError(
            f"{path}: {key}: `ray start` needs RAY_AUTH_MODE=token before it, on the head and on"
            f" the workers alike, or hosts refuse each other; {_EXAMPLE}"
        )

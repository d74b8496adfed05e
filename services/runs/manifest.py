"""What a run is: the file ``manifest.json``, written once when the folder is made."""

import hashlib
import json
import os
import platform
import secrets
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from services.errors import HanseError
from services.runs.schema import FORMAT

FILE = "manifest.json"

_NO_INFLUENCE = ("placement", "hosts")
"""Where the agents live changes nothing in a run, so a run may be resumed in another layout."""

_REPORTED_PACKAGES = ("pydantic", "ray", "msgpack", "numpy")


class Parent(BaseModel):
    """The run, and the day in it, that a branch starts from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str
    day: int


class Manifest(BaseModel):
    """Everything that is known about a run before its first day."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    id: str
    name: str
    seed: int
    days: int
    rules: str
    placement: str
    hosts: int
    created_at: str
    hanse_version: str
    git_revision: str | None = None
    versions: dict[str, str]
    strategies: dict[str, str] = {}
    """The SHA-256 of the file of each strategy that does not come with Hanse."""
    config: dict[str, Any]
    parent: Parent | None = None

    @classmethod
    def describe(
        cls,
        config: Mapping[str, Any],
        *,
        name: str,
        seed: int,
        days: int,
        rules: str,
        placement: str,
        hosts: int,
        strategies: Mapping[str, str] | None = None,
    ) -> "Manifest":
        """Describes a run that starts now, in this process.

        Args:
            config: The whole resolved configuration, as plain JSON values.
            name: The run's name.
            seed: The seed of all its randomness.
            days: How many days it is to last.
            rules: The rule set.
            placement: Where its agents live.
            hosts: On how many hosts.
            strategies: The digests of the files of users' own strategies.

        Returns:
            The manifest, with a new id and the versions of what runs here.
        """
        return cls(
            name=name,
            seed=seed,
            days=days,
            rules=rules,
            placement=placement,
            hosts=hosts,
            config=dict(config),
            strategies=dict(strategies or {}),
            **_here_and_now(name, seed),
        )

    def branched(
        self,
        day: int,
        config: Mapping[str, Any] | None = None,
        strategies: Mapping[str, str] | None = None,
    ) -> "Manifest":
        """The manifest of a run that leaves this one after a day, perhaps to go on differently.

        Args:
            day: The last day that both share.
            config: The whole resolved configuration of the new run; this one's if None.
            strategies: The digests of its strategies' files; this one's if None.
        """
        changed: dict[str, Any] = {"parent": Parent(run=self.id, day=day)}
        if config is not None:
            changed["config"] = dict(config)
            changed |= {key: config[key] for key in ("name", "seed", "days") if key in config}
        if strategies is not None:
            changed["strategies"] = dict(strategies)
        name, seed = changed.get("name", self.name), changed.get("seed", self.seed)
        return self.model_copy(update={**changed, **_here_and_now(name, seed)})

    @property
    def config_sha256(self) -> str:
        """The digest of the configuration that the run's checkpoints belong to."""
        return config_sha256(self.config)

    def write(self, folder: Path) -> None:
        """Writes the file whole or not at all."""
        partial = folder / f".{FILE}"
        partial.write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")
        os.replace(partial, folder / FILE)

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """Reads a run folder's manifest.

        Raises:
            HanseError: There is no such folder, it is not a run folder, or its manifest is damaged
                or from a newer or an older Hanse.
        """
        path = folder / FILE
        try:
            missing, known = not folder.exists(), path.is_file()
        except OSError as error:
            raise HanseError(
                f"{folder}: cannot be opened ({error.strerror}); list the runs with: hanse runs"
            ) from error
        if missing:
            raise HanseError(f"{folder}: there is no such folder; list the runs with: hanse runs")
        if not known:
            raise HanseError(
                f"{folder}: not a run folder (it has no {FILE}); list the runs with: hanse runs"
            )
        try:
            content = json.loads(path.read_bytes())
            json.dumps(content, ensure_ascii=False).encode()  # refuses halves of characters
        except OSError as error:
            raise HanseError(
                f"{path}: cannot be read ({error.strerror}); mend its permissions"
            ) from error
        except (ValueError, RecursionError) as error:
            raise HanseError(f"{path}: not JSON ({error}); restore the file from a copy") from error
        if not isinstance(content, dict):
            raise HanseError(f"{path}: not a JSON object; restore the file from a copy")
        check_format(path, content.get("format"))
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise HanseError(
                f"{path}: {key}: {first['msg']}; restore the file from a copy"
            ) from error


def check_format(path: Path, written: object) -> None:
    """Refuses what a newer Hanse has written, or one that is too old.

    Args:
        path: The file that says so.
        written: The format that it claims.
    """
    if not isinstance(written, int):
        return
    if written < FORMAT:
        raise HanseError(
            f"{path}: format {written} was written by an older Hanse (this one reads format"
            f" {FORMAT}); run it anew with: hanse run (same configuration and seed, same run)"
        )
    if written > FORMAT:
        raise HanseError(
            f"{path}: format {written} was written by a newer Hanse (this one reads format {FORMAT}"
            "); upgrade with: pip install --upgrade hanse"
        )


def config_sha256(config: Mapping[str, Any]) -> str:
    """The digest of a resolved configuration.

    Two configurations with one digest make the same run: the keys that only say where agents live
    are left out.

    Args:
        config: The whole resolved configuration, as plain JSON values.

    Returns:
        The SHA-256 in hexadecimal.
    """
    decisive = {key: value for key, value in config.items() if key not in _NO_INFLUENCE}
    text = json.dumps(decisive, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _here_and_now(name: str, seed: int) -> dict[str, Any]:
    """What differs between two runs of one configuration."""
    now = datetime.now(UTC)
    return {
        "format": FORMAT,
        "id": f"{name}-{seed}-{now:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}",
        "created_at": now.isoformat(timespec="seconds"),
        "hanse_version": _version("hanse") or "unknown",
        "git_revision": _git_revision(),
        "versions": {
            "python": platform.python_version(),
            **{name: found for name in _REPORTED_PACKAGES if (found := _version(name))},
        },
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _git_revision() -> str | None:
    """The revision of Hanse's own source, when it runs from a checkout."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    try:
        answer = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    return (answer.stdout.strip() or None) if answer.returncode == 0 else None

"""The `ray start` commands of a cluster file: with tokens on, and on which port."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from services.errors import HanseError

USUAL_PORT: Final = 6379
"""Where a head answers that is told no other port."""
_MODE: Final = "RAY_AUTH_MODE"
_BEFORE: Final = frozenset({"env", "sudo", "then", "else", "do", "{", "!", "exec"})
"""Words after which assignments may stand."""
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


class RayStart(NamedTuple):
    """One `ray start`."""

    variables: Mapping[str, str]
    """What is assigned before it."""
    options: tuple[str, ...]

    @property
    def mode(self) -> str:
        """What RAY_AUTH_MODE is for it; empty if nothing sets it."""
        return self.variables.get(_MODE, "")

    @property
    def port(self) -> str | None:
        """What follows the last --port."""
        found = None
        for index, word in enumerate(self.options):
            if word == "--port":
                found = next(iter(self.options[index + 1 : index + 2]), "")
            elif word.startswith("--port="):
                found = word.removeprefix("--port=")
        return found


def ray_starts(commands: Any) -> list[RayStart]:
    """Every `ray start` in shell commands.

    Raises:
        ValueError: a quotation in them does not end.
    """
    lines = [commands] if isinstance(commands, str) else commands or []
    return [start for line in lines for start in _in_script(str(line), {})]


def check_start(commands: Any, where: str, example: str) -> list[RayStart]:
    """Every `ray start` in shell commands, if there is one and all have tokens on.

    Args:
        commands: The commands.
        where: File and key.
        example: Where a right one is.

    Raises:
        HanseError: there is none, or one lets everybody in.
    """
    try:
        starts = ray_starts(commands)
    except ValueError as error:
        raise HanseError(f"{where}: this is no shell command: {error}") from None
    if not starts:
        raise HanseError(f"{where}: there is no `ray start` in it; {example}")
    if any(start.mode != "token" for start in starts):
        raise HanseError(
            f"{where}: `ray start` needs RAY_AUTH_MODE=token before it, on the head and on the"
            f" workers alike, or hosts refuse each other; {example}"
        )
    return starts


def head_port(starts: Sequence[RayStart], where: str) -> int:
    """The port on which the head answers other hosts.

    Args:
        starts: Every `ray start` of the head.
        where: File and key.

    Raises:
        HanseError: it is no port.
    """
    port = ([start for start in starts if "--head" in start.options] or [*starts])[-1].port
    if port is None:
        return USUAL_PORT
    if not re.fullmatch(r"[0-9]{1,5}", port) or not 1 <= int(port) <= 65535:
        raise HanseError(f"{where}: --port: {port[:40]!r} is no port; use a number, 1 to 65535")
    return int(port)


def _in_script(script: str, inherited: Mapping[str, str]) -> Iterator[RayStart]:
    for line in script.replace("\\\n", " ").split("\n"):
        for words in _commands(line):
            yield from _in_command(words, inherited)


def _commands(line: str) -> Iterator[list[str]]:
    """The words of each command of a line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    for word in lexer:
        if word.startswith("#"):
            break
        if set(word) <= set(";&|()"):
            yield words
            words = []
        else:
            words.append(word)
    yield words


def _in_command(words: list[str], inherited: Mapping[str, str]) -> Iterator[RayStart]:
    begins = True
    variables = inherited
    for index, word in enumerate(words):
        found = _ASSIGNMENT.fullmatch(word) if begins else None
        if found is not None:
            variables = {**variables, found[1]: found[2]}
            continue
        if word.rpartition("/")[2] == "ray" and words[index + 1 : index + 2] == ["start"]:
            yield RayStart(variables, tuple(words[index + 2 :]))
            return
        if len(word.split()) > 1 and "ray" in word:  # bash -c "ray start"
            yield from _in_script(word, variables)
        follows = next(iter(words[index + 1 : index + 2]), "")
        program = word.rpartition("/")[2]
        begins = program in _BEFORE
        # sudo takes them away, and so may env with an option.
        if program == "sudo" or (program == "env" and follows.startswith("-")):
            variables = {}

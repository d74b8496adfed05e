"""Secrets that must not be seen: the values of environment variables with telling names.

A variable is taken for a secret if its name has KEY, TOKEN, SECRET, PASSWORD, PASSWD, CREDENTIAL or
HEADERS in it. Of headers (``name=value,name=value``) each value is a secret by itself, also after
``Bearer`` or ``Basic``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from urllib.parse import quote, quote_plus, unquote, unquote_plus

REDACTED = "[redacted]"
_TELLING = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|HEADERS", re.IGNORECASE)
_SCHEMES = re.compile(r"(?i)^(?:bearer|basic|token|apikey|digest)\s+")
_HARMLESS = frozenset(
    {"true", "false", "none", "null", "auto", "default", "yes", "no", "on", "off"}
)
_SHORTEST = 4
"""Nothing shorter is taken for a secret: it would turn up everywhere by chance."""
_DISTINCT = 8
"""From this length on a secret is also found inside a longer word."""


def secret_values(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment variables that hold secrets."""
    given = os.environ if environ is None else environ
    return {name: value for name, value in given.items() if value and _TELLING.search(name)}


def redact(text: str, environ: Mapping[str, str] | None = None) -> str:
    """The text without any secret of the environment, however it is written.

    That is: as it stands, URL-encoded or decoded, as JSON or Python writes it between quotes, and
    line by line if it has several lines.
    """
    if not text:
        return text
    pattern = _pattern(tuple(sorted(secret_values(environ).items())))
    return text if pattern is None else pattern.sub(REDACTED, text)


@lru_cache(maxsize=8)
def _pattern(secrets: tuple[tuple[str, str], ...]) -> re.Pattern[str] | None:
    written = {
        form
        for name, value in secrets
        for secret in _parts(name, value)
        for form in _forms(secret)
        if len(form) >= _SHORTEST and form.lower() not in _HARMLESS
    }
    if not written:
        return None
    return re.compile("|".join(map(_found, sorted(written, key=lambda f: (-len(f), f)))))


def _found(form: str) -> str:
    literal = re.escape(form)
    # Percent signs may be followed by digits in either case: %2f is %2F.
    literal = re.sub(r"%([0-9A-Fa-f]{2})", lambda m: f"%(?i:{m[1]})", literal)
    return literal if len(form) >= _DISTINCT else rf"(?<![A-Za-z0-9_]){literal}(?![A-Za-z0-9_])"


def _parts(name: str, value: str) -> Iterator[str]:
    value = value.strip()
    yield value
    lines = [line.strip() for line in value.splitlines()]
    if len(lines) > 1:
        yield from (line for line in lines if len(line) >= 16)
    if "HEADERS" in name.upper():
        for header in value.split(","):
            yield header.partition("=")[2].strip()


def _forms(secret: str) -> Iterator[str]:
    for plain in {secret, unquote(secret), unquote_plus(secret)}:
        for form in {plain, _SCHEMES.sub("", plain)}:
            yield form
            yield quote(form)
            yield quote(form, safe="")
            yield quote_plus(form)
            yield json.dumps(form)[1:-1]
            yield json.dumps(form, ensure_ascii=False)[1:-1]
            yield repr(form)[1:-1]

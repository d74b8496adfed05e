"""Secrets of the environment are not seen, however they are written."""

from __future__ import annotations

import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.telemetry.redaction import REDACTED, redact, secret_values

_SECRET = "p@ss/w ord+1%&é"


@pytest.mark.parametrize(
    "name",
    ["API_KEY", "GH_TOKEN", "my_secret", "DB_PASSWORD", "PGPASSWD", "AWS_CREDENTIALS", "X_HEADERS"],
)
def test_telling_names_are_those_of_secrets(name: str) -> None:
    assert redact("it is hunter-two, they say", {name: "hunter-two"}) == (
        f"it is {REDACTED}, they say"
    )


def test_other_variables_are_no_secrets() -> None:
    environ = {"HOME": "/home/me", "OTEL_SERVICE_NAME": "coffee"}
    assert secret_values(environ) == {}
    assert redact("/home/me coffee", environ) == "/home/me coffee"


@pytest.mark.parametrize(
    "written",
    [
        _SECRET,
        quote(_SECRET),
        quote(_SECRET, safe=""),
        quote_plus(_SECRET),
        quote(_SECRET, safe="").lower(),
        json.dumps(_SECRET)[1:-1],
        json.dumps(_SECRET, ensure_ascii=False)[1:-1],
        repr(_SECRET)[1:-1],
    ],
)
def test_every_way_to_write_a_secret_is_found(written: str) -> None:
    told = redact(f"GET /?token={written}&x=1", {"TOKEN": _SECRET})
    assert told == f"GET /?token={REDACTED}&x=1"


def test_a_secret_that_is_set_url_encoded_is_found_decoded() -> None:
    assert redact(f"<{_SECRET}>", {"TOKEN": quote(_SECRET, safe="")}) == f"<{REDACTED}>"


@pytest.mark.parametrize(
    "said",
    ["abc-def-123", "Bearer abc-def-123", "Bearer%20abc-def-123", "second-one", "%61bc-def-123"],
)
def test_each_header_is_a_secret_with_and_without_its_scheme(said: str) -> None:
    headers = "authorization=Bearer%20abc-def-123, x-key=second-one,x-odd=%61bc-def-123"
    told = redact(f"sent {said}.", {"OTEL_EXPORTER_OTLP_HEADERS": headers})
    assert "abc-def-123" not in told and "second-one" not in told and "bc-def" not in told


def test_the_lines_of_a_private_key_are_found_one_by_one() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END PRIVATE KEY-----"
    assert "MIIEvQIBADANBgkqhkiG" not in redact("line MIIEvQIBADANBgkqhkiG", {"TLS_KEY": key})


@pytest.mark.parametrize("value", ["", "1", "no", "true", "None", "abc", "off"])
def test_what_is_too_common_to_be_a_secret_stays(value: str) -> None:
    assert redact("1 no true None abc off", {"USE_TOKEN": value}) == "1 no true None abc off"


def test_a_short_secret_is_found_as_a_word_only() -> None:
    assert redact("bean beans: bean", {"API_KEY": "bean"}) == (f"{REDACTED} beans: {REDACTED}")


def test_the_longest_secret_goes_first() -> None:
    environ = {"A_KEY": "long-secret", "B_KEY": "long-secret-and-longer"}
    assert redact("long-secret-and-longer", environ) == REDACTED


def test_the_process_environment_is_asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert redact("a-new-secret") == "a-new-secret"
    monkeypatch.setenv("LATE_TOKEN", "a-new-secret")
    assert redact("a-new-secret") == REDACTED


@given(secret=st.text(min_size=8, max_size=40), before=st.text(), after=st.text())
def test_no_secret_survives(secret: str, before: str, after: str) -> None:
    secret = f"k3y!{secret.strip()}x"
    told = redact(f"{before}{secret}{after}{quote(secret)}", {"SOME_KEY": secret})
    assert secret not in told
    assert quote(secret) not in told

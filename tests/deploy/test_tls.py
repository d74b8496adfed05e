"""TLS between hosts: what a cluster file says of it, and the certificates that Hanse makes."""

from __future__ import annotations

import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from services.cluster import ClusterFile, Ssh
from services.cluster import exposure as exposures
from services.cluster.certificates import Authority, alternative_names, certify, days_left
from services.cluster.exposure import Exposure
from services.cluster.ray_start import ray_starts
from services.cluster.tls import HANSES, Tls, tls_of
from services.errors import HanseError
from tests.deploy.test_local_yaml import FILE

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
DOCUMENTED = " ".join(
    line.lstrip("# ") for line in FILE.read_text().splitlines() if line.startswith("#    ")
    and "TLS" in line and "=" in line
)  # fmt: skip
OWN = (
    "RAY_USE_TLS=true RAY_TLS_SERVER_CERT=/etc/pki/$HOSTNAME/host.pem"
    " RAY_TLS_SERVER_KEY=$HOME/host.key RAY_TLS_CA_CERT=~/ca.pem"
)


def tls(head: str, worker: str) -> Tls | None:
    starts = {
        "head": ray_starts(f"{head} ray start --head"),
        "worker": ray_starts(f"{worker} ray start"),
    }
    return tls_of(starts, "hosts.yaml")


def test_a_file_that_says_nothing_of_it_has_none() -> None:
    assert tls("RAY_AUTH_MODE=token", "RAY_USE_TLS=0") is None


def test_the_words_in_the_example_leave_the_certificates_to_hanse() -> None:
    assert tls(DOCUMENTED, DOCUMENTED) == HANSES


def test_it_does_not_matter_how_the_shell_is_told_of_a_path() -> None:
    other = DOCUMENTED.replace("~", "${HOME}").replace("$HOSTNAME", "${HOSTNAME}")
    assert tls(DOCUMENTED, other) == HANSES


def test_a_users_own_certificates_stay_the_users() -> None:
    found = tls(OWN, OWN)
    assert found is not None
    assert not found.is_hanses


def test_programs_on_hosts_get_the_same_files(tmp_path: Path) -> None:
    whole = ClusterFile(tmp_path, "c", "h1", ("h2",), "u", tmp_path, tmp_path, 6379, tls(OWN, OWN))
    said = subprocess.run(
        ["bash", "-c", f"{whole.ray_variables} env | grep ^RAY_"], capture_output=True, text=True,
        env={"HOME": "/home/with space", "PATH": "/usr/bin:/bin", "HOSTNAME": "h1"}, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert set(said) >= {
        "RAY_AUTH_MODE=token",
        "RAY_USE_TLS=1",
        "RAY_TLS_SERVER_CERT=/etc/pki/h1/host.pem",
        "RAY_TLS_SERVER_KEY=/home/with space/host.key",
        "RAY_TLS_CA_CERT=/home/with space/ca.pem",
    }


@pytest.mark.parametrize(("head", "worker"), [(OWN, ""), ("", OWN), (OWN, DOCUMENTED)])
def test_hosts_that_would_refuse_each_other_are_said(head: str, worker: str) -> None:
    with pytest.raises(HanseError, match="have to be the same before every `ray start`"):
        tls(head, worker)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("RAY_USE_TLS=1", "RAY_TLS_SERVER_CERT is missing; write RAY_TLS_SERVER_CERT=~/.hanse/tls"),
        (OWN.replace("~/ca.pem", "ca.pem"), "RAY_TLS_CA_CERT 'ca.pem' is no whole path"),
        (OWN.replace("~/ca.pem", "'~/`id`'"), "RAY_TLS_CA_CERT '~/`id`' is no whole path"),
    ],
)
def test_a_file_that_is_not_named_is_said_with_its_key(words: str, said: str) -> None:
    with pytest.raises(HanseError) as refused:
        tls(words, words)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@needs_openssl
def test_the_authority_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "authority")
    assert authority.make("A cluster")
    before = authority.key.read_bytes()
    assert not authority.make("A cluster")
    assert authority.key.read_bytes() == before
    assert stat.S_IMODE(authority.key.stat().st_mode) == 0o600
    assert stat.S_IMODE(authority.folder.stat().st_mode) == 0o700
    assert {file.name for file in authority.folder.iterdir()} == {"authority.key", "authority.pem"}


@needs_openssl
def test_an_authority_whose_key_others_can_read_is_refused(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "authority")
    authority.make("A cluster")
    authority.key.chmod(0o644)
    with pytest.raises(HanseError, match="others can read the key of the cluster's certificates"):
        authority.make("A cluster")


@needs_openssl
@pytest.mark.parametrize("address", ["10.0.0.1", "10.0.0.2"])
def test_a_certificate_holds_for_its_hosts_addresses_alone(tmp_path: Path, address: str) -> None:
    authority = Authority(tmp_path / "authority")
    authority.make("A cluster")
    _, certificate = authority.issue(tmp_path, ["h1", "10.0.0.1"])
    checked = subprocess.run(
        ["openssl", "verify", "-x509_strict", "-CAfile", str(authority.certificate),
         "-verify_ip", address, str(certificate)], capture_output=True, check=False,
    )  # fmt: skip
    assert (checked.returncode == 0) == (address == "10.0.0.1")
    assert 390 < days_left(certificate.read_text()) <= 400


@needs_openssl
def test_a_certificate_of_another_authority_does_not_hold(tmp_path: Path) -> None:
    one, other = Authority(tmp_path / "one"), Authority(tmp_path / "other")
    one.make("A cluster")
    other.make("A cluster")
    _, certificate = other.issue(tmp_path, ["h1"])
    words = ["openssl", "verify", "-CAfile", str(one.certificate), str(certificate)]
    assert subprocess.run(words, capture_output=True, check=False).returncode != 0


@needs_openssl
@pytest.mark.parametrize("name", ["../h1", "h1\nbasicConstraints=CA:TRUE", "h1,DNS:h2", ""])
def test_a_host_that_calls_itself_oddly_gets_none(tmp_path: Path, name: str) -> None:
    authority = Authority(tmp_path / "authority")
    authority.make("A cluster")
    with pytest.raises(HanseError, match="no certificate can be made"):
        authority.issue(tmp_path, [name])


@needs_openssl
@pytest.mark.parametrize("damaged", ["authority.key", "authority.pem"])
def test_a_damaged_authority_is_said_once_with_its_folder_and_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    shown = Exposure(["10.0.0.1"], 0, {}, "", [])
    monkeypatch.setattr(exposures, "ask", lambda ssh, host: shown)
    whole = ClusterFile(tmp_path, "c", "h1", ("h2",), "u", tmp_path, tmp_path, 6379, HANSES)
    authority = Authority.of(whole)
    authority.make("A cluster")
    (authority.folder / damaged).write_text("junk")
    with pytest.raises(HanseError) as refused:
        certify(whole, Ssh("u", tmp_path), {"h1": "one", "h2": "two"}, lambda line: None)
    said = str(refused.value)
    assert said.count(f"{authority.folder}: the cluster's authority cannot sign") == 1
    assert said.endswith("; remove this folder, and hanse cluster up makes another")
    assert "onfiguration" not in said
    assert "\n" not in said


def test_each_name_stands_once_in_a_certificate_and_with_its_kind() -> None:
    assert alternative_names(["h1", "10.0.0.1", "h1"]) == "DNS:h1, IP:10.0.0.1"


@needs_openssl
def test_hosts_get_a_key_of_their_own_and_none_stays_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    shown = Exposure(["10.0.0.1"], 0, {}, "", [])
    monkeypatch.setattr(exposures, "ask", lambda ssh, host: shown)
    sent: dict[str, list[str]] = {}
    keys = set()

    def send(host: str, here: list[Path], there: str) -> None:
        sent[host] = [file.name for file in here]
        keys.add(here[0].read_bytes())
        assert stat.S_IMODE(here[0].stat().st_mode) == 0o600
        assert there == ".hanse/tls"

    ssh = Ssh("u", tmp_path)
    monkeypatch.setattr(ssh, "send", send)
    whole = ClusterFile(tmp_path, "c", "h1", ("h2",), "u", tmp_path, tmp_path, 6379, HANSES)
    told: list[str] = []
    certify(whole, ssh, {"h1": "one", "h2": "two"}, told.append)
    assert sent == {
        "h1": ["one.key", "one.pem", "authority.pem"],
        "h2": ["two.key", "two.pem", "authority.pem"],
    }
    assert len(keys) == 2
    assert len(told) == 1
    assert sorted(file.name for file in tmp_path.rglob("*.key")) == ["authority.key"]


def test_without_openssl_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HanseError, match="openssl is not installed here"):
        Authority(tmp_path / "authority").make("A cluster")


def test_a_place_that_cannot_be_written_to_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HanseError, match="the cluster's certificates cannot be written: Not a dir"):
        Authority(tmp_path / "file" / "authority").make("A cluster")

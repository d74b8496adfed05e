"""What a host says of what it shows to others."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from services.cluster.exposed_on_host import exposed, listening, numeric, program
from services.cluster.exposure import Exposure, Listener

pytestmark = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux's /proc")


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_what_listens_is_named_with_its_address_port_and_program(address: str) -> None:
    with socket.create_server((address, 0)) as server:
        port = server.getsockname()[1]
        [line] = [line for line in listening() if line.split()[1] == str(port)]
        assert line == f"{address} {port} {program(str(os.getpid()))}"
    assert not [line for line in listening() if line.split()[1] == str(port)]


@pytest.mark.skipif(sys.byteorder != "little", reason="the table is in the machine's order")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0100007F", "127.0.0.1"),
        ("01004D0A", "10.77.0.1"),
        ("00000000000000000000000001000000", "::1"),
        ("00000000000000000000000000000000", "::"),
        ("0000000000000000FFFF00000100007F", "127.0.0.1"),
    ],
)
def test_addresses_are_as_usually_written(written: str, meant: str) -> None:
    assert numeric(written, len(written) // 2) == meant


def test_a_process_has_a_name_in_one_word_of_a_script_the_scripts(tmp_path: Path) -> None:
    script = tmp_path / "monitor.py"
    script.write_text("import sys; print(flush=True); sys.stdin.read()")
    words = [sys.executable, "-u", str(script), "--port=1"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert program(str(process.pid)) == "monitor.py"
        process.communicate()


def test_a_secret_has_its_mode_and_one_that_is_not_there_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("x")
    (tmp_path / ".ray" / "auth_token").chmod(0o640)
    said = Exposure.parse(exposed())
    assert said.secrets == {"~/.ray/auth_token": "640"}
    assert said.certificate == ""


@pytest.mark.parametrize(
    ("address", "beyond"),
    [("127.0.0.1", False), ("127.0.1.1", False), ("::1", False), ("0.0.0.0", True), ("::", True)],
)
def test_loopback_is_told_from_what_others_reach(address: str, beyond: bool) -> None:
    assert Listener(address, 1, "x").beyond_loopback == beyond

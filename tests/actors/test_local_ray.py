"""Ray on this machine: how it starts, and who may use it."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from actors.local_ray import _TOKEN, _interrupt_deferred, _keep_to_this_process


def test_the_first_ctrl_c_waits_for_the_end_of_the_block():
    done = False
    with pytest.raises(KeyboardInterrupt), _interrupt_deferred():
        signal.raise_signal(signal.SIGINT)
        done = True
    assert done


def test_the_second_ctrl_c_does_not_wait():
    done = False
    with pytest.raises(KeyboardInterrupt), _interrupt_deferred():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        done = True
    assert not done


def test_afterwards_ctrl_c_does_what_it_did_before():
    before = signal.getsignal(signal.SIGINT)
    with _interrupt_deferred():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.ray
@pytest.mark.skipif(shutil.which("ss") is None, reason="needs ss (Debian package iproute2)")
def test_nothing_of_ray_listens_beyond_loopback() -> None:
    # In a process of its own: its children are told from those of other tests.
    script = r"""
import os, re, subprocess
from actors.local_ray import local_ray
with local_ray(1) as ray:
    ray.get(ray.remote(lambda: 1).remote())
    children = {str(os.getpid())}
    for _ in range(4):
        table = subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True).stdout
        for line in table.splitlines()[1:]:
            pid, parent = line.split()
            if parent in children:
                children.add(pid)
    listening = subprocess.run(["ss", "-ltnpH"], capture_output=True, text=True).stdout
    for line in listening.splitlines():
        if set(re.findall(r"pid=(\d+)", line)) & children:
            print(line.split()[3])
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
    )
    addresses = done.stdout.split()
    assert len(addresses) >= 3
    assert all("127.0.0.1" in address for address in addresses), addresses


@pytest.mark.ray
def test_a_client_without_the_token_is_refused_and_no_file_holds_it(tmp_path: Path) -> None:
    # In processes of their own, as Ray reads a token once.
    ask = r"""
import sys
from ray._raylet import GcsClient
from ray.exceptions import AuthenticationError
try:
    GcsClient(address=sys.argv[1]).internal_kv_keys(b"", None, 5)
    print("let in")
except AuthenticationError:
    print("refused")
"""
    script = r"""
import os, subprocess, sys
from actors.local_ray import local_ray
with local_ray(1) as ray:
    words = [sys.executable, "-c", sys.argv[1], ray.get_runtime_context().gcs_address]
    mine = dict(os.environ)
    none = {name: mine[name] for name in mine if not name.startswith("RAY_AUTH")}
    for env in (mine, {**none, "RAY_AUTH_MODE": "disabled"}, {**mine, "RAY_AUTH_TOKEN": "0" * 64}):
        print(subprocess.run(words, env=env, capture_output=True, text=True).stdout.strip())
"""
    unset = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    done = subprocess.run(
        [sys.executable, "-c", script, ask],
        env={**unset, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["let in", "refused", "refused"]
    assert not (tmp_path / ".ray").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RAY_AUTH_MODE", "disabled"),
        ("RAY_AUTH_MODE", "token"),
        ("RAY_AUTH_TOKEN", "mine"),
        ("RAY_AUTH_TOKEN_PATH", "/home/me/token"),
    ],
)
def test_what_the_user_says_of_tokens_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    for other in ("RAY_AUTH_MODE", _TOKEN, "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, value)
    before = dict(os.environ)
    _keep_to_this_process()
    assert dict(os.environ) == before


def test_a_token_is_made_once_for_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    for other in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(_TOKEN, "")
    _keep_to_this_process()
    first = os.environ[_TOKEN]
    _keep_to_this_process()
    assert os.environ[_TOKEN] == first
    assert len(first) == 64

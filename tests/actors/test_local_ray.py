"""A Ctrl-C while Ray starts waits until it has started; a second one does not."""

import shutil
import signal
import subprocess
import sys

import pytest

from actors.local_ray import _interrupt_deferred


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

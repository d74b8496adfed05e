"""Hosts made of namespaces: each with an address, a file system and an sshd of its own.

    with Hosts.make() as hosts:
        hosts["h1"].ssh("hostname")

Four are made: ``laptop``, where a user sits with this project, and ``h1``, ``h2`` and ``h3``, which
have Python and Hanse's dependencies but not Hanse. They share a bridge, each on an address of its
own. A host is a network, mount, pid and uts namespace: its ``/tmp``, ``/root``, ``/dev/shm`` and
``/etc/hosts`` are its own, and ending its first process ends all others on it. Nothing of the user
who runs the tests is read or written: not the keys, not the known hosts, not ``/tmp/ray``.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LAPTOP = "laptop"
WORKERS = ("h2", "h3")
NAMES = (LAPTOP, "h1", *WORKERS)
NEEDED = {
    "sshd": "openssh-server",
    "ssh": "openssh-client",
    "rsync": "rsync",
    "ip": "iproute2",
    "ss": "iproute2",
    "ethtool": "ethtool",
    "openssl": "openssl",
    "unshare": "util-linux",
    "setpriv": "util-linux",
}
"""The programs that are needed, and the Debian packages that have them."""
_NET = "10.77.0"
_BRIDGE = "hanse-br"
_START_SECONDS = 20.0
_SSH = ("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o",
        "LogLevel=ERROR", "-o", "ConnectTimeout=5", "-o", "BatchMode=yes")  # fmt: skip


def missing() -> str | None:
    """Why hosts cannot be made on this machine; ``None`` if they can."""
    if os.geteuid() != 0:
        return "needs root, to make network namespaces"
    packages = sorted({p for tool, p in NEEDED.items() if _program(tool) is None})
    if packages:
        return f"needs the Debian packages {', '.join(packages)}"
    tried = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "true"], check=False)
    return None if tried.returncode == 0 else "needs namespaces, which this machine does not allow"


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin:/usr/bin:/bin")


@dataclass
class Host:
    """One of them."""

    name: str
    address: str
    key: Path
    """The private key that opens it (and every other)."""
    home: Path
    """Its ``/root``, as seen from this machine."""
    tmp: Path
    """Its ``/tmp``, as seen from this machine."""

    def start(self, command: str) -> subprocess.Popen[str]:
        """Starts a command in a login shell."""
        return subprocess.Popen(
            ["ssh", "-i", str(self.key), *_SSH, f"root@{self.address}", self._login(command)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ssh(
        self, command: str, *, timeout: float = 120, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command in a login shell and waits for it."""
        words = ["ssh", "-i", str(self.key), *_SSH, f"root@{self.address}", self._login(command)]
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if check and done.returncode != 0:
            raise AssertionError(
                f"{self.name}: {command}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
            )
        return done

    def processes(self) -> list[str]:
        """The command lines of all processes on it, without sshd and what looks at them."""
        table = self.ssh("ps -eo args=").stdout.splitlines()
        own = ("sshd:", "/usr/sbin/sshd", "ps -eo", "bash -lc", "/usr/bin/bash -lc", "-bash")
        return [line for line in table if not line.startswith(own)]

    def listening(self) -> list[str]:
        """What listens on it, as ``address:port``, without sshd."""
        table = self.ssh("ss -ltnH").stdout.splitlines()
        return [a for a in (line.split()[3] for line in table) if a != f"{self.address}:22"]

    def cut(self) -> None:
        """Pulls its cable out."""
        _run("ip", "link", "set", f"hanse-{self.name}", "down")

    def mend(self) -> None:
        """Plugs it in again."""
        _run("ip", "link", "set", f"hanse-{self.name}", "up")

    @contextmanager
    def slowed(self, milliseconds: float, loss: float) -> Iterator[None]:
        """Puts a slow cable in place of its own: so many ms each way, a share of frames lost."""
        own, near, far = f"hanse-{self.name}", "hanse-slow", "hanse-slow2"
        _run("ip", "link", "add", near, "type", "veth", "peer", "name", far)
        _run("ip", "link", "set", own, "nomaster")
        _run("ip", "link", "set", far, "master", _BRIDGE, "up")
        _run("ip", "link", "set", near, "up", "promisc", "on")
        _run("ip", "link", "set", own, "promisc", "on")
        program = Path(__file__).with_name("slow_cable.py")
        words = [sys.executable, str(program), own, near, str(milliseconds), str(loss)]
        with subprocess.Popen(words) as cable:
            try:
                yield
            finally:
                cable.kill()
                _run("ip", "link", "del", near)
                _run("ip", "link", "set", own, "master", _BRIDGE)

    @staticmethod
    def _login(command: str) -> str:
        return f"bash -lc {shlex.quote(command)}"


class Hosts(dict[str, Host]):
    """The hosts by name."""

    _folder: Path
    _first: dict[str, subprocess.Popen[bytes]]
    """Every host's first process; all others on it end with that one."""

    @property
    def laptop(self) -> Host:
        """Where the user sits."""
        return self[LAPTOP]

    @property
    def cluster(self) -> list[Host]:
        """The three of the cluster, the head first."""
        return [host for name, host in self.items() if name != LAPTOP]

    @classmethod
    @contextmanager
    def make(cls) -> Iterator[Hosts]:
        """Makes them; takes them away again with everything that runs on them."""
        # Not below /tmp, which each host replaces by its own.
        folder = Path(tempfile.mkdtemp(prefix="hanse-hosts-", dir="/var/tmp"))
        hosts = cls._described(folder)
        hosts._folder, hosts._first = folder, {}
        try:
            _connect(hosts)
            for name, host in hosts.items():
                hosts._first[name] = _boot(folder, host)
            for host in hosts.values():
                _await(host, folder)
            yield hosts
        finally:
            for name in hosts._first:
                hosts._switch_off(name)
            _disconnect()
            shutil.rmtree(folder, ignore_errors=True)

    def reboot(self, name: str) -> None:
        """Ends all that runs on a host at once, and starts it again; its home is kept."""
        self._switch_off(name)
        for path in self[name].tmp.iterdir():  # as at the start of a real host
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self._first[name] = _boot(self._folder, self[name])
        _await(self[name], self._folder)

    def _switch_off(self, name: str) -> None:
        process = self._first[name]
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        process.wait()

    @classmethod
    def _described(cls, folder: Path) -> Hosts:
        key = folder / "key"
        for file in (key, folder / "host_key"):
            _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(file))
        hosts = cls()
        for number, name in enumerate(NAMES):
            home, tmp = folder / name / "home", folder / name / "tmp"
            home.mkdir(parents=True)
            tmp.mkdir()
            tmp.chmod(0o1777)
            hosts[name] = Host(name, f"{_NET}.{number or 100}", key, home, tmp)
        # A name that does not resolve costs Ray ten seconds at each look-up.
        names = [f"{host.address} {name}" for name, host in hosts.items()]
        (folder / "hosts").write_text("\n".join(["127.0.0.1 localhost", *names, ""]))
        (folder / "resolv.conf").write_text("")
        shutil.copy(f"{key}.pub", folder / "authorized_keys")
        for name, host in hosts.items():
            _furnish(folder, host, laptop=name == LAPTOP)
        return hosts


def _furnish(folder: Path, host: Host, *, laptop: bool) -> None:
    """The files of a host's home and of its sshd."""
    environment = f"export PATH={Path(sys.executable).parent}:$PATH RAY_USAGE_STATS_ENABLED=0\n"
    if laptop:
        environment += f"export PYTHONPATH={PROJECT}\n"
        (host.home / ".ssh").mkdir(mode=0o700)
        shutil.copy(host.key, host.home / ".ssh" / "id_ed25519")
        (host.home / ".ssh" / "id_ed25519").chmod(0o600)
    for name in (".bashrc", ".bash_profile"):
        (host.home / name).write_text(environment)
    (folder / host.name / "sshd.conf").write_text(
        f"ListenAddress {host.address}\n"
        f"HostKey {folder}/host_key\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\n"
        "StrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\nUsePAM no\n"
        f"PidFile none\nMaxStartups 100\nMaxSessions 100\n"
    )


def _connect(hosts: Hosts) -> None:
    """A bridge, and a cable from it to each host."""
    _disconnect()  # what a run of the tests that was killed has left behind
    _run("ip", "link", "add", _BRIDGE, "type", "bridge")
    _run("ip", "addr", "add", f"{_NET}.254/24", "dev", _BRIDGE)
    _run("ip", "link", "set", _BRIDGE, "up")
    for name, host in hosts.items():
        space, cable = f"hanse-{name}", f"hanse-{name}"
        _run("ip", "netns", "add", space)
        _run("ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space)
        _run("ip", "link", "set", cable, "master", _BRIDGE, "up")
        _run("ip", "-n", space, "addr", "add", f"{host.address}/24", "dev", "eth0")
        _run("ip", "-n", space, "link", "set", "eth0", "up")
        # Frames are to be as on a real cable, whole and with their checksums, for `slowed`.
        for inside, device in ((("ip", "netns", "exec", space), "eth0"), ((), cable)):
            _run(*inside, "ethtool", "-K", device, "tx", "off", "tso", "off", "gro", "off")
        _run("ip", "-n", space, "link", "set", "lo", "up")
        _run("ip", "-n", space, "route", "add", "default", "via", f"{_NET}.254")


def _disconnect() -> None:
    for name in NAMES:
        _run("ip", "netns", "del", f"hanse-{name}", check=False)
        _run("ip", "link", "del", f"hanse-{name}", check=False)
    for device in ("hanse-slow", _BRIDGE):
        _run("ip", "link", "del", device, check=False)


def _boot(folder: Path, host: Host) -> subprocess.Popen[bytes]:
    """Starts the host's first process, which becomes its sshd."""
    Path("/run/sshd").mkdir(exist_ok=True)
    own = folder / host.name
    # What lies in a folder that the host has of its own is put aside and mounted again.
    kept = [Path(sys.base_prefix), Path(sys.prefix)]
    if host.name == LAPTOP:
        kept.append(PROJECT)
    lines = [f"hostname {host.name}", "mount --make-rprivate /", "mount -t proc proc /proc"]
    for file in ("hosts", "resolv.conf"):
        lines.append(f"mount --bind {folder}/{file} /etc/{file}")
    for number, path in enumerate(kept):
        lines += [f"mkdir -p {own}/kept{number}", f"mount --rbind {path} {own}/kept{number}"]
    lines += [f"mount --rbind {host.home} /root", f"mount --rbind {host.tmp} /tmp"]
    if host.name != LAPTOP:
        lines.append(f"mount -t tmpfs tmpfs {PROJECT}" if PROJECT.parts[1] != "tmp" else "true")
    lines.append("mount -t tmpfs -o size=2g tmpfs /dev/shm")
    for number, path in enumerate(kept):
        lines += [f"mkdir -p {path}", f"mount --rbind {own}/kept{number} {path}"]
    lines.append(f"exec {_program('sshd')} -D -f {own}/sshd.conf -E {own}/sshd.log")
    return subprocess.Popen(
        # They end with the tests, however these end.
        ["setpriv", "--pdeathsig", "KILL", "ip", "netns", "exec", f"hanse-{host.name}",
         "unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child",
         "bash", "-ec", "\n".join(lines)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=(own / "boot.log").open("wb"),
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
    )  # fmt: skip


def _await(host: Host, folder: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while host.ssh("true", check=False).returncode != 0:
        if time.monotonic() > deadline:
            logs = [f.read_text() for f in sorted((folder / host.name).glob("*.log"))]
            raise AssertionError(f"{host.name} does not come up:\n" + "\n".join(logs))
        time.sleep(0.2)


def _run(*words: str, check: bool = True) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"{shlex.join(words)}: {done.stderr.strip()}")

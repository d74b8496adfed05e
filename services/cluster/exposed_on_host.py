"""What a host shows to others, and how its secrets are kept: `python -`, with this on stdin.

It runs on hosts that have no Hanse, so it imports nothing but the standard library. The answer is
one line of JSON.
"""

import json
import os
import shutil
import socket
import struct
import subprocess
from contextlib import suppress
from itertools import pairwise

SECRETS = ("~/.ray/auth_token", "~/.hanse/tls/{name}.key", "~/ray_bootstrap_key.pem")
CERTIFICATE = "~/.hanse/tls/{name}.pem"
LISTENING = "0A"
"""How the kernel's table of sockets names this state."""


def exposed() -> dict[str, object]:
    """Addresses, shared memory, secrets, the certificate, and what listens."""
    name = socket.gethostname()
    modes = {}
    for place in SECRETS:
        with suppress(OSError):
            path = place.format(name=name)
            modes[path] = oct(os.stat(os.path.expanduser(path)).st_mode & 0o777)[2:]
    certificate = ""
    with suppress(OSError), open(os.path.expanduser(CERTIFICATE.format(name=name))) as file:
        certificate = file.read()
    return {
        "addresses": addresses(),
        "shared_memory": shutil.disk_usage("/dev/shm").free if os.path.isdir("/dev/shm") else 0,
        "secrets": modes,
        "certificate": certificate,
        "listening": listening(),
    }


def addresses() -> list[str]:
    """The host's IPv4 addresses, without those of loopback."""
    try:
        words = subprocess.run(
            ["hostname", "-I"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
        ).stdout.split()
    except OSError:
        return []
    return [word.decode() for word in words if b":" not in word]


def listening() -> list[str]:
    """What takes TCP connections, as ``address port program``; ``?`` for others' programs."""
    programs = sockets()
    found = set()
    for table, width in (("tcp", 4), ("tcp6", 16)):
        with suppress(OSError), open("/proc/net/" + table) as file:
            for line in file.readlines()[1:]:
                fields = line.split()
                if fields[3] != LISTENING:
                    continue
                address, port = fields[1].split(":")
                shown = numeric(address, width)
                found.add("{} {} {}".format(shown, int(port, 16), programs.get(fields[9], "?")))
    return sorted(found, key=lambda line: (int(line.split()[1]), line))


def numeric(address: str, width: int) -> str:
    """An address of the kernel's table as it is usually written."""
    words = [address[start : start + 8] for start in range(0, 2 * width, 8)]
    packed = b"".join(struct.pack("=I", int(word, 16)) for word in words)
    if width == 16 and packed.startswith(b"\0" * 10 + b"\xff\xff"):
        packed = packed[12:]
    return socket.inet_ntop(socket.AF_INET if len(packed) == 4 else socket.AF_INET6, packed)


def sockets() -> dict[str, str]:
    """The name of the program behind every socket that this user may see, by inode."""
    programs = {}
    for entry in os.listdir("/proc"):
        if not entry.isdecimal():
            continue
        with suppress(OSError):
            name = program(entry)
            for number in os.listdir(f"/proc/{entry}/fd"):
                with suppress(OSError):
                    link = os.readlink(f"/proc/{entry}/fd/{number}")
                    if link.startswith("socket:["):
                        programs[link[8:-1]] = name
    return programs


def program(entry: str) -> str:
    """A process's name in one word; of a script the script's."""
    with open(f"/proc/{entry}/cmdline", "rb") as file:
        words = file.read().decode(errors="replace").strip("\0").split("\0")
    first = os.path.basename(words[0].split()[0].rstrip(":")) if words[0] else "?"
    if first.startswith("python"):
        scripts = [word for word in words[1:] if word.endswith(".py")]
        modules = [after for word, after in pairwise(words) if word == "-m"]
        first = os.path.basename((scripts or modules or [first])[0])
    return first


if __name__ == "__main__":
    print(json.dumps(exposed()))

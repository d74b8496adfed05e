"""Somebody on the network who reads along what passes a host's cable."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tests.cluster.hosts import Host

WORDS = ("retailer_", "HostActor", "exchange_town_")
"""Agents' names in the mail between hosts, and what Ray says of the actors that carry them."""
_ALL_FRAMES = 3
_MOST_BYTES = 65_536
_SSH = 22


class Segment(NamedTuple):
    """What one frame carried over TCP."""

    source: str
    destination: str
    port: int
    """The lower one of the two, which is a service's more often than not."""
    payload: bytes


class Overheard(list[Segment]):
    """What was heard between hosts of the cluster, ssh left out."""

    def says(self, word: str) -> bool:
        """Whether a word can be read in it."""
        return any(word.encode() in segment.payload for segment in self)

    @property
    def size(self) -> int:
        """Bytes, without the frames' heads."""
        return sum(len(segment.payload) for segment in self)


@contextmanager
def overhearing(host: Host) -> Iterator[Overheard]:
    """Reads along at the cable of a host; all is there when the block has ended."""
    heard = Overheard()
    ended = threading.Event()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(_ALL_FRAMES)) as cable:
        cable.bind((f"hanse-{host.name}", 0))
        cable.settimeout(0.2)

        def listen() -> None:
            while not ended.is_set():
                try:
                    segment = _segment(cable.recv(_MOST_BYTES))
                except TimeoutError:
                    continue
                if segment is not None and segment.port != _SSH:
                    heard.append(segment)

        ear = threading.Thread(target=listen)
        ear.start()
        try:
            yield heard
        finally:
            ended.set()
            ear.join()


def _segment(frame: bytes) -> Segment | None:
    """What an Ethernet frame carries, if that is IPv4 and TCP."""
    if frame[12:14] != b"\x08\x00" or frame[23] != socket.IPPROTO_TCP:
        return None
    packet = frame[14 : 14 + int.from_bytes(frame[16:18], "big")]
    source, destination = (".".join(map(str, packet[at : at + 4])) for at in (12, 16))
    segment = packet[(packet[0] & 15) * 4 :]
    ports = (int.from_bytes(segment[at : at + 2], "big") for at in (0, 2))
    return Segment(source, destination, min(ports), segment[(segment[12] >> 4) * 4 :])

"""A slow cable: `python slow_cable.py A B MILLISECONDS LOSS` carries frames between two interfaces.

It does what `tc netem` does, for kernels that have no netem. Each frame is held back for the given
time, and the given share of frames is lost; which ones depends on chance alone.
"""

from __future__ import annotations

import heapq
import random
import select
import socket
import sys
import time

_ALL_PROTOCOLS = 3
_LONGEST_FRAME = 65_536
_OWN = socket.PACKET_OUTGOING


def carry(names: tuple[str, str], delay: float, loss: float) -> None:
    """Carries frames both ways until it is killed.

    Args:
        names: The interfaces.
        delay: In seconds, one way.
        loss: The share of frames that get lost, 0 to 1.
    """
    ends = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS))
            for _ in names]  # fmt: skip
    for end, name in zip(ends, names, strict=True):
        end.bind((name, _ALL_PROTOCOLS))
    others = {ends[0]: ends[1], ends[1]: ends[0]}
    held: list[tuple[float, int, bytes, socket.socket]] = []
    number = 0
    while True:
        wait = max(0.0, held[0][0] - time.monotonic()) if held else None
        readable, _, _ = select.select(ends, [], [], wait)
        for end in readable:
            frame, about = end.recvfrom(_LONGEST_FRAME)
            if about[2] != _OWN and random.random() >= loss:
                number += 1
                heapq.heappush(held, (time.monotonic() + delay, number, frame, others[end]))
        while held and held[0][0] <= time.monotonic():
            _, _, frame, other = heapq.heappop(held)
            other.send(frame)


if __name__ == "__main__":
    carry((sys.argv[1], sys.argv[2]), float(sys.argv[3]) / 1000, float(sys.argv[4]))

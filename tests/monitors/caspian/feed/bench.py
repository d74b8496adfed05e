"""What the feed costs, and why numbers are encoded as they are.

``python -m tests.monitors.caspian.feed.bench`` prints three tables.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.events import DIMENSIONS
from monitors.caspian.feed import Encoder, Joiner, league_graph
from monitors.caspian.feed.embeddings import SentenceText, minilm
from monitors.caspian.feed.encoding import TextFeatures
from monitors.caspian.feed.hashing import HashedText
from monitors.caspian.feed.numeric import NumberFeatures
from monitors.caspian.scoring import dot, orthonormal
from services.errors import HanseError
from services.talk.vocabulary import mutated, sentence

Floats = NDArray[np.float64]
Features = Callable[[Floats], Floats]
DRAWS = 4_000
SHARE = 0.8
"""Share of the payload in an infected agent's numbers; their variance stays 1 (energy matched)."""
FAR = 4.0
"""Standard deviations by which every second number of an overloaded agent is off."""


def rotated(rng: np.random.Generator, fields: int) -> Features:
    """The note's encoding: padded with zeros and rotated."""
    turn = np.linalg.qr(rng.normal(size=(DIMENSIONS, DIMENSIONS)))[0][:, :fields]
    return lambda x: x @ turn.T


def fourier(rng: np.random.Generator, fields: int) -> Features:
    """Random Fourier features, centred."""
    directions = rng.normal(size=(fields, DIMENSIONS)) * 0.35
    phases = rng.uniform(0, 2 * np.pi, DIMENSIONS)
    centre = np.exp(-0.5 * (directions**2).sum(axis=0)) * np.cos(phases)
    return lambda x: np.cos(x @ directions + phases) - centre


def floored(rng: np.random.Generator, fields: int) -> Features:
    """Rotated, beside a vector of constant length that depends on the exact pattern."""
    straight = rotated(rng, fields)
    frequencies = rng.normal(size=(fields, DIMENSIONS)) * 3
    phases = rng.uniform(0, 2 * np.pi, DIMENSIONS)
    height = np.sqrt(2 * 6 / DIMENSIONS)
    return lambda x: straight(x) + height * np.cos(x @ frequencies + phases)


def ours(rng: np.random.Generator, fields: int) -> Features:
    """The feed's own encoding, which has seen a thousand ordinary reports."""
    encoding = NumberFeatures()
    names = [f"field_{place}" for place in range(fields)]

    def features(x: Floats) -> Floats:
        batch = [("report", tuple(zip(names, row, strict=True))) for row in x.tolist()]
        # What the feed learns from a batch must not depend on what was asked before.
        encoding.load(settled)
        return encoding.vectors(batch).astype(np.float64)

    settled = encoding.save()
    features(rng.normal(size=(1_000, fields)))
    settled = encoding.save()
    return features


ENCODINGS: dict[str, Callable[[np.random.Generator, int], Features]] = {
    "rotated": rotated,
    "fourier": fourier,
    "floored": floored,
    "ours": ours,
}


def separation(features: Features, fields: int, rng: np.random.Generator) -> tuple[float, ...]:
    """The score of infected pairs against that of unrelated ones.

    Returns:
        The deviation of unrelated pairs' scores; how many of them pairs lie higher that share a
        payload within the usual range; the same for pairs that are both overloaded.
    """

    def draw() -> Floats:
        return rng.normal(size=(DRAWS, fields))

    def score(x: Floats, y: Floats) -> Floats:
        """Note 8.2: conditioned on the target's last and slow behaviour, Fisher's z."""
        past = [features(draw()).astype(np.float32) for _ in range(12)]
        slow = past[0] * 0
        for one in past:
            slow = np.float32(0.9) * slow + np.float32(0.1) * one
        first, second = orthonormal(past[-1], slow)
        u, v = features(x).astype(np.float32), features(y).astype(np.float32)
        for known in (first, second):
            u = u - dot(u, known)[:, None].astype(np.float32) * known
            v = v - dot(v, known)[:, None].astype(np.float32) * known
        lengths = np.sqrt(dot(u, u) * dot(v, v)) + 1e-12
        return np.arctanh(np.clip(dot(u, v) / lengths, -0.995, 0.995))

    unrelated = score(draw(), draw())
    payload, own = draw(), np.sqrt(1 - SHARE**2)
    off = np.where(np.arange(fields) % 2, 0.0, FAR)
    deviation = float(unrelated.std())
    found = [
        score(own * draw() + SHARE * payload, own * draw() + SHARE * payload),
        score(draw() + off, draw() + off),
    ]
    return deviation, *(float(one.mean() - unrelated.mean()) / deviation for one in found)


def numbers() -> None:
    """Prints how well infected numbers are told apart, by encoding and count of fields."""
    print("fields  " + "".join(f"{name:<22}" for name in ENCODINGS))
    for fields in (2, 3, 4, 6, 8, 12):
        cells = []
        for make in ENCODINGS.values():
            rng = np.random.default_rng(0)
            deviation, shared, far = separation(make(rng, fields), fields, rng)
            cells.append(f"{deviation:4.2f} -> {shared:5.2f} {far:5.2f}")
        print(f"{fields:6}  " + "".join(f"{cell:<22}" for cell in cells))
    print("deviation of unrelated scores -> distance in deviations of those that share a payload,")
    print("and of those that are both overloaded")


def texts(count: int = 200) -> None:
    """Prints how far retold sentences are from unrelated ones, by encoding."""
    encodings: dict[str, TextFeatures] = {"hashed": HashedText()}
    with suppress(HanseError):  # the extra is not installed
        encodings["minilm"] = SentenceText(minilm(), "minilm")
    rng = random.Random(1)
    told = [sentence(rng) for _ in range(count)]
    retold = [mutated(words, rng, 0.25) for words in told]
    print("text        unrelated (deviation)   retold   in deviations   milliseconds a text")
    for name, encoding in encodings.items():
        start = time.process_time()
        u, v = (encoding.vectors([(words,) for words in some]) for some in (told, retold))
        cost = (time.process_time() - start) / (2 * count) * 1e3
        apart, near = np.einsum("nd,nd->n", u[1:], u[:-1]), np.einsum("nd,nd->n", u, v)
        gain = (near.mean() - apart.mean()) / apart.std()
        print(
            f"{name:10}  {apart.mean():9.3f} ({apart.std():.3f})   {near.mean():12.3f}"
            f"   {gain:13.1f}   {cost:19.3f}"
        )


class _Talk:
    """The rows of a league of 96 firms, hour by hour."""

    def __init__(self, texts: Callable[[random.Random], str], status: float) -> None:
        self._rng = random.Random(0)
        self._texts, self._status = texts, status
        firms = [f"firm_{number:02}" for number in range(96)]
        self.edges = [
            (firm, other, ("comm", "mem", "tool", "exec"))
            for firm in firms
            for other in self._rng.sample(firms, 5)
            if other != firm
        ]
        self._number = 0

    def hour(self, tick: int, count: int) -> list[tuple[Any, ...]]:
        """So many messages in the order of the log."""
        rng, rows = self._rng, []
        for place in range(count):
            sender, recipient, _ = rng.choice(self.edges)
            self._number += 1
            kind, channel = "market_note", "comm"
            body: dict[str, Any] = {"text": self._texts(rng)}
            if rng.random() < self._status:
                kind, channel = "status_request", "exec"
                body = {name: rng.gauss(5, 1) for name in ("load", "latency", "errors", "tokens")}
            start = (tick * 60, place * 4 // count, sender, self._number, recipient, channel, kind)
            rows.append((*start, None, None, None, json.dumps(body)))
        return rows


def speed(rows: int = 2_000, hours: int = 15) -> None:
    """Prints microseconds of processor time for a row."""
    pool = [sentence(random.Random(number)) for number in range(300)]
    cold = lambda rng: f"{sentence(rng)}. {sentence(rng)}"  # noqa: E731
    cases: list[tuple[str, Callable[[random.Random], str], float]] = [
        ("texts that are new", cold, 0.0),
        ("texts that are known", lambda rng: rng.choice(pool), 0.0),
        ("numbers", cold, 1.0),
    ]
    print("microseconds a row       encoding (range)       encoding and joining (range)")
    for name, texts, status in cases:
        talk = _Talk(texts, status)
        joiner, encoder = Joiner(league_graph(talk.edges)), Encoder()
        alone, whole = [], []
        for tick in range(1, hours + 1):
            batch = talk.hour(tick, rows)
            start = time.process_time()
            encoder.encode([(row[6], row[10]) for row in batch])
            between = time.process_time()
            joiner.feed(tick, batch)
            end = time.process_time()
            alone.append((between - start) / rows * 1e6)
            whole.append((end - between) / rows * 1e6)
        print(f"{name:22}" + "".join(f"{_summary(costs[3:]):>26}" for costs in (alone, whole)))


def _summary(costs: list[float]) -> str:
    return f"{statistics.median(costs):5.1f} ({min(costs):.1f}-{max(costs):.1f})"


if __name__ == "__main__":
    texts()
    numbers()
    speed()

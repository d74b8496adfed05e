"""Pairs every message with what its recipient did afterwards (note ``caspian`` 2.3).

An exposure is a message that reached an agent. Its event is complete once the agent has shown
behaviour of its own *in a later round*: that behaviour's vector is v, the message's own is u, and
the two are never the same message. What counts as the answer to an exposure on channel c:

1. a message of the target that names the exposure in ``in_reply_to`` or ``cause``;
2. else its next emission on c, if it is an agent that speaks on c: one that has emitted on c within
   the last :attr:`JoinSettings.window` ticks;
3. else its next emission on any channel: a firm that hears a forecast from a tool passes it on
   in its notes, and so shows what a faulty tool or a corrupted memory has done to it.

Only comparable content answers: words answer words, numbers answer numbers, and a message without
content (a mere request) neither exposes nor answers. Of several messages in the round the answer
is the mean.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from monitors.caspian.events import CHANNELS, TickEvents
from monitors.caspian.feed.encoding import NOTHING, Encoder, tally
from monitors.caspian.feed.rows import TICK_MINUTES, ordered
from monitors.caspian.possibility import PossibilityGraph

_CHANNEL: Final = {channel: place for place, channel in enumerate(CHANNELS)}

Vector = NDArray[np.float32]
Place = tuple[int, int]
"""A channel and what content is made of: behaviour at one place compares."""


class JoinSettings(BaseModel):
    """How exposures and answers are joined."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tick_minutes: int = Field(TICK_MINUTES, gt=0)
    """Length of a tick in virtual minutes."""
    window: int = Field(12, gt=0)
    """Ticks with traffic for which an exposure waits for an answer, and for which an agent that
    has spoken on a channel counts as one that speaks there: about a working day."""
    crowd: int = Field(256, gt=0)
    """Exposures of one target on one channel that wait at most; the oldest give way."""
    rule: Literal["usual", "same channel", "any channel"] = "usual"
    """Which emissions answer. ``usual`` is the rule above; ``same channel`` leaves out its third
    part, ``any channel`` its second."""


class _Exposure(NamedTuple):
    source: str
    id: str
    channel: int
    made_of: int
    u: Vector
    tick: int
    """The joiner's own count of ticks with traffic."""


class _Saying:
    """What an agent has said in one round, at one place."""

    __slots__ = ("named", "vectors")

    def __init__(self) -> None:
        self.vectors: list[Vector] = []
        self.named: list[tuple[str, Vector]] = []
        """The messages that it names as its reasons."""


class Joiner:
    """Feeds on the log tick by tick, and gives the events that became complete in each.

    Bad input is counted in :attr:`dropped` by reason and never raises. The events depend on the
    rows alone: neither on their order within a tick nor on the hosts they come from.

    Args:
        graph: Who can reach whom; exposures off it are dropped.
        encoder: Makes vectors of bodies.
        settings: How exposures and answers are joined.
    """

    def __init__(
        self,
        graph: PossibilityGraph,
        encoder: Encoder | None = None,
        settings: JoinSettings = JoinSettings(),  # noqa: B008 (frozen)
    ) -> None:
        self.encoder = Encoder() if encoder is None else encoder
        self.settings = settings
        self.dropped: Counter[str] = Counter()
        """Input that could not be used, by reason."""
        self.passed_over: Counter[str] = Counter()
        """Sound input that makes no event: messages without content (``no content``), exposures
        whose answer never came (``unanswered``), or had too many others before it (``crowded
        out``)."""
        self._tick: int | None = None
        self._ticks = 0
        self._last_number: dict[str, int] = {}
        self._waiting: dict[str, dict[Place, list[_Exposure]]] = {}
        self._spoke: dict[str, dict[Place, int]] = {}
        self.regraph(graph)

    def regraph(self, graph: PossibilityGraph) -> None:
        """Goes on with another graph: exposures on edges that are gone are forgotten."""
        self.graph = graph
        masks = zip(graph.source.tolist(), graph.target.tolist(), graph.channels, strict=True)
        self._edges = {(graph.nodes[s], graph.nodes[t]): int(mask) for s, t, mask in masks}
        for target, places in self._waiting.items():
            for place, exposures in places.items():
                mask = 1 << place[0]
                places[place] = [
                    one for one in exposures if self._edges.get((one.source, target), 0) & mask
                ]

    @property
    def waiting(self) -> int:
        """Exposures that have not been answered yet."""
        return sum(len(some) for places in self._waiting.values() for some in places.values())

    def feed(self, tick: int, rows: Iterable[Any]) -> TickEvents:
        """The events that became complete in a tick.

        Args:
            tick: Later than the one before; ticks without traffic need not be fed.
            rows: All watched messages of the tick as rows of the log, in any order.
        """
        rows = list(rows)
        if self._tick is not None and tick <= self._tick:
            reason = "tick seen already" if tick == self._tick else "time runs backwards"
            self.dropped[reason] += len(rows)
            return TickEvents.empty(tick)
        self._tick = tick
        sound = self._known(ordered(rows, tick, self.settings.tick_minutes, self.dropped))
        if not sound:
            return TickEvents.empty(tick)
        self._ticks += 1
        self._forget()
        encoded = self.encoder.encode([(row[6], row[10]) for row in sound])
        tally(encoded, self.dropped)
        self.passed_over["no content"] += encoded.made_of.count(NOTHING) - len(encoded.unreadable)
        found = _Found()
        content = zip(sound, encoded.made_of, encoded.vectors, strict=True)
        for _, one_round in groupby(content, key=lambda each: each[0][:2]):
            self._play(one_round, found)
        return found.events(tick, self.graph)

    def _known(self, rows: list[Any]) -> list[Any]:
        """The rows between agents of the graph, each message once."""
        known, last, dropped = [], self._last_number, self.dropped
        for row in rows:
            sender, number = row[2], row[3]
            if sender not in self.graph or row[4] not in self.graph:
                dropped["unknown agent"] += 1
            elif number <= last.get(sender, -1):
                dropped["number seen already"] += 1
            else:
                last[sender] = number
                known.append(row)
        return known

    def _play(self, one_round: Iterable[tuple[Any, int, Vector]], found: _Found) -> None:
        """Works off a round: what is said in it answers what was heard before, not in it."""
        said: dict[str, dict[Place, _Saying]] = {}
        heard: list[tuple[str, _Exposure]] = []
        for row, made_of, vector in one_round:
            if made_of == NOTHING:
                continue
            _, _, sender, number, recipient, channel_name, _, reply, cause, _, _ = row
            channel = _CHANNEL[channel_name]
            sayings = said.setdefault(sender, {})
            saying = sayings.get((channel, made_of))
            if saying is None:
                saying = sayings[channel, made_of] = _Saying()
            saying.vectors.append(vector)
            if reply:
                saying.named.append((reply, vector))
            if cause and cause != reply:
                saying.named.append((cause, vector))
            if self._edges.get((sender, recipient), 0) & (1 << channel):
                message = f"{sender}#{number}"
                exposure = _Exposure(sender, message, channel, made_of, vector, self._ticks)
                heard.append((recipient, exposure))
            else:
                reason = "message to oneself" if sender == recipient else "off the graph"
                self.dropped[reason] += 1
        for agent, answers in said.items():
            self._answer(agent, answers, found)
        for target, exposure in heard:
            self._wait(target, exposure)

    def _answer(self, agent: str, sayings: dict[Place, _Saying], found: _Found) -> None:
        waiting = self._waiting.get(agent)
        spoke = self._spoke.setdefault(agent, {})
        if waiting:
            self._answer_named(agent, sayings, waiting, found)
            anywhere: dict[int, Vector | None] = {}
            for place in sorted(waiting):
                v = self._behaviour(place, sayings, spoke, anywhere)
                if v is not None:
                    for exposure in waiting.pop(place):
                        found.add(agent, exposure, v)
        for place in sayings:
            spoke[place] = self._ticks

    def _behaviour(
        self,
        place: Place,
        sayings: dict[Place, _Saying],
        spoke: dict[Place, int],
        anywhere: dict[int, Vector | None],
    ) -> Vector | None:
        """What answers the exposures at a place, if anything does.

        What is said on all channels is kept in ``anywhere``, by what it is made of.
        """
        rule = self.settings.rule
        if rule != "any channel":
            if place in sayings:
                return _mean(sayings[place].vectors)
            if rule == "same channel" or self._speaks(spoke.get(place)):
                return None
        if place[1] not in anywhere:
            vectors = [
                vector
                for (_, made_of), saying in sorted(sayings.items(), key=_first)
                if made_of == place[1]
                for vector in saying.vectors
            ]
            anywhere[place[1]] = _mean(vectors) if vectors else None
        return anywhere[place[1]]

    def _speaks(self, last: int | None) -> bool:
        return last is not None and self._ticks - last <= self.settings.window

    def _answer_named(
        self,
        agent: str,
        sayings: dict[Place, _Saying],
        waiting: dict[Place, list[_Exposure]],
        found: _Found,
    ) -> None:
        """Completes the exposures that the agent's messages name."""
        reasons: dict[tuple[str, int], list[Vector]] = defaultdict(list)
        for (_, made_of), saying in sorted(sayings.items(), key=_first):
            for name, vector in saying.named:
                reasons[name, made_of].append(vector)
        if not reasons:
            return
        for place in sorted(waiting):
            left = []
            for exposure in waiting[place]:
                vectors = reasons.get((exposure.id, exposure.made_of))
                if vectors is None:
                    left.append(exposure)
                else:
                    found.add(agent, exposure, _mean(vectors))
            if left:
                waiting[place] = left
            else:
                del waiting[place]

    def _wait(self, target: str, exposure: _Exposure) -> None:
        places = self._waiting.setdefault(target, {})
        exposures = places.setdefault((exposure.channel, exposure.made_of), [])
        if len(exposures) >= self.settings.crowd:
            del exposures[0]
            self.passed_over["crowded out"] += 1
        exposures.append(exposure)

    def _forget(self) -> None:
        """Gives up exposures that have waited too long."""
        oldest = self._ticks - self.settings.window
        for places in self._waiting.values():
            for place in [p for p, some in places.items() if not some or some[0].tick < oldest]:
                exposures = places.pop(place)
                left = [one for one in exposures if one.tick >= oldest]
                self.passed_over["unanswered"] += len(exposures) - len(left)
                if left:
                    places[place] = left

    def save(self) -> dict[str, Any]:
        """Everything that later events depend on, as plain data, exact and in one order."""
        return {
            "graph": self.graph.version,
            "tick": self._tick,
            "ticks": self._ticks,
            "dropped": dict(sorted(self.dropped.items())),
            "passed_over": dict(sorted(self.passed_over.items())),
            "last_number": dict(sorted(self._last_number.items())),
            "spoke": [
                [agent, *place, tick]
                for agent, places in sorted(self._spoke.items())
                for place, tick in sorted(places.items())
            ],
            "waiting": [
                [target, *one[:4], one.u.astype("<f4").tobytes(), one.tick]
                for target, places in sorted(self._waiting.items())
                for _, exposures in sorted(places.items(), key=_first)
                for one in exposures
            ],
            "encoder": self.encoder.save(),
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Takes back what :meth:`save` returned; exposures on edges that are gone are forgotten."""
        self._tick, self._ticks = saved["tick"], saved["ticks"]
        self.dropped = Counter(saved["dropped"])
        self.passed_over = Counter(saved["passed_over"])
        self._last_number = dict(saved["last_number"])
        self._spoke, self._waiting = {}, {}
        for agent, channel, made_of, tick in saved["spoke"]:
            self._spoke.setdefault(agent, {})[channel, made_of] = tick
        for target, source, message, channel, made_of, u, tick in saved["waiting"]:
            vector = np.frombuffer(u, "<f4").astype(np.float32)
            places = self._waiting.setdefault(target, {})
            exposure = _Exposure(source, message, channel, made_of, vector, tick)
            places.setdefault((channel, made_of), []).append(exposure)
        self.encoder.load(saved["encoder"])
        self.regraph(self.graph)


class _Found:
    """The events of a tick as they are found."""

    def __init__(self) -> None:
        self._rows: list[tuple[_Exposure, str, Vector]] = []

    def add(self, target: str, exposure: _Exposure, v: Vector) -> None:
        """A message, and what its recipient did after it."""
        self._rows.append((exposure, target, v))

    def events(self, tick: int, graph: PossibilityGraph) -> TickEvents:
        """All of them, in the order in which they were found."""
        rows = self._rows
        if not rows:
            return TickEvents.empty(tick)
        v = np.stack([one for _, _, one in rows])
        says: list[bool] = np.any(v, axis=1).tolist()
        if not all(says):
            rows = [row for row, there in zip(rows, says, strict=True) if there]
            if not rows:
                return TickEvents.empty(tick)
            v = v[says]
        exposures = [exposure for exposure, _, _ in rows]
        return TickEvents(
            tick=tick,
            source=np.array([graph.index(one.source) for one in exposures], np.int32),
            target=np.array([graph.index(target) for _, target, _ in rows], np.int32),
            channel=np.array([one.channel for one in exposures], np.int8),
            u=np.stack([one.u for one in exposures]),
            v=v,
            ids=tuple(one.id for one in exposures),
        )


def _first(item: tuple[Place, Any]) -> Place:
    return item[0]


def _mean(vectors: list[Vector]) -> Vector:
    """The mean of unit vectors at length 1; if they cancel each other out, it is 0."""
    if len(vectors) == 1:
        return vectors[0]
    total = np.add.reduce(vectors)
    length = np.sqrt(np.dot(total.astype(np.float64), total))
    return total if length == 0 else np.asarray(total / length, np.float32)

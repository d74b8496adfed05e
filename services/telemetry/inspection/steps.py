"""What happened, one step after another, and what each step came from and led to.

A firm's day is a thread: turn, command, turn, command. A step joins a command with its outcome, and
turns that only say "go on" are left out, so that a thread reads as what the firm did.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from services.messages import MINUTES_PER_DAY
from services.telemetry.inspection import words
from services.telemetry.inspection.own import OwnSpan, OwnSpans, own_spans, wake_name
from services.telemetry.logged import LoggedEvent, SentMessage, TraceDay
from services.telemetry.reader import TraceReader

_FORMALITIES: Final = ("view_", "read_message", "wait_for_next_day")
"""Commands by which nothing changes for anybody."""

DECISIONS: Final = frozenset({"policy_decision", "purchasing_decision", "routing_decision"})
"""What a policy has made up its mind to: the reason for what the firm does next."""
SAID_BY_COMMAND: Final = frozenset({"deal", "payment", "return"})
"""Events that are the very thing that a command does: its step says what they say."""


class Step(NamedTuple):
    """One thing that happened."""

    id: str
    """The message's id, or the event's."""
    minute: int
    """Virtual minutes since the start of the run."""
    agent: str
    """Who did it."""
    words: str
    """A whole sentence."""
    money: float | None = None
    """Dollars."""
    refused: bool = False
    wall: int | None = None
    """Nanoseconds since 1970 at which it was begun; None if nobody has noted them."""
    failed: bool = False
    """Whether it is an own span with status ERROR."""

    def document(self, began: int | None = None) -> dict[str, Any]:
        """The step for ``--json``; with the seconds since ``began`` (nanoseconds since 1970)."""
        wall = None if self.wall is None or began is None else (self.wall - began) / 1e9
        return {
            "id": self.id,
            "day": self.minute // MINUTES_PER_DAY,
            "time": words.time_of_day(self.minute),
            "minute": self.minute,
            "agent": self.agent,
            "words": self.words,
            "money": self.money,
            "refused": self.refused,
            "failed": self.failed,
            "wall_seconds": wall,
        }


class Node(NamedTuple):
    """A step, and what came of it."""

    step: Step
    children: list[Node]
    more: int = 0
    """Children that are left out."""

    def document(self, began: int | None = None) -> dict[str, Any]:
        """The tree for ``--json``."""
        return {
            **self.step.document(began),
            "effects": [child.document(began) for child in self.children],
            "effects_left_out": self.more,
        }


class Limits(NamedTuple):
    """How much of a tree is shown."""

    causes: int = 14
    """Steps of one chain of causes."""
    depth: int = 4
    children: int = 6
    formalities: bool = False
    """Whether effects tell of what firms looked at, too."""


EVERYTHING: Final = Limits(100_000, 60, 100_000, True)


class Chain(NamedTuple):
    """From the root of a chain of causes to what it led to."""

    steps: list[Step]
    left_out: int
    """Steps between the root and the rest that are left out."""
    through: frozenset[str]
    """All messages of the chain, told or not."""


def of_message(day: TraceDay, message: SentMessage) -> Step:
    """A message as a step: a firm's command with its outcome, anything else as it is."""
    action = outcome(day, message)
    timing = day.timing(message.id)
    wall = None if timing is None else timing.began
    if action is None:
        told = words.message(message.type, message.sender, message.recipient, message.facts)
        about = message.recipient if message.type == "turn" else message.sender
        return Step(message.id, message.minute, about, told, wall=wall)
    facts = action.facts
    told = f"{message.sender} {words.action(facts, _rows_shown(day, message))}"
    money = words.amount(facts)
    for event in day.events_because_of(message.id):
        if event.kind in SAID_BY_COMMAND:
            told += words.consequence(event.kind, event.facts)
            money = words.amount(event.facts)
    return Step(
        message.id,
        message.minute,
        message.sender,
        told,
        money,
        facts.get("status") == "error",
        wall,
    )


def of_event(event: LoggedEvent, day: TraceDay | None = None) -> Step:
    """An event as a step."""
    facts = event.facts
    timing = day.timing(event.cause) if day is not None and event.cause else None
    return Step(
        words.event_id(event.agent, event.ordinal),
        event.minute,
        event.subject or event.agent,
        words.event(event.kind, event.subject, facts),
        words.amount(facts),
        facts.get("status") == "error",
        None if timing is None else timing.began,
    )


def of_span(span: OwnSpan) -> Step:
    """An agent's own span as a step."""
    told = f"{span.agent} {span.words}"
    return Step(span.id, span.minute, span.agent, told, failed=span.failed)


def outcome(day: TraceDay, message: SentMessage) -> LoggedEvent | None:
    """What an exchange has noted of a command; None if the message is no command."""
    for event in day.events_because_of(message.id):
        if event.kind == "action" and event.subject == message.sender:
            return event
    return None


def _rows_shown(day: TraceDay, message: SentMessage) -> int | None:
    """How many rows a view has shown: the next turn says it."""
    if not message.type.startswith("view_"):
        return None
    at = message.minute, message.round
    turns = _turns_of(day).get(message.sender, [])
    following = bisect_right(turns, at, key=lambda turn: (turn.minute, turn.round))
    if following == len(turns):
        return None
    rows = turns[following].facts.get("rows")
    return rows if isinstance(rows, int) else None


def _turns_of(day: TraceDay) -> dict[str, list[SentMessage]]:
    """The turns that every firm has on a day, in order."""
    turns = _TURNS.get(day)
    if turns is None:
        turns = _TURNS[day] = defaultdict(list)
        for message in day.messages:
            if message.type == "turn":
                turns[message.recipient].append(message)
    return turns


_TURNS: WeakKeyDictionary[TraceDay, dict[str, list[SentMessage]]] = WeakKeyDictionary()


def _goes_on(message: SentMessage) -> bool:
    """Whether a message only says that it is a firm's turn again."""
    return message.type == "turn" and '"reason"' not in message.body


def _begins_day(message: SentMessage) -> bool:
    return message.type == "turn" and message.facts.get("reason") == "morning"


def causes(reader: TraceReader, message: SentMessage, most: int) -> Chain:
    """The chain of causes of a message, its root first, the message itself last.

    It ends at a morning: the sun rises without anybody's doing, though a firm's last command of the
    day before may count as the cause of its first turn. What a policy has decided for the sender on
    that day is among the steps, whatever the chain leaves out.

    Args:
        reader: The run.
        message: Where the chain ends.
        most: Steps of the chain that are told; the root is always among them.
    """
    steps: list[Step] = []
    seen: set[str] = set()
    at: SentMessage | None = message
    while at is not None and at.id not in seen:
        seen.add(at.id)
        if at is not message:
            day = reader.day(at.day)
            steps += [
                of_event(event, day)
                for event in reversed(day.events_because_of(at.id))
                if event.kind in DECISIONS
            ]
            spans = own_spans(reader.identity, day).of_messages.get(at.id, ())
            steps += [of_span(span) for span in reversed(spans)]
        if not _goes_on(at) or at is message:
            steps.append(of_message(reader.day(at.day), at))
        source = at.source
        if source is None or _begins_day(at):
            break
        at = reader.day(at.day).message(source) or reader.find_message(source)
    left_out = max(0, len(steps) - most)
    if left_out:
        steps = [*steps[: most - 1], steps[-1]]
    told = steps[::-1]
    decided = _decided(reader.day(message.day), message)
    if decided is not None and all(step.id != decided.id for step in told):
        told.insert(bisect_right(told[:-1], decided.minute, key=lambda s: s.minute), decided)
    return Chain(told, left_out, frozenset(seen))


def _decided(day: TraceDay, message: SentMessage) -> Step | None:
    """What a policy had last decided for the sender that day: it holds until the next decision."""
    at = message.minute, message.round
    found = [
        event
        for event in day.events
        if event.kind in DECISIONS
        and event.subject == message.sender
        and (event.minute, event.round) < at
    ]
    return of_event(found[-1], day) if found else None


def effects(reader: TraceReader, message: SentMessage, limits: Limits) -> Node:
    """What a message led to on its day, as a tree whose root is the message."""
    day = reader.day(message.day)
    spans = own_spans(reader.identity, day)
    children = _sides(day, spans, message, limits, limits.depth)
    following = _next(day, message)
    if following is not None:
        children += _thread(day, spans, following, limits, limits.depth - 1)
    return _node(of_message(day, message), children, limits)


def of_wake(reader: TraceReader, span: OwnSpan, limits: Limits) -> Node:
    """A wake-up in which an own span lies, with all its spans and what its agent sent in it."""
    day = reader.day(span.minute // MINUTES_PER_DAY)
    spans = own_spans(reader.identity, day)
    told = Step(wake_name(span), span.minute, span.agent, f"{span.agent} is woken")
    children = [Node(of_span(s), []) for s in spans.of_wakes.get((span.agent, span.minute), ())]
    for sent in day.messages:
        if sent.minute == span.minute and sent.sender == span.agent and sent.source is None:
            below = _sides(day, spans, sent, limits, limits.depth - 1)
            children.append(_node(of_message(day, sent), below, limits))
    return _node(told, children, limits)


def _node(step: Step, children: list[Node], limits: Limits) -> Node:
    more = len(children) - limits.children
    if more <= 0:
        return Node(step, children)
    return Node(step, children[: limits.children], more)


def _thread(
    day: TraceDay, spans: OwnSpans, first: SentMessage, limits: Limits, depth: int
) -> list[Node]:
    """What an agent does from a message on, step by step, each with what came of it."""
    nodes = []
    at: SentMessage | None = first
    while at is not None:
        sides = _sides(day, spans, at, limits, depth)
        if sides or limits.formalities or not _is_formality(day, at):
            nodes.append(_node(of_message(day, at), sides, limits))
        at = _next(day, at)
    return nodes


def _is_formality(day: TraceDay, message: SentMessage) -> bool:
    return _goes_on(message) or (
        message.type.startswith(_FORMALITIES) and outcome(day, message) is not None
    )


def _next(day: TraceDay, message: SentMessage) -> SentMessage | None:
    """The command with which a firm goes on after another one, or after being told of something."""
    turn = message
    if message.type != "turn":
        found = [
            sent
            for sent in day.sent_because_of(message.id)
            if sent.recipient == message.sender and _goes_on(sent)
        ]
        if not found:
            return None
        turn = found[0]
    answers = [s for s in day.sent_because_of(turn.id) if s.in_reply_to == turn.id]
    return answers[0] if answers else None


def _sides(
    day: TraceDay, spans: OwnSpans, message: SentMessage, limits: Limits, depth: int
) -> list[Node]:
    """What came of a message, apart from its sender's going on."""
    if depth <= 0:
        return []
    own, following = outcome(day, message), _next(day, message)
    nodes = _thoughts(spans, message)
    nodes += [
        Node(of_event(event, day), [])
        for event in day.events_because_of(message.id)
        if event is not own and not (own is not None and event.kind in SAID_BY_COMMAND)
    ]
    for sent in day.sent_because_of(message.id):
        if sent is following:
            continue
        if sent.recipient == message.sender and _goes_on(sent):
            nodes += _besides(day, spans, sent, following, limits, depth)
            continue
        children = _sides(day, spans, sent, limits, depth - 1)
        answer = _next(day, sent) if sent.type == "turn" else None
        if answer is not None and depth > 1:
            children += _thread(day, spans, answer, limits, depth - 1)
        nodes.append(_node(of_message(day, sent), children, limits))
    return nodes


def _thoughts(spans: OwnSpans, message: SentMessage) -> list[Node]:
    """The own spans of whoever handled a message."""
    return [Node(of_span(span), []) for span in spans.of_messages.get(message.id, ())]


def _besides(
    day: TraceDay,
    spans: OwnSpans,
    turn: SentMessage,
    following: SentMessage | None,
    limits: Limits,
    depth: int,
) -> list[Node]:
    """What a firm does at a turn besides its command: own spans, words to a controller perhaps."""
    return _thoughts(spans, turn) + [
        _node(of_message(day, sent), _sides(day, spans, sent, limits, depth - 1), limits)
        for sent in day.sent_because_of(turn.id)
        if sent is not following
    ]


def size(nodes: Iterable[Node]) -> int:
    """How many steps trees have."""
    return sum(1 + size(node.children) for node in nodes)

"""What a user asks about: a message or one of a town's papers, by the id that is shown everywhere.

Papers are numbered by each town: ``D12`` is a deal of every town that has made twelve. With several
towns ``D12@exchange_Visby`` (or ``D12@Visby``) says which is meant.
"""

from __future__ import annotations

import difflib
import re
from typing import Final, NamedTuple, NoReturn

from services.errors import HanseError
from services.messages import MINUTES_PER_DAY
from services.runs import Run
from services.telemetry.logged import LoggedEvent, SentMessage
from services.telemetry.reader import TraceReader

PAPERS: Final = {
    "L": "listing",
    "O": "offer",
    "D": "deal",
    "I": "invoice",
    "M": "letter",
    "F": "order abroad",
}
"""What a town numbers, by the letter before the number."""

_PAPER: Final = re.compile(r"([LODIMFlodimf])([1-9][0-9]{0,17})(?:@(.+))?")
_MESSAGE: Final = re.compile(r"(.+)#([0-9]{1,18})")
_EVENT: Final = re.compile(r"(.+)[:!]([0-9]{1,18})")
_PREFIX: Final = "exchange_"
_SHOWN: Final = 8


class Paper(NamedTuple):
    """Something that a town has given a number."""

    exchange: str
    id: str

    @property
    def kind(self) -> str:
        """``listing``, ``offer``, ``deal``, ``invoice``, ``letter`` or ``order abroad``."""
        return PAPERS[self.id[0]]


def exchanges(run: Run) -> list[str]:
    """The agents that are towns' exchanges; none before the first day is complete."""
    rows = run.rows("events", "kind = 'day_end'", days=range(0, 1))
    return sorted({row[2] for row in rows}, key=_natural)


def event_named(reader: TraceReader, text: str) -> LoggedEvent | None:
    """The event that an id such as ``exchange:118`` names; None if it is no such id.

    Raises:
        HanseError: There is no such event.
    """
    named = _EVENT.fullmatch(text.strip())
    if named is None:
        return None
    rows = reader.run.rows("events", "agent = ? AND ordinal = ?", (named[1], int(named[2])))
    for row in rows:
        return LoggedEvent(row[0] // MINUTES_PER_DAY, *row)
    raise HanseError(f"{reader.run.folder}: there is no event {text}")


def _natural(name: str) -> tuple[str, int, str]:
    """``town_2`` comes before ``town_10``."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0), name


def locate(reader: TraceReader, text: str, town: str | None = None) -> SentMessage | Paper:
    """What an id names in a run.

    Args:
        reader: The run.
        text: ``farmer_A#12``, ``D12``, ``D12@exchange_Visby``.
        town: Whose paper it is, where the id does not say: a town or its exchange.

    Raises:
        HanseError: It is no id, there is no such thing, or several towns have it.
    """
    text = text.strip()
    if paper := _PAPER.fullmatch(text):
        letter, number, of = paper[1].upper(), paper[2], paper[3]
        if of and town and _exchange(of) != _exchange(town):
            raise HanseError(f"{text}: --town says {town}; name one town")
        return _paper(reader.run, letter, int(number), of or town)
    if message := _MESSAGE.fullmatch(text):
        return _message(reader, message[1], int(message[2]))
    if text in agents(reader.run):
        raise HanseError(f"{text} is an agent; see: hanse trace RUN story {text}")
    raise HanseError(
        f"{text!r} is no id; name a message (farmer_A#12), a listing (L5), an offer (O33),"
        " a deal (D12), an invoice (I7), a letter (M3) or an order abroad (F2)"
    )


def _exchange(town: str) -> str:
    return town if town == "exchange" or town.startswith(_PREFIX) else _PREFIX + town


def _paper(run: Run, letter: str, number: int, town: str | None) -> Paper:
    known, id = exchanges(run), f"{letter}{number}"
    if not known:
        raise HanseError(f"{run.folder}: no day is complete yet, so there is no {id}")
    if town is not None:
        exchange = "exchange" if known == ["exchange"] and town in _towns(run) else _exchange(town)
        if exchange not in known:
            close = difflib.get_close_matches(exchange, known, n=1)
            hint = f" (did you mean {close[0].removeprefix(_PREFIX)}?)" if close else ""
            raise HanseError(f"{town}: there is no such town{hint}; there are {_listed(known)}")
        chosen = [exchange]
    else:
        chosen = known
    found = [exchange for exchange in chosen if _exists(run, exchange, letter, id)]
    if len(found) == 1:
        return Paper(found[0], id)
    if found:
        choices = [f"{id}@{exchange}" for exchange in found]
        raise HanseError(
            f"{id}: {len(found)} towns have {_a(PAPERS[letter])} {id}; name one of"
            f" {_few(choices)}, or say --town"
        )
    last = {exchange: _last(run, exchange, letter) for exchange in chosen}
    most = max(last, key=lambda exchange: last[exchange])
    where = "" if len(known) == 1 else f" of {most}"
    has = f"the last one{where} is {letter}{last[most]}" if last[most] else "there are none at all"
    raise HanseError(f"{run.folder}: there is no {PAPERS[letter]} {id}; {has}")


def _a(paper: str) -> str:
    return f"{'an' if paper[0] in 'aeiou' else 'a'} {paper}"


def _issued(letter: str) -> tuple[str, str]:
    """The condition for the events by which papers come into being, and what stands before the id.

    Invoices are written by the town, the others by a command that says their id.
    """
    if letter == "I":
        return "kind = 'invoice'", '"invoice":"'
    return "kind = 'action'", '"new_id":"'


def _towns(run: Run) -> list[str]:
    """The towns as the configuration calls them."""
    towns = run.manifest.config.get("towns")
    named = [str(t.get("name")) for t in towns if isinstance(t, dict)] if towns else []
    return named or ["town"]


def _exists(run: Run, exchange: str, letter: str, id: str) -> bool:
    condition, before = _issued(letter)
    where = f"agent = ? AND {condition} AND instr(body, ?)"
    return run.count("events", where, (exchange, f'{before}{id}"')) > 0


def _last(run: Run, exchange: str, letter: str) -> int:
    condition, before = _issued(letter)
    mark = before + letter
    where = f"agent = ? AND {condition} AND instr(body, ?)"
    last = 0
    for row in run.rows("events", where, (exchange, mark)):
        number = row[-1].split(mark, 1)[1].split('"', 1)[0]
        if number.isdecimal():
            last = max(last, int(number))
    return last


def _message(reader: TraceReader, sender: str, number: int) -> SentMessage:
    found = reader.find_message(f"{sender}#{number}")
    if found is not None:
        return found
    run = reader.run
    numbers = [row[3] for row in run.rows("messages", "sender = ?", (sender,))]
    if numbers:
        raise HanseError(
            f"{run.folder}: there is no message {sender}#{number};"
            f" {sender} has sent {sender}#{min(numbers)} to {sender}#{max(numbers)}"
        )
    unknown_agent(reader, sender)


def unknown_agent(reader: TraceReader, agent: str) -> NoReturn:
    """Says that there is no such agent, and whom the user may have meant.

    Raises:
        HanseError: Always.
    """
    known = sorted(agents(reader.run))
    close = difflib.get_close_matches(agent, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {_few(known)}"
    raise HanseError(f"{reader.run.folder}: there is no agent {agent}; {hint}")


def agents(run: Run) -> set[str]:
    """Who has sent or received anything on the first day."""
    return {name for row in run.rows("messages", days=range(0, 1)) for name in (row[2], row[4])}


def _listed(known: list[str]) -> str:
    return _few([name.removeprefix(_PREFIX) for name in known])


def _few(names: list[str]) -> str:
    more = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown

"""Payload bodies as vectors: words by hashing (or a model), numbers by what is usual."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.events import DIMENSIONS
from monitors.caspian.feed.hashing import HashedText, unit
from monitors.caspian.feed.numeric import NumberFeatures
from monitors.caspian.feed.registry import LEAGUE, Numbers, Registry, content_of
from services.errors import HanseError
from services.runs.bodies import body_of

CACHED: Final = 16_384
"""Bodies whose words are kept: about 10 MB."""

NOTHING, NUMBERS, WORDS = 0, 1, 2
"""What a vector is made of: nothing, numbers alone, or words (perhaps with numbers). Vectors of
words and vectors of numbers do not compare."""


class TextFeatures(Protocol):
    """Makes vectors of texts: `HashedText`, or a model (`embeddings`)."""

    @property
    def name(self) -> str:
        """Tells encodings apart that do not compare."""

    def vectors(self, texts: Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
        """A unit vector for each text, (n, D) float32; zeros where a text says nothing.

        The same text must always have the same vector, whatever comes with it.
        """


@dataclass(frozen=True, slots=True)
class Encoded:
    """The vectors of n bodies."""

    vectors: NDArray[np.float32]
    """(n, D), of length 1, or 0 where there is nothing."""
    made_of: list[int]
    """(n,) :data:`NOTHING`, :data:`NUMBERS` or :data:`WORDS`."""
    unreadable: list[int]
    """Places of bodies that are no JSON objects."""
    unfit: int
    """Numbers left out because they are not finite."""


class _Known(NamedTuple):
    """What is kept of a body: its words' vector does not change, its numbers' does."""

    words: NDArray[np.float32] | None
    numbers: Numbers
    unfit: int
    readable: bool


class Encoder:
    """Turns bodies into vectors, batch by batch.

    Its only state is what it knows of usual numbers; the cache of texts changes no result.

    Args:
        text: How words become vectors.
        registry: Which parts of a body count.
        cached: Bodies to keep, the most recently used ones.
    """

    def __init__(
        self,
        text: TextFeatures | None = None,
        registry: Registry = LEAGUE,
        cached: int = CACHED,
    ) -> None:
        self.text: TextFeatures = HashedText() if text is None else text
        self.registry = registry
        self._numbers = NumberFeatures()
        self._cached = cached
        self._cache: OrderedDict[tuple[str, str], _Known] = OrderedDict()

    def encode(self, bodies: Sequence[tuple[str, str]]) -> Encoded:
        """The vectors of a batch.

        Args:
            bodies: Payload types and JSON texts, in the order of the log.
        """
        known = self._look_up(bodies)
        vectors = np.zeros((len(bodies), DIMENSIONS), np.float32)
        worded = [place for place, one in enumerate(known) if one.words is not None]
        if worded:
            vectors[worded] = np.stack([one.words for one in known if one.words is not None])
        made_of = [NOTHING] * len(bodies)
        for place in worded:
            made_of[place] = WORDS
        numbered = [place for place, one in enumerate(known) if one.numbers]
        if numbered:
            self._add_numbers(bodies, known, numbered, vectors, made_of)
        return Encoded(
            vectors,
            made_of,
            [place for place, one in enumerate(known) if not one.readable],
            sum(one.unfit for one in known),
        )

    def _add_numbers(
        self,
        bodies: Sequence[tuple[str, str]],
        known: Sequence[_Known],
        numbered: list[int],
        vectors: NDArray[np.float32],
        made_of: list[int],
    ) -> None:
        batch = [(bodies[place][0], known[place].numbers) for place in numbered]
        found = self._numbers.vectors(batch)
        informative: list[bool] = np.any(found, axis=1).tolist()
        for row, place in enumerate(numbered):
            if not informative[row]:
                continue
            if made_of[place] == WORDS:
                weight = self.registry[bodies[place][0]].numbers_weight
                vectors[place] += np.float32(weight) * found[row]
            else:
                vectors[place] = found[row]
                made_of[place] = NUMBERS
        vectors[numbered] = unit(vectors[numbered])

    def _look_up(self, bodies: Sequence[tuple[str, str]]) -> list[_Known]:
        cache = self._cache
        found: list[_Known | None] = []
        missing: dict[tuple[str, str], None] = {}
        for key in bodies:
            one = cache.get(key)
            if one is None:
                missing[key] = None
            else:
                cache.move_to_end(key)
            found.append(one)
        if not missing:
            return found  # type: ignore[return-value]
        fresh = self._read(list(missing))
        # Numbers hardly ever come twice.
        cache.update((key, one) for key, one in fresh.items() if one.words is not None)
        while len(cache) > self._cached:
            cache.popitem(last=False)
        return [fresh[key] if one is None else one for key, one in zip(bodies, found, strict=True)]

    def _read(self, bodies: list[tuple[str, str]]) -> dict[tuple[str, str], _Known]:
        contents = []
        for kind, text in bodies:
            body = body_of(text)
            contents.append(None if body is None else content_of(body, self.registry[kind]))
        worded = [place for place, one in enumerate(contents) if one is not None and one.words]
        found = self.text.vectors([contents[place].words for place in worded])  # type: ignore[union-attr]
        says: list[bool] = np.any(found, axis=1).tolist()
        # A copy of its own: a view would keep the whole batch alive in the cache.
        vectors = {
            place: vector.copy()
            for place, vector, speaks in zip(worded, found, says, strict=True)
            if speaks
        }
        read = {}
        for place, (key, one) in enumerate(zip(bodies, contents, strict=True)):
            if one is None:
                read[key] = _Known(None, (), 0, readable=False)
            else:
                read[key] = _Known(vectors.get(place), one.numbers, one.unfit, readable=True)
        return read

    def save(self) -> dict[str, Any]:
        """What it knows of usual numbers, as plain data, exact."""
        return {"text": self.text.name, "numbers": self._numbers.save()}

    def load(self, saved: dict[str, Any]) -> None:
        """Takes back what :meth:`save` returned.

        Raises:
            HanseError: It was saved with another encoding of words.
        """
        if saved["text"] != self.text.name:
            raise HanseError(
                f"the monitor's state was saved with the text encoding {saved['text']!r}, not"
                f" {self.text.name!r}; go on with the encoding that the run began with"
            )
        self._numbers.load(saved["numbers"])


def tally(encoded: Encoded, dropped: Counter[str]) -> None:
    """Adds what could not be read to the counts of what was dropped, by reason."""
    if encoded.unreadable:
        dropped["no JSON object"] += len(encoded.unreadable)
    if encoded.unfit:
        dropped["number not finite"] += encoded.unfit

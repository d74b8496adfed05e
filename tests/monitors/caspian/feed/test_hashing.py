import subprocess
import sys
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitors.caspian.events import DIMENSIONS
from monitors.caspian.feed.hashing import LONGEST, HashedText
from services.talk.vocabulary import mutated, sentence

HASHED = HashedText()


def cosine(one, other):
    u, v = HASHED.vectors([(one,), (other,)])
    return float(u @ v)


@given(st.lists(st.text(max_size=60), max_size=3))
def test_a_text_has_a_finite_vector_of_length_one_or_zero(passages):
    [vector] = HASHED.vectors([tuple(passages)])
    length = np.linalg.norm(vector)
    assert vector.shape == (DIMENSIONS,) and vector.dtype == np.float32
    assert length == 0 or abs(length - 1) < 1e-6


def test_a_text_without_words_has_no_vector():
    assert not HASHED.vectors([(), ("",), ("...!",)]).any()


def test_what_comes_with_a_text_does_not_change_its_vector():
    alone = HASHED.vectors([("frost in huila",)])
    among = HASHED.vectors([("rain",), ("frost in huila",)])
    assert alone[0].tobytes() == among[1].tobytes()


def test_a_text_has_the_same_vector_in_every_process():
    program = (
        "from monitors.caspian.feed.hashing import HashedText as H;"
        "print(H().vectors([('Frost in Huila, 1.5 times', 'naïve café')]).tobytes().hex())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    here = HASHED.vectors([("Frost in Huila, 1.5 times", "naïve café")]).tobytes().hex()
    assert said == {here + "\n"}


def test_case_and_punctuation_make_no_difference():
    assert cosine("Frost, in Huila!", "frost in huila") > 0.999


def test_the_order_of_words_makes_some_difference():
    same_words = cosine("growers expect frost in huila", "huila in frost expect growers")
    assert 0.3 < same_words < 0.9


def test_pairs_of_words_do_not_reach_over_the_end_of_a_sentence():
    assert cosine("frost comes. prices rise", "prices rise. frost comes") > 0.999


def test_unrelated_sentences_deviate_by_about_one_over_the_root_of_the_dimensions():
    rng = Random(1)
    texts = HASHED.vectors([(sentence(rng),) for _ in range(400)])
    cosines = np.einsum("nd,nd->n", texts[::2], texts[1::2])
    assert abs(cosines.mean()) < 0.05
    assert 0.8 < cosines.std() * np.sqrt(DIMENSIONS) < 1.3


def test_a_retold_sentence_stays_far_more_alike_than_unrelated_ones():
    rng = Random(2)
    told = [sentence(rng) for _ in range(200)]
    retold = [mutated(words, rng, 0.25) for words in told]
    cosines = np.einsum(
        "nd,nd->n",
        HASHED.vectors([(words,) for words in told]),
        HASHED.vectors([(words,) for words in retold]),
    )
    assert cosines.mean() > 4 / np.sqrt(DIMENSIONS)


def test_only_so_much_of_a_long_text_is_looked_at():
    start = "frost in huila " * (LONGEST // 15 + 1)
    assert cosine(start, start + "and quite different things " * 500) > 0.999

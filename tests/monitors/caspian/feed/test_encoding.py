import json
from collections import Counter

import numpy as np
import pytest

from monitors.caspian.events import DIMENSIONS
from monitors.caspian.feed.encoding import NOTHING, NUMBERS, WORDS, Encoder, tally
from monitors.caspian.feed.registry import Fields, Registry
from services.errors import HanseError


def note(text):
    return ("market_note", json.dumps({"text": text}))


def status(rng):
    return ("status_reply", json.dumps({"load": rng.random(), "latency": rng.normal(9, 2)}))


class Counting:
    """A text model that counts what it is asked for."""

    name = "counting"

    def __init__(self):
        self.asked = Counter()

    def vectors(self, texts):
        self.asked.update(texts)
        rows = np.zeros((len(texts), DIMENSIONS), np.float32)
        rows[:, 0] = [bool(words) for words in texts]
        return rows


def test_words_numbers_and_nothing_are_told_apart():
    rng = np.random.default_rng(0)
    encoder = Encoder()
    encoder.encode([status(rng) for _ in range(100)])
    encoded = encoder.encode([note("frost"), status(rng), ("board_read", "{}"), note("")])
    assert encoded.made_of == [WORDS, NUMBERS, NOTHING, NOTHING]
    np.testing.assert_allclose(np.linalg.norm(encoded.vectors, axis=1), [1, 1, 0, 0], rtol=1e-5)


def test_numbers_beside_words_turn_the_vector_a_little():
    encoder = Encoder(registry=Registry({}))
    rng = np.random.default_rng(1)
    bodies = [
        ("mixed", json.dumps({"text": "frost", "a": rng.normal(), "b": rng.normal()}))
        for _ in range(100)
    ]
    encoder.encode(bodies)
    [with_numbers, words] = encoder.encode([bodies[0], note("frost")]).vectors
    # a unit vector and one of length 1/2, about at right angles: 1/sqrt(1.25)
    assert with_numbers @ words == pytest.approx(1 / np.sqrt(1.25), abs=0.15)
    assert np.linalg.norm(with_numbers) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("body", ["", "{", "[1]", "null", '"text"', "[" * 100_000])
def test_a_body_that_is_no_json_object_is_counted_and_not_raised(body):
    dropped: Counter[str] = Counter()
    encoded = Encoder().encode([("market_note", body), note("frost")])
    tally(encoded, dropped)
    assert encoded.made_of == [NOTHING, WORDS]
    assert dropped == {"no JSON object": 1}


def test_a_number_that_is_not_finite_is_counted_each_time_even_from_the_cache():
    dropped: Counter[str] = Counter()
    encoder = Encoder()
    for _ in range(2):
        tally(encoder.encode([("status_reply", '{"load": NaN}')]), dropped)
    assert dropped == {"number not finite": 2}


def test_a_text_is_encoded_once_as_long_as_it_is_remembered():
    text = Counting()
    encoder = Encoder(text, cached=2)
    for said in ("a", "a", "b", "a", "c", "a", "b"):
        encoder.encode([note(said)])
    assert text.asked == {("a",): 1, ("b",): 2, ("c",): 1}


def test_the_cache_changes_no_result():
    rng = np.random.default_rng(2)
    batches = [[note(f"word{i % 5}"), status(rng), note(f"word{i % 3}")] for i in range(60)]
    big, none = Encoder(), Encoder(cached=0)
    for batch in batches:
        assert big.encode(batch).vectors.tobytes() == none.encode(batch).vectors.tobytes()


def test_one_text_in_two_payload_types_is_read_by_the_rules_of_each():
    encoder = Encoder(registry=Registry({"mute": Fields(words=(), numbers=())}))
    body = '{"text": "frost"}'
    assert encoder.encode([("loud", body), ("mute", body)]).made_of == [WORDS, NOTHING]


def test_what_was_saved_goes_on_exactly():
    rng = np.random.default_rng(3)
    encoder, other = Encoder(), Encoder()
    encoder.encode([status(rng) for _ in range(100)])
    other.load(json.loads(json.dumps(encoder.save())))
    batch = [status(rng) for _ in range(10)]
    assert encoder.encode(batch).vectors.tobytes() == other.encode(batch).vectors.tobytes()


def test_a_state_is_refused_that_was_saved_with_another_encoding_of_words():
    with pytest.raises(HanseError, match=r"hashed-1-2-grams.*, not 'counting'"):
        Encoder(Counting()).load(Encoder().save())

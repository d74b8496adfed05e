import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.caspian.events import DIMENSIONS
from monitors.caspian.feed.numeric import SETTLED, Moments, NumberFeatures, levels

FIELDS = ("errors", "latency", "load", "tokens")


def usual(rng, count, kind="status", fields=FIELDS):
    values = rng.normal((5.0, 100.0, 0.5, 2_000.0)[: len(fields)], 1.0, (count, len(fields)))
    return [(kind, tuple(zip(fields, row.tolist(), strict=True))) for row in values]


def settled(rng=None, kinds=("status",)):
    features = NumberFeatures()
    rng = np.random.default_rng(0) if rng is None else rng
    for kind in kinds:
        features.vectors(usual(rng, 500, kind))
        features.vectors(usual(rng, 500, kind))
    return features


def test_nothing_is_said_before_enough_was_seen_to_know_what_is_usual():
    features = NumberFeatures()
    rng = np.random.default_rng(0)
    assert not features.vectors(usual(rng, SETTLED)).any()
    assert features.vectors(usual(rng, 1)).any()


def test_vectors_have_length_one():
    rows = settled().vectors(usual(np.random.default_rng(1), 50))
    assert rows.shape == (50, DIMENSIONS)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)


def test_unrelated_numbers_are_spread_over_far_more_directions_than_there_are_numbers():
    rows = settled().vectors(usual(np.random.default_rng(2), 2_000))
    cosines = np.einsum("nd,nd->n", rows[::2], rows[1::2])
    assert abs(cosines.mean()) < 0.05
    assert cosines.std() < 1 / np.sqrt(len(FIELDS))


def test_numbers_that_are_alike_have_vectors_that_are_alike():
    features = settled()
    rng = np.random.default_rng(3)
    batch = usual(rng, 200)
    near = [(k, tuple((n, v + 0.2 * rng.normal()) for n, v in some)) for k, some in batch]
    rows = features.vectors([*batch, *near])
    assert np.einsum("nd,nd->n", rows[:200], rows[200:]).mean() > 0.8


def test_payload_types_compare_by_the_names_of_their_fields():
    features = settled(kinds=("request", "reply", "other"))
    wild = {"errors": 9.0, "latency": 103.0, "load": 3.0, "tokens": 2_003.0}
    request, reply = features.vectors(
        [("request", tuple(wild.items())), ("reply", tuple(wild.items()))]
    )
    assert request @ reply > 0.9


def test_a_field_that_never_varies_is_not_informative():
    features = NumberFeatures()
    rng = np.random.default_rng(4)
    constant = [("s", (("a", 3.0), ("b", float(rng.normal())))) for _ in range(100)]
    features.vectors(constant)
    assert not features.vectors(constant[:5]).any()


def test_a_payload_without_any_informative_number_says_nothing():
    features = settled()
    features.vectors([("status", (("new", 1.0),))])
    assert not features.vectors([("status", (("new", 1.0),))]).any()


def test_values_beyond_the_highest_level_are_all_alike():
    features = settled()
    start = dict(zip(FIELDS, (5.0, 100.0, 0.5, 2_000.0), strict=True))
    near, far, farther = features.vectors(
        [("status", tuple({**start, "errors": value}.items())) for value in (5.0, 500.0, 5e9)]
    )
    assert far @ farther > 0.999
    assert near @ far < 0.9


def test_a_level_is_one_at_one_deviation_two_at_three_and_three_at_seven():
    found = levels(np.array([0.0, 1.0, 3.0, 7.0, -3.0]))
    np.testing.assert_allclose(found, [0, 1, 2, 3, -2])


def test_what_is_far_out_says_the_same_whatever_the_noise_of_the_other_fields():
    """Payloads with a load of twenty deviations are much alike, those with a usual one less."""
    features, rng = settled(), np.random.default_rng(6)

    def with_load(value):
        return [(k, (*some[:2], ("load", value), some[3])) for k, some in usual(rng, 200)]

    def likeness(value):
        rows = features.vectors(with_load(value))
        return np.einsum("nd,nd->n", rows[::2], rows[1::2]).mean()

    assert likeness(20.5) > likeness(1.0) + 0.2 > 0.5


def test_high_levels_of_different_fields_are_more_alike_than_usual_ones():
    """Who repeats its requests and who cannot answer them tell of the same storm."""
    features, rng = settled(), np.random.default_rng(7)
    start = dict(zip(FIELDS, (5.0, 100.0, 0.5, 2_000.0), strict=True))

    def likeness(value):
        errors = [("status", tuple({**start, "errors": 5.0 + value}.items()))]
        loads = [("status", tuple({**start, "load": 0.5 + value}.items()))]
        one, other = features.vectors([*errors, *loads, *usual(rng, 1)])[:2]
        return float(one @ other)

    assert likeness(20.0) > 0.3


def test_a_batch_is_not_measured_by_itself():
    """Neither the order of a batch nor its division may change what a payload's vector is."""
    rng = np.random.default_rng(5)
    batch = usual(rng, 30)
    one = settled().vectors(batch)
    turned = settled().vectors(batch[::-1])[::-1]
    np.testing.assert_array_equal(one, turned)


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=40), st.integers(1, 39))
def test_moments_of_parts_are_the_moments_of_the_whole(values, cut):
    column = np.array(values)[:, None]
    moments = Moments.of(1)
    moments.add(column[:cut])
    moments.add(column[cut:])
    assert moments.count[0] == len(values)
    np.testing.assert_allclose(moments.mean[0], column.mean(), atol=1e-9)
    np.testing.assert_allclose(moments.variance[0], column.var(), atol=1e-6)


def test_a_missing_value_does_not_count_in_the_moments():
    moments = Moments.of(2)
    moments.add(np.array([[1.0, np.nan], [3.0, 7.0]]))
    assert moments.count.tolist() == [2, 1]
    assert moments.mean.tolist() == [2.0, 7.0]


def test_old_values_are_forgotten_in_the_end():
    moments = Moments.of(1)
    moments.add(np.zeros((5_000, 1)))
    for _ in range(50):
        moments.add(np.full((100, 1), 10.0))
    assert moments.mean[0] == pytest.approx(10, abs=0.1)


def test_what_was_saved_goes_on_exactly():
    rng = np.random.default_rng(6)
    features = settled(rng)
    later = usual(rng, 40)
    other = NumberFeatures()
    other.load(json.loads(json.dumps(features.save())))
    for _ in range(2):
        assert features.vectors(later).tobytes() == other.vectors(later).tobytes()

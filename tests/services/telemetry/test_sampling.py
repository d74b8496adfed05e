"""Which spans are exported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace.sampling import Decision, TraceIdRatioBased

from services.errors import HanseError
from services.telemetry.sampling import Sampling
from tests.services.telemetry.made_spans import span, spans


def _sampling(name: str = "", argument: str = "") -> Sampling:
    return Sampling.from_environment(
        {"OTEL_TRACES_SAMPLER": name, "OTEL_TRACES_SAMPLER_ARG": argument}
    )


def test_without_a_sampler_every_span_is_kept() -> None:
    assert Sampling.from_environment({}).keeps_all
    assert all(map(Sampling.from_environment({}).keeps, spans(50)))


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("always_on", True),
        ("parentbased_always_on", True),
        ("ALWAYS_ON", True),
        ("always_off", False),
        ("parentbased_always_off", False),
    ],
)
def test_the_samplers_without_a_ratio_keep_all_or_nothing(name: str, kept: bool) -> None:
    assert {_sampling(name).keeps(s) for s in spans(50)} == {kept}


@pytest.mark.parametrize("name", ["traceidratio", "parentbased_traceidratio"])
@given(ratio=st.floats(0, 1), trace=st.integers(1, 2**128 - 1))
def test_the_ratio_decides_by_trace_id_as_the_sdk_does(name: str, ratio: float, trace: int) -> None:
    decision = TraceIdRatioBased(ratio).should_sample(None, trace, "any").decision
    kept = _sampling(name, repr(ratio)).keeps(span(trace_id=trace))
    assert kept is (decision is Decision.RECORD_AND_SAMPLE)


def test_a_tenth_of_the_traces_is_about_a_tenth() -> None:
    sampling = _sampling("traceidratio", "0.1")
    assert 60 < sum(map(sampling.keeps, spans(1000))) < 140


def test_all_spans_of_a_trace_share_its_fate() -> None:
    sampling = _sampling("traceidratio", "0.5")
    for whole in spans(50):
        children = [s._replace(trace_id=whole.trace_id) for s in spans(5, first=1000)]
        assert {sampling.keeps(s) for s in children} == {sampling.keeps(whole)}


def test_a_span_with_an_error_is_kept_whatever_the_ratio() -> None:
    sampling = _sampling("traceidratio", "0")
    assert sampling.keeps(span(error="refused"))
    assert not sampling.keeps(span())


def test_an_alert_is_kept_whatever_the_ratio() -> None:
    sampling = _sampling("traceidratio", "0")
    assert sampling.keeps(span(name="alert cascade"))
    assert sampling.keeps(span(name="alert"))
    assert not sampling.keeps(span(name="alerting"))


def test_off_is_off_for_errors_too() -> None:
    assert not _sampling("always_off").keeps(span(error="refused"))


def test_a_ratio_that_is_not_given_is_one() -> None:
    assert all(map(_sampling("traceidratio").keeps, spans(50)))


def test_an_unknown_sampler_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(
        HanseError,
        match=r"^OTEL_TRACES_SAMPLER='sometimes' is none of always_off, always_on,"
        r" parentbased_always_off, .*, traceidratio$",
    ):
        _sampling("sometimes")


@pytest.mark.parametrize("argument", ["much", "1.5", "-0.1", "nan"])
def test_a_ratio_that_is_none_is_refused_in_one_line(argument: str) -> None:
    with pytest.raises(HanseError, match=r"^OTEL_TRACES_SAMPLER_ARG='.*' is not a number from 0"):
        _sampling("traceidratio", argument)

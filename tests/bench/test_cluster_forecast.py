"""What runs on one and two machines say of more."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bench.cluster_forecast import (
    GOOD,
    POOR,
    TEST_BENCH,
    costs,
    error,
    first_other_bottleneck,
    seconds_a_day,
    seconds_on_test_bench,
)
from tests.bench.cluster_model import Workload, predict
from tests.bench.cluster_runs import Measured
from tests.bench.host_usage import HOSTS, KINDS, LEAGUE
from tests.bench.league_calls import Round

CALLS = [Round(2, 0.5e-3, 1e-3, 2.5e-3), Round(10, 2.1e-3, 5e-3, 9e-3)]


def run(hosts: int = 2, messages: int = 1_000, **changes: Any) -> Measured:
    """A league of four days in two seconds."""
    pace = {"rounds": 40, "calls": 40 * hosts, "seconds": 1.6, "slowest": 1.0, "worked": 1.5}
    told = {
        "messages": messages,
        "days": 4,
        "hosts": hosts,
        "wall": 2.0,
        "writes_cpu": 0.03 * hosts,
        "ends_cpu": 0.01 * hosts,
        "pace": pace,
    }
    cpu = {**dict.fromkeys(KINDS, 0.0), HOSTS: 0.05, LEAGUE: 0.02}
    return Measured({**told, **changes}, cpu, 50_000)


def test_a_run_says_how_fast_it_was_and_what_a_message_took() -> None:
    assert run().rate == pytest.approx(500)
    assert run().cpu_per_thousand == pytest.approx(0.07)
    assert run().bytes_per_message == pytest.approx(50)
    assert run().rounds_a_day == pytest.approx(10)


def test_the_time_of_a_run_is_work_calls_and_what_is_between_rounds() -> None:
    assert run().at_work == pytest.approx(0.5)
    assert run().in_calls == pytest.approx(0.3)
    assert run().between == pytest.approx(0.2)
    assert run().call_seconds == pytest.approx(0.6 / 40)


def test_a_host_waits_whenever_it_is_not_at_work() -> None:
    # Two hosts for two seconds, of which they worked 1.5 together.
    assert run().waiting == pytest.approx(1 - 1.5 / 4)


def test_costs_are_those_of_the_runs_the_calls_and_the_network() -> None:
    found = costs([run(1, 500)], [run(2, 1_000)], CALLS, GOOD, threads=True)
    assert found.message == pytest.approx(50e-6)
    assert found.each == pytest.approx(0.5e-3)
    assert found.fixed == pytest.approx(0)
    assert found.latency == pytest.approx(1.5e-3 + 0.1e-3)
    # A day has 0.01 s of recording for 125 messages, and 0.02 s for 250.
    assert found.record == pytest.approx(80e-6)
    assert found.end_of_day == pytest.approx(0)
    assert found.cable == pytest.approx(100)


def test_without_rays_threads_calls_are_cheaper() -> None:
    found = costs([run(1, 500)], [run(2)], CALLS, GOOD, threads=False)
    assert found.each == pytest.approx(0.2e-3)
    assert found.fixed == pytest.approx(0.1e-3)


def test_a_prediction_is_a_range_from_the_better_network_to_the_worse() -> None:
    given = [run(1, 500)], [run(2)], CALLS
    good = costs(*given, GOOD, threads=False)
    poor = costs(*given, POOR, threads=True)
    work = Workload(10, 60, 20_000, 2_200)
    least, most = seconds_a_day(work, good, poor)
    assert least == predict(work, good).best
    assert most == predict(work, poor).worst
    assert least < most


def test_on_few_processors_a_day_takes_longer_than_on_machines_of_their_own() -> None:
    known = costs([run(1, 500)], [run(2)], CALLS, TEST_BENCH, threads=False)
    work = Workload(3, 5, 60_000, 21_000)
    least, most = seconds_on_test_bench(work, known, known, processors=1)
    assert least > predict(work, known).best
    assert most >= least


def test_the_error_is_that_of_the_middle_of_the_range() -> None:
    assert error((2.0, 4.0), 2.5) == pytest.approx(0.2)
    assert error((2.0, 4.0), 4.0) == pytest.approx(-0.25)


def test_the_first_other_bottleneck_is_where_handling_is_no_longer_the_longest() -> None:
    known = costs([run(1, 500)], [run(2)], CALLS, GOOD, threads=False)
    known = known._replace(message=50e-6, record=10e-6, cable=0)
    works = [Workload(n, 1, 100_000 * n, 100_000) for n in range(1, 10)]
    # Five machines' messages take the recorder as long as one machine's its host.
    assert first_other_bottleneck(works, known) == (6, "the recorder")
    assert first_other_bottleneck(works[:4], known) is None

"""What the processes of a host take."""

from __future__ import annotations

import os

import pytest

from tests.bench.host_usage import (
    AUTOSCALER,
    GCS,
    HOSTS,
    KINDS,
    LEAGUE,
    OTHERS,
    RAYLETS,
    Process,
    kind_of,
    spent,
    ticks,
)

SECOND = os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("ray::HostActor.work ", HOSTS),
        ("/lib/ray/core/src/ray/gcs/gcs_server --log_dir=/tmp/ray", GCS),
        ("/lib/ray/core/src/ray/raylet/raylet --raylet_socket_name=/tmp/ray", RAYLETS),
        ("python -u /lib/ray/autoscaler/_private/monitor.py --logs-dir=/tmp", AUTOSCALER),
        ("python cluster_program.py league.json", LEAGUE),
        ("ray::IDLE ", OTHERS),
    ],
)
def test_a_command_line_tells_what_a_process_is(words: str, kind: str) -> None:
    assert kind_of(words) == kind


def test_ticks_are_read_behind_a_name_with_brackets_and_spaces() -> None:
    stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 2 3 4 50 6 70 8 20 0 1 0 99 0 0"
    assert ticks(stat) == (56, 78)


def test_seconds_are_added_up_by_kind() -> None:
    before = {1: Process(HOSTS, 2 * SECOND, 0), 2: Process(HOSTS, 0, 0), 3: Process(GCS, 5, 0)}
    after = {
        1: Process(HOSTS, 3 * SECOND, 0),
        2: Process(HOSTS, SECOND // 2, 0),
        3: Process(GCS, 5, 0),
    }
    seconds = spent(before, after)
    assert seconds[HOSTS] == pytest.approx(1.5)
    assert seconds[GCS] == 0
    assert set(seconds) == set(KINDS)


def test_a_process_that_begins_in_between_is_counted_whole() -> None:
    assert spent({}, {1: Process(RAYLETS, SECOND, 0)})[RAYLETS] == pytest.approx(1)


def test_a_child_that_ends_in_between_is_counted_once_with_its_parent() -> None:
    before = {1: Process(RAYLETS, 0, 0), 2: Process(RAYLETS, SECOND, 0)}
    after = {1: Process(RAYLETS, 0, 3 * SECOND)}
    assert spent(before, after)[RAYLETS] == pytest.approx(2)


def test_what_children_took_before_is_not_counted() -> None:
    before = {1: Process(RAYLETS, 0, 4 * SECOND)}
    after = {1: Process(RAYLETS, SECOND, 4 * SECOND)}
    assert spent(before, after)[RAYLETS] == pytest.approx(1)

"""What there is to do in a league on several machines."""

from __future__ import annotations

import pytest

from tests.bench.cluster_leagues import KINDS, Kind, count

FIRMS = 15


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    chosen: Kind = request.param
    return chosen


def test_a_day_on_one_machine_is_one_round(kind: Kind) -> None:
    work, _ = count(kind, FIRMS, 1, 1)
    assert work.rounds == 1
    assert work.slowest == work.messages > 100
    assert work.imbalance == 1


def test_firms_that_talk_need_many_rounds_a_day_and_others_one() -> None:
    rounds = {kind.name: count(kind, FIRMS, 2, 1)[0].rounds for kind in KINDS}
    assert rounds["trading"] == 1
    assert rounds["talking"] > 10


def test_the_slowest_of_two_machines_has_at_least_half_of_the_messages(kind: Kind) -> None:
    work, _ = count(kind, FIRMS, 2, 1)
    assert work.messages / 2 <= work.slowest < work.messages

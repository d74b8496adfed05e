"""What the page knows of a run before it opens a day."""

from contextlib import closing
from pathlib import Path

from services.runs import Run, RunStore
from services.telemetry.view.overview import Overview, agents_of, ids_of
from tests.services.runs.samples import manifest
from tests.services.telemetry.view.traded import EVIL, Log, play, traded


def test_a_day_is_told_in_messages_events_deals_dollars_and_what_went_wrong(tmp_path: Path) -> None:
    overview = Overview(traded(tmp_path / "run"))
    overview.grow()
    assert overview.days == [
        (7, 3, 1, 1, 0, 90.0, 0, 0, 0, 0),
        (4, 7, 0, 1, 1, 0.0, 1, 1, 0, 0),
        (2, 2, 0, 0, 0, 0.0, 0, 0, 0, 0),
    ]


def test_an_order_is_found_on_every_day_on_which_its_offer_deal_or_invoice_is_named(
    tmp_path: Path,
) -> None:
    overview = Overview(traded(tmp_path / "run"))
    overview.grow()
    order = overview.orders[0]
    assert order.exchange == "exchange"
    assert order.offer == "O1"
    assert order.ids == ["offer:O1", "deal:D1", "invoice:I1"]
    assert order.days == [0, 1, 2]


def test_what_an_exchange_names_in_no_readable_way_is_in_no_order() -> None:
    assert ids_of("deal", {"deal": 12, "offer": "", "invoice": ["I1"]}) == {}
    assert ids_of("action", {"args": "I1", "tool": "make_offer", "new_id": None}) == {}


def test_it_reads_at_least_a_day_however_little_time_there_is(tmp_path: Path) -> None:
    overview = Overview(traded(tmp_path / "run"))
    assert overview.grow(seconds=0.0)
    assert len(overview.days) == 1
    while overview.grow(seconds=0.0):
        pass
    assert len(overview.days) == 3


def test_it_grows_with_the_run(tmp_path: Path) -> None:
    log = Log()
    with closing(RunStore.create(tmp_path / "run", manifest())) as store:
        overview = Overview(Run(tmp_path / "run"))
        assert not overview.grow()
        assert overview.days == []
        play(store, log, 0)
        overview.grow()
        assert len(overview.days) == 1
        play(store, log, 1)
        overview.grow()
        assert [day.errors for day in overview.days] == [1, 1]


def test_firms_are_known_with_role_and_exchange(tmp_path: Path) -> None:
    agents = agents_of(traded(tmp_path / "run"))
    assert agents == [
        {"name": "exchange", "role": "exchange", "hub": None},
        {"name": "farmer_A", "role": "farmer", "hub": "exchange"},
        {"name": "roaster_A", "role": "roaster", "hub": "exchange"},
    ]
    assert EVIL not in [agent["name"] for agent in agents]  # it comes on the second day

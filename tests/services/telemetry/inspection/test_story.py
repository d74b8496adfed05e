"""Story: what an agent saw, said and did, and where it stood every evening."""

from __future__ import annotations

import pytest

from services.errors import HanseError
from services.telemetry.inspection.goods import Evening
from services.telemetry.inspection.shortages import standing
from services.telemetry.inspection.story import Line, Story, story
from tests.services.telemetry.inspection.play import ROASTED


def lines(found: Story, day: int) -> list[str]:
    [chosen] = [of for of in found.days if of.day == day]
    return [line.words for line in chosen.lines]


def line(found: Story, start: str) -> Line:
    [chosen] = [line for day in found.days for line in day.lines if line.words.startswith(start)]
    return chosen


def test_a_day_is_told_in_order_with_what_others_did_to_the_firm(play):
    assert lines(story(play, "bob", range(2, 3)), 2) == [
        "looks at its books",
        "lists 26 kg of roasted coffee at 12.00 $/kg (L3)",
        "bids 4.00 $/kg for 5 kg on L1: refused, the listing is closed (listing_closed)",
        "cid bids 12.00 $/kg for 26 kg on L3 (O3)",
        "looks at the bids on its goods (1)",
        "accepts O3 (D2): 26 kg of roasted coffee for cid at 12.00 $/kg = 312.00 $",
        "waits for the next day",
    ]


def test_a_refused_command_tells_what_had_come_between(play):
    refused = line(story(play, "bob", range(2, 3)), "bids 4.00")
    assert refused.refused
    assert refused.notes == ["day 1 09:30: ann replaced L1 by L2 at 4.50 $/kg"]


def test_looks_that_follow_each_other_share_a_line(play):
    looked = line(story(play, "bob", range(1)), "looks at its books")
    assert looked.words == (
        "looks at its books, its bills (none), what is on offer of green coffee (1)"
    )
    assert len(looked.ids) == 3


def test_running_out_comes_first_with_what_came_in_before(play):
    [shortage] = story(play, "bob", range(0, 6)).shortages
    assert shortage.words == (
        "day 2: out of roasted coffee: 0 kg the evening before, in: 26 kg made,"
        " out: 26 kg sold (D2)"
    )
    assert shortage.details == [
        "green coffee came in: none on day 0, 30 kg on day 1, none on day 2",
        "its bids for green coffee on days 0 to 2: 1 made,"
        " 1 refused, the listing is closed (listing_closed)",
    ]


def test_what_came_in_is_told_also_of_days_before_the_first_one(play):
    whole, day = story(play, "bob", range(6)), story(play, "bob", range(2, 3))
    assert day.shortages == whole.shortages


def test_a_firm_that_was_out_before_the_days_asked_for_says_since_when(play):
    [shortage] = story(play, "bob", range(4, 6)).shortages
    assert shortage.words == "bob has had no roasted coffee since day 2"
    assert shortage.details == [
        "green coffee came in: none on days 2 to 5",
        "its bids for green coffee on days 2 to 5: 0 made,"
        " 1 refused, the listing is closed (listing_closed)",
        "green coffee in its store on the evening of day 5: none",
    ]


def test_a_roaster_that_has_never_roasted_lacks_green_coffee(play):
    [shortage] = story(play, "bob", range(1)).shortages
    assert shortage.words == "bob has had no roasted coffee since the beginning"
    assert shortage.details[0] == "green coffee came in: none on day 0"


def test_a_want_that_ends_within_the_days_says_when(play):
    shortage = standing("bob", ROASTED, 1, bobs_evenings(play), [], range(1, 4))
    assert shortage is not None
    assert shortage.words == "bob has had no roasted coffee since day 1, until day 2"


def test_a_firm_that_still_had_some_on_the_first_day_is_not_out_before_it(play):
    assert standing("bob", ROASTED, 1, bobs_evenings(play), [], range(2, 4)) is None


def bobs_evenings(play) -> dict[int, Evening]:
    days = story(play, "bob", range(6)).days
    return {day.day: day.evening for day in days if day.evening is not None}


def test_an_evening_says_what_is_left_and_why(play):
    evenings = {day.day: day.evening for day in story(play, "bob", range(6)).days}
    assert evenings[1] is not None
    assert [str(shelf) for shelf in evenings[1].shelves] == [
        "0 kg of green coffee (+30 delivered, −30 roasted)"
    ]
    assert (evenings[1].before, evenings[1].cash) == (14_970.0, 14_850.0)


@pytest.mark.parametrize("firm", ["ann", "bob", "cid"])
def test_every_kilogram_is_accounted_for(play, firm):
    for day in story(play, firm, range(1, 6)).days:
        assert day.evening is not None
        for shelf in day.evening.shelves:
            assert shelf.before is not None
            assert shelf.before + sum(flow.kg for flow in shelf.flows) == shelf.left


def test_an_exchange_tells_of_the_market(play):
    market = lines(story(play, "exchange", range(1)), 0)
    assert market[-1] == "D1: ann sells bob 30 kg of green coffee at 3.90 $/kg = 117.00 $"


def test_days_that_the_run_does_not_have_are_left_out(play):
    assert [day.day for day in story(play, "ann", range(4, 99)).days] == [4, 5]


def test_no_day_at_all_is_refused(play):
    with pytest.raises(HanseError, match="none of these days is in the run; it has days 0 to 5"):
        story(play, "ann", range(50, 60))


def test_an_unknown_agent_is_refused_with_the_nearest(play):
    with pytest.raises(HanseError, match=r"there is no agent bobby; did you mean bob\?"):
        story(play, "bobby", range(6))


def test_bids_on_a_listing_of_that_number_in_another_town_are_none_of_the_firms_business(two_towns):
    told = [line for day in story(two_towns, "bob_Visby", range(6)).days for line in day.lines]
    assert any("cid_Visby bids" in line.words for line in told)
    assert not any("Luebeck" in line.words for line in told)

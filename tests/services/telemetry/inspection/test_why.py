"""Why: the order, the causes and the effects of what happens in the play."""

from __future__ import annotations

import shutil

import pytest

from services.errors import HanseError
from services.runs import Run
from services.telemetry.inspection import steps
from services.telemetry.inspection.explanation import Explanation
from services.telemetry.inspection.steps import EVERYTHING, Limits, Node
from services.telemetry.inspection.why import why
from services.telemetry.reader import TraceReader
from tests.services.telemetry.inspection.rivals import rivalry
from tests.services.telemetry.made_runs import meddle


@pytest.fixture(scope="module")
def rivals(tmp_path_factory: pytest.TempPathFactory) -> TraceReader:
    return rivalry(tmp_path_factory.mktemp("rivals") / "run")


def told(tree: Node | None) -> list[str]:
    """Every sentence of a tree of effects, parents before children."""
    assert tree is not None
    return [tree.step.words, *(line for child in tree.children for line in told(child))]


def chain(found: Explanation, question: str) -> list[str]:
    [cause] = [cause for cause in found.causes if cause.question == question]
    return [step.words for step in cause.chain.steps]


ORDER = [
    "ann lists 60 kg of green coffee at 4.00 $/kg (L1)",
    "bob bids 3.90 $/kg for 30 kg on L1, to be paid within 1 day (O1)",
    "D1: ann sells bob 30 kg of green coffee at 3.90 $/kg = 117.00 $",
    "30 kg of green coffee (D1) arrive at bob from ann",
    "ann bills bob 117.00 $ (I1), due on day 2",
    "bob pays ann 117.12 $ (I1)",
]


@pytest.mark.parametrize("paper", ["O1", "D1", "I1"])
def test_every_paper_of_an_order_shows_it_from_the_listing_to_the_payment(play, paper):
    assert [step.words for step in why(play, paper).order] == ORDER


def test_a_deal_comes_from_what_its_buyer_saw_that_morning(play):
    found = why(play, "D1")
    assert found.title == f"day 0 11:00: {ORDER[2]}"
    assert chain(found, "Why ann accepted") == [
        "bob begins its day",
        "bob looks at its books",
        "bob looks at its bills: none",
        "bob looks at what is on offer of green coffee: 1",
        ORDER[1],
        "ann is told that a bid has come",
        "ann looks at the bids on its goods: 1",
        "ann accepts O1 (D1): 30 kg of green coffee for bob at 3.90 $/kg = 117.00 $",
    ]


def test_one_chain_that_holds_the_bid_is_not_told_twice(play):
    assert [cause.question for cause in why(play, "D1").causes] == ["Why ann accepted"]


def test_an_invoice_that_was_paid_late_says_by_how_much_and_that_there_was_money(play):
    assert why(play, "I1").notes == [
        "bob paid I1 2 days late: on day 4, due on day 2",
        "bob had 14,820.00 $ in cash at the end of day 2, enough for 117.00 $",
        "it looked at its bills on days 0 and 4, and first sent a payment for I1 on day 4",
        "late fees: 0.12 $",
    ]


def test_an_invoice_that_is_not_due_yet_says_so(play):
    assert why(play, "I2").notes == ["I2 is not paid yet; it is due on day 33"]


def test_a_payment_leads_to_the_news_of_it(play):
    assert "ann is told that an invoice was paid" in told(why(play, "I1").effects)


def test_a_bid_that_nobody_answered_says_so(play):
    [note] = why(play, "O2").notes
    assert note.startswith("no deal came of it, and nobody answered it")


def test_a_listing_tells_its_price_before_and_who_bid(play):
    found = why(play, "L2")
    assert found.notes == [
        "what ann asked for green coffee: 4.00 $/kg from day 0 (L1), 4.50 $/kg from day 1 (L2)",
        "L4 followed on day 3 at 3.50 $/kg",
        "1 bid by cid at 2.00 $/kg",
    ]


def test_a_price_that_fell_stands_beside_what_the_seller_had_met_with(play):
    found = why(play, "L4")
    assert [step.words for step in found.background] == ["cid bids 2.00 $/kg for 3 kg on L2 (O2)"]
    assert chain(found, "Why ann listed L4")[-1] == (
        "ann lists 30 kg of green coffee at 3.50 $/kg (L4)"
    )


def test_a_refused_bid_says_who_had_replaced_the_listing(play):
    bid = next(m for m in play.day(2).messages if m.type == "make_offer" and m.sender == "bob")
    found = why(play, bid.id)
    assert "refused, the listing is closed (listing_closed)" in found.title
    assert found.notes[-1] == "day 1 09:30: ann replaced L1 by L2 at 4.50 $/kg"


def test_a_listing_with_refused_bids_only_does_not_say_that_nobody_bid(play, tmp_path):
    copy = shutil.copytree(play.run.folder, tmp_path / "copy")
    statement = (
        'UPDATE events SET body = replace(body, \'"listing_id":"L1"\', \'"listing_id":"L4"\')'
        " WHERE instr(body, 'listing_closed')"
    )
    notes = why(meddle(TraceReader(Run(copy)), statement), "L4").notes
    assert notes[-1] == (
        "no bid was taken: 1 bid by bob refused: the listing is closed (listing_closed)"
    )


def test_bids_that_were_refused_are_told_beside_those_that_were_not(play):
    assert why(play, "L1").notes[-3:] == [
        "1 bid by bob at 3.90 $/kg",
        "1 deal: 30 kg for 117.00 $, 3.90 $/kg on average",
        "1 bid by bob refused: the listing is closed (listing_closed)",
    ]


def test_a_bid_whose_goods_another_deal_took_names_the_deal_and_the_quantities(rivals):
    assert why(rivals, "O2").notes == [
        "no deal came of it: D1 had taken all the goods: cid bought 40 kg of the 40 kg of L1 on"
        " day 0 11:00; O2 was for 40 kg",
        "on day 0 11:30 ann tried: the bid was rejected (offer_rejected)",
    ]


def test_an_acceptance_of_more_than_is_left_gives_the_figures(rivals):
    [refused] = list(rivals.find_events("action", error_code="offer_exceeds_listing"))
    notes = why(rivals, refused.facts["args"]["offer_id"]).notes
    numbers = "wanted 30 kg, 5 kg of L2 left after D2"
    assert notes[0] == "no deal came of it"
    assert notes[1].endswith(f"(offer_exceeds_listing): {numbers}")
    assert why(rivals, refused.id).notes[-1] == numbers


def test_a_message_that_belongs_to_an_order_shows_the_order(play):
    bid = next(m for m in play.day(0).messages if m.type == "make_offer")
    assert [step.words for step in why(play, bid.id).order] == ORDER


def test_a_letter_leads_to_what_its_reader_did(play):
    effects = told(why(play, "M1").effects)
    assert "cid gets a letter from bob: “[red]soon: coffee is on its way” (M1)" in effects
    assert "cid bids 2.00 $/kg for 3 kg on L2 (O2)" in effects


def test_what_firms_only_looked_at_is_an_effect_if_everything_is_wanted(play):
    looked = "cid looks at what is on offer of green coffee: 1"
    assert looked not in told(why(play, "M1").effects)
    assert looked in told(why(play, "M1", limits=EVERYTHING).effects)


def test_an_event_stands_for_the_order_that_it_is_of(play):
    for event in play.find_events("delivery", deal="D1"):
        assert why(play, event.id)[:3] == why(play, "D1")[:3]


def test_a_commands_event_stands_for_the_command(play):
    for event in play.find_events("action", tool="roast"):
        assert why(play, event.id).id == event.cause == "bob#9"


def test_what_came_with_the_time_of_day_says_so(play):
    [event] = play.find_events("consumer_sale", days=range(3, 4))
    with pytest.raises(HanseError, match="it came with the time of day"):
        why(play, event.id)


@pytest.mark.parametrize("sign", [":", "!"])
def test_an_event_is_named_as_it_is_shown_and_as_the_log_has_it(play, sign):
    [event] = play.find_events("delivery", deal="D1")
    assert why(play, f"exchange{sign}{event.ordinal}")[:3] == why(play, "D1")[:3]


def test_an_event_that_is_not_there_is_refused(play):
    with pytest.raises(HanseError, match="there is no event exchange!99999"):
        why(play, "exchange!99999")


def test_a_long_chain_keeps_its_root_and_its_end(play):
    [cause] = why(play, "D1", limits=Limits(causes=4)).causes
    words = [step.words for step in cause.chain.steps]
    assert (words[0], len(words), cause.chain.left_out) == ("bob begins its day", 4, 4)
    assert words[-1].startswith("ann accepts O1")


def test_children_beyond_the_limit_are_counted(play):
    effects = why(play, "O1", limits=Limits(children=1)).effects
    assert effects is not None
    assert len(effects.children) == 1
    everything = why(play, "O1").effects
    assert everything is not None
    assert effects.more == len(everything.children) - 1


def test_no_chain_of_causes_goes_back_beyond_its_morning(play):
    for day in play.days:
        for message in play.day(day).messages:
            steps_ = steps.causes(play, message, 1000).steps
            assert {step.minute // 1440 for step in steps_} == {day}


def test_steps_know_when_they_were_handled_on_the_wall(play):
    found = why(play, "D1")
    walls = [step.wall for step in found.causes[0].chain.steps]
    assert all(wall is not None and found.began is not None and wall >= found.began
               for wall in walls)  # fmt: skip
    assert found.document()["causes"][0]["steps"][0]["wall_seconds"] >= 0


def test_a_paper_of_several_towns_has_to_be_told_apart(two_towns):
    with pytest.raises(HanseError, match="2 towns have a deal D1; name one of D1@exchange_Luebeck"):
        why(two_towns, "D1")


@pytest.mark.parametrize(
    ("id", "town"), [("D1@exchange_Visby", None), ("D1@Visby", None), ("D1", "Visby")]
)
def test_a_town_is_named_in_the_id_or_beside_it(two_towns: TraceReader, id, town):
    assert "ann_Visby sells bob_Visby" in why(two_towns, id, town=town).title


@pytest.mark.parametrize(
    ("id", "message"),
    [
        ("D9", "there is no deal D9; the last one is D2"),
        ("F1", "there is no order abroad F1; there are none at all"),
        ("ann#999", r"there is no message ann#999; ann has sent ann#1 to ann#20"),
        ("anna#1", r"there is no agent anna; did you mean ann\?"),
        ("rubbish", "'rubbish' is no id; name a message"),
        ("D0", "'D0' is no id"),
        ("D1@Nowhere", "Nowhere: there is no such town"),
    ],
)
def test_an_id_that_names_nothing_is_refused_with_what_there_is(play, id, message):
    with pytest.raises(HanseError, match=message):
        why(play, id)


def test_papers_may_be_named_in_lower_case(play):
    assert why(play, "d1") == why(play, "D1")


def test_an_agent_is_no_id_but_has_a_story(play):
    with pytest.raises(HanseError, match="bob is an agent; see: hanse trace RUN story bob"):
        why(play, "bob")


def test_an_unknown_town_is_refused_with_the_towns_that_there_are(two_towns):
    with pytest.raises(HanseError, match=r"no such town .did you mean Visby.*Luebeck, Visby"):
        why(two_towns, "D1@Visbi")


def test_town_and_id_must_not_contradict_each_other(two_towns):
    with pytest.raises(HanseError, match="name one town"):
        why(two_towns, "D1@Visby", town="Luebeck")

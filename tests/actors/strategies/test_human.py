"""A person at the terminal: sees the firm's affairs, types commands, gets help."""

from __future__ import annotations

from typing import Any

import pytest

from actors.context import Context
from actors.exchange import Turn
from actors.strategies.human import GREETING, Human, describe_result
from actors.strategies.human_help import help_text, parse_command
from services.economy.commands import (
    COMMANDS,
    Command,
    PostListing,
    SendMessage,
    ViewListings,
    ViewOffers,
    WaitForNextDay,
)
from services.economy.results import Listing, ListingsView, Result, Values
from services.economy.setup import TownSetup
from services.economy.town import Town

LISTED = PostListing(item_id="roasted_coffee_kg", qty=10, asking_price=9.8)
LETTER = SendMessage(recipient="roaster_A", title="2026", body="a=b c")


class Terminal:
    """Types the given lines, then ends the input; keeps what was shown."""

    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.prompts: list[str] = []
        self.shown: list[str] = []

    def read(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)

    def player(self) -> Human:
        return Human("retailer_A", "retailer", read=self.read, write=self.shown.append)

    @property
    def text(self) -> str:
        return "\n".join(self.shown)


def turn(**values: Any) -> Turn:
    return Turn(day=2, minute_of_day=570, **values)


def play(*lines: str, **values: Any) -> tuple[Command, Terminal]:
    terminal = Terminal(*lines)
    command = terminal.player().decide(turn(**values), Context("retailer_A", now=3450))
    return command, terminal


def test_a_command_is_typed_with_its_arguments() -> None:
    command, terminal = play("post_listing item_id=roasted_coffee_kg qty=10 asking_price=9.8")
    assert command == PostListing(item_id="roasted_coffee_kg", qty=10, asking_price=9.8)
    assert terminal.prompts == ["retailer_A, day 2 09:30> "]
    assert terminal.shown == [GREETING]


def test_words_in_quotes_are_one_value() -> None:
    command, _ = play('send_message recipient=roaster_A title="next week" body="ten kg, please"')
    assert command == SendMessage(recipient="roaster_A", title="next week", body="ten kg, please")


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("w", WaitForNextDay()),
        ("  wait  ", WaitForNextDay()),
        ("wait_for_next_day", WaitForNextDay()),
        ("view_offers direction=incoming", ViewOffers(direction="incoming")),
        ("view_listings only_others=false", ViewListings(only_others=False)),
        ("view_listings item_id=null", ViewListings(item_id=None)),
        ("view_offers incoming", ViewOffers(direction="incoming")),
        ("post_listing roasted_coffee_kg 10 9.8", LISTED),
        ("post_listing roasted_coffee_kg 10 asking_price=9.8", LISTED),
        ("send_message roaster_A 2026 'a=b c'", LETTER),
    ],
)
def test_what_can_be_typed(line: str, command: Command) -> None:
    assert parse_command(line) == command


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("fly", "there is no command 'fly'; type help"),
        ("roast 5", "qty_kg is missing; type help roast"),
        ("roast green_item_id=x", "qty_kg is missing; type help roast"),
        ("roast green_item_id=x qty_kg=1.5", "quantities are whole kilograms; got 1.5; type help"),
        ("roast x 5 heat=9", "there is no argument heat; type help roast"),
        ("roast x 5 9", "roast takes 2 arguments; type help roast"),
        ("roast x green_item_id=y", "green_item_id is given twice; type help roast"),
        ("cancel_listing L1 L2", "cancel_listing takes 1 argument; type help cancel_listing"),
        ("view_offers sideways", "direction must be 'incoming', 'outgoing' or 'all'; got"),
        ('send_message title="open', "cannot read that: no closing quotation"),
        ("help fly", "there is no command 'fly'; type help"),
        ("", "Type a command, or help."),
    ],
)
def test_what_cannot_be_understood_is_explained_and_asked_again(line: str, complaint: str) -> None:
    command, terminal = play(line, "w")
    assert command == WaitForNextDay()
    assert complaint in terminal.shown[1]
    assert len(terminal.prompts) == 2


def test_help_lists_the_commands_of_the_role_first_and_all_on_request() -> None:
    _, terminal = play("help", "help all", "w")
    own, everything = terminal.shown[1:]
    assert own.startswith("A retailer can")
    assert "  set_retail_price" in own and "  roast" not in own and "  produce_item" not in own
    assert "For other roles: produce_item, roast, post_listing" in own
    assert all(f"  {name} " in everything for name in COMMANDS)


def test_help_of_a_command_names_its_arguments_with_type_and_unit() -> None:
    _, terminal = play("? make_offer", "w")
    lines = terminal.shown[1].splitlines()
    assert lines == [
        "Bid on a listing; price and terms may differ from what is asked.",
        "  listing_id  a listing, such as L7 (required)",
        "  offered_price  dollars a kilogram (required)",
        "  qty  whole kilograms (required)",
        "  payment_terms_days  days (default 30)",
        "  message  text (optional)",
    ]
    assert "direction  incoming | outgoing | all (default all)" in help_text("view_offers")
    assert "only_overdue  true or false (default false)" in help_text("view_payables")


def test_what_a_person_reads_has_no_markup() -> None:
    for name in (None, "all", *COMMANDS):
        for role in ("farmer", "roaster", "retailer"):
            assert "``" not in help_text(name, role) and ":class:" not in help_text(name, role)


def test_quit_explains_how_to_stop_and_to_go_on() -> None:
    command, terminal = play("quit", "w")
    assert command == WaitForNextDay()
    assert "Ctrl-C stops the run" in terminal.text and "hanse resume RUN" in terminal.text


def test_a_day_begins_with_the_items_and_prices_and_they_come_once_a_day() -> None:
    town = Town(TownSetup())
    town.advance(540)
    terminal = Terminal("w", "w")
    player = terminal.player()
    for reason in ("morning", "a letter"):
        seen = town.observe("retailer_A", reason)
        player.decide(turn(reason=reason, observation=seen), Context("retailer_A", now=3450))
    assert terminal.text.count("a retailer can sell roasted_coffee_kg, roasted_specialty_kg") == 1
    assert terminal.text.count("own prices, dollars a kilogram: ") == 1
    assert "view_listings shows what is on offer" in terminal.text
    assert "Every command costs 30 minutes of the day" in terminal.text


def test_at_the_end_of_the_input_the_firm_waits_from_then_on() -> None:
    terminal = Terminal()
    player = terminal.player()
    context = Context("retailer_A")
    assert player.decide(turn(), context) == WaitForNextDay()
    assert "waits from now on" in terminal.text
    assert player.decide(turn(reason="morning"), context) == WaitForNextDay()
    assert len(terminal.prompts) == 1


def test_the_greeting_comes_once() -> None:
    terminal = Terminal("w", "w")
    player = terminal.player()
    for _ in range(2):
        player.decide(turn(), Context("retailer_A"))
    assert terminal.shown == [GREETING]


def test_the_firms_affairs_are_shown_when_something_has_happened() -> None:
    town = Town(TownSetup())
    town.advance(540)
    town.world.notify(town.firms["retailer_A"], "the road is closed")
    _, terminal = play("w", reason="morning", observation=town.observe("retailer_A", "morning"))
    shown = terminal.shown[1]
    assert "retailer_A, Monday, day 0: morning" in shown
    assert "cash 14,950.00" in shown  # 15,000 less the day's 50 dollars of running costs
    assert "25 kg roasted_coffee_kg (cap 80 kg)" in shown
    assert "* the road is closed" in shown


def test_outcomes_are_told() -> None:
    _, terminal = play("w", result=Result(command="post_listing", ok=True, new_id="L7"))
    assert terminal.shown[1] == "post_listing: done, L7"
    no = Result(command="roast", ok=False, code="daily_cap", detail="only 3 kg are left today")
    assert describe_result(no) == "refused: only 3 kg are left today [daily_cap]"
    values = Result(command="roast", ok=True, data=Values(values={"output_kg": 8}))
    assert "output_kg" in describe_result(values) and "8" in describe_result(values)


def test_rows_are_listed_under_their_names() -> None:
    row = Listing("L1", "roaster_A", "roasted_coffee_kg", 10, 9.8, 30, 0, 540)
    seen = Result(command="view_listings", ok=True, data=ListingsView(rows=(row,)))
    lines = describe_result(seen).splitlines()
    assert lines[1].split() == list(Listing._fields)
    assert lines[2].split()[:4] == ["L1", "roaster_A", "roasted_coffee_kg", "10"]
    assert lines[3].strip() == "1 row"
    none = describe_result(Result(command="view_listings", ok=True, data=ListingsView(rows=())))
    assert none.splitlines()[-1].strip() == "0 rows"


def test_a_persons_answers_can_neither_be_computed_again_nor_given_without_a_terminal() -> None:
    assert not Human.reproducible and Human.needs_terminal

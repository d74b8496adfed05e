"""The shared memory and the tool of a town that talks."""

from __future__ import annotations

from actors.board import ROOM, PriceBoard
from actors.context import Context
from actors.forecaster import Forecaster
from actors.measures import Advisory
from services.economy.catalogue import GREEN
from services.talk.claims import Claim
from services.talk.payloads import (
    BoardRead,
    BoardView,
    BoardWrite,
    Forecast,
    ForecastRequest,
    told,
)


def claims(first: int, count: int = 3) -> list[Claim]:
    return [Claim(GREEN, 1.0, 0.1, True, f"entry {n}") for n in range(first, first + count)]


def view(board: PriceBoard, context: Context) -> BoardView:
    (reply,) = board.receive(context.incoming("alice", BoardRead()), context)
    assert isinstance(reply.payload, BoardView)
    return reply.payload


def test_a_board_shows_three_of_its_latest_entries() -> None:
    board, context = PriceBoard("board"), Context("board")
    assert view(board, context).claims == ()
    for first in range(0, 60, 3):
        board.receive(context.incoming("bob", told(BoardWrite, claims(first))), context)
    seen = {c.words for _ in range(60) for c in view(board, context).heard()}
    assert seen == {f"entry {n}" for n in range(60 - ROOM, 60)}
    assert len(view(board, context).claims) == 3
    assert board.summary() == {"written": 20, "read": 62}


def test_a_board_goes_on_from_what_it_saved() -> None:
    board, context = PriceBoard("board"), Context("board")
    board.receive(context.incoming("bob", told(BoardWrite, claims(0))), context)
    other = PriceBoard("board")
    other.load_checked(board.save())
    assert view(other, Context("board")) == view(board, Context("board"))


def test_at_an_advisory_a_board_takes_down_what_was_insisted_on_since() -> None:
    board, context = PriceBoard("board"), Context("board")
    for minute, strength in ((540, 0.9), (600, 0.1), (660, 0.9)):
        context.clock.now = minute
        claim = Claim(GREEN, 0.6, strength, True, f"at {minute}")
        board.receive(context.incoming("bob", told(BoardWrite, [claim])), context)
    board.receive(context.incoming("containment", Advisory(since=600)), context)
    assert [entry.words for entry in board.entries] == ["at 540", "at 600"]


def asked(forecaster: Forecaster, context: Context, said: list[Claim]) -> Forecast:
    request = context.incoming("alice", told(ForecastRequest, said))
    (reply,) = forecaster.receive(request, context)
    assert isinstance(reply.payload, Forecast)
    return reply.payload


def test_a_forecast_is_no_better_than_what_those_who_ask_go_by() -> None:
    forecaster = Forecaster("forecaster")
    calm = asked(forecaster, Context("forecaster", now=540), claims(0))
    assert set(calm.numbers.values()) == {1.0}
    collapse = [Claim(GREEN, 0.6, 0.95, True, "a b c d e f g")] * 3
    for hour in range(8):
        wrong = asked(forecaster, Context("forecaster", now=540 + 60 * hour), collapse)
    assert 0.6 <= wrong.numbers[GREEN] < 0.7
    assert any(claim.factor == 0.6 for claim in wrong.claims)


def test_at_an_advisory_a_forecaster_goes_by_what_it_was_told_before() -> None:
    forecaster, context = Forecaster("forecaster"), Context("forecaster", now=540)
    collapse = [Claim(GREEN, 0.6, 0.95, True, "a b c d e f g")] * 3
    for _ in range(8):
        wrong = asked(forecaster, context, collapse)
    assert wrong.numbers[GREEN] < 0.7
    forecaster.receive(context.incoming("containment", Advisory(since=540)), context)
    assert asked(forecaster, context, collapse).numbers[GREEN] == 1.0


def test_a_forecaster_goes_on_from_what_it_saved() -> None:
    forecaster = Forecaster("forecaster")
    asked(forecaster, Context("forecaster", now=540), claims(0))
    other = Forecaster("forecaster")
    other.load_checked(forecaster.save())
    later = [asked(f, Context("forecaster", now=600), claims(3)) for f in (forecaster, other)]
    assert later[0] == later[1]

"""Letters between the firms of a town (note, S10)."""

from __future__ import annotations

from services.economy.commands import ReadMessage, SendMessage, ViewMessages
from services.economy.results import LetterRow, LettersView, Refusal, Values
from services.economy.state import FirmState, StoredLetter
from services.economy.world import World

MAX_TITLE = 80


class Mail:
    """Private, visible at once; they wake the recipient."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.outbox: list[StoredLetter] = []
        """Letters written since the exchange last handed them over."""

    def send(self, firm: FirmState, command: SendMessage) -> tuple[str, None]:
        """Stores a letter and wakes its recipient; returns the letter's id.

        Raises:
            Refusal: empty or too long, to oneself or to nobody known.
        """
        world = self.world
        if not command.title.strip() or not command.body.strip():
            raise Refusal("empty_message", "a letter needs a title and a body")
        if len(command.title) > MAX_TITLE:
            raise Refusal("title_too_long", f"a title has at most {MAX_TITLE} characters")
        if command.recipient == firm.name:
            raise Refusal("own_message", "a firm cannot write to itself")
        if command.recipient not in world.state.firms:
            raise Refusal("unknown_firm", f"there is no firm {command.recipient!r} in this town")
        letter = StoredLetter(
            world.new_id("M"),
            firm.name,
            command.recipient,
            command.title,
            command.body,
            world.state.day,
            world.state.minute % 1440,
            command.ref_listing_id,
            command.ref_offer_id,
        )
        world.state.letters[letter.id] = letter
        firm.messages_today += 1
        firm.messages_sent += 1
        self.outbox.append(letter)
        world.wake(letter.recipient, "message")
        return letter.id, None

    def view(self, firm: FirmState, command: ViewMessages) -> LettersView:
        """Heads of letters received, or with counterparty ``self`` of those sent; newest first."""
        own = command.counterparty == "self"
        rows: list[LetterRow] = []
        unread = 0
        for letter in reversed(self.world.state.letters.values()):
            if letter.recipient == firm.name and not letter.read:
                unread += 1
            if firm.name != (letter.author if own else letter.recipient):
                continue
            if not own and command.counterparty not in (None, letter.author):
                continue
            if command.since_day is not None and letter.day < command.since_day:
                continue
            if len(rows) < command.limit:
                rows.append(
                    LetterRow(
                        letter.id,
                        letter.author,
                        letter.recipient,
                        letter.title,
                        letter.day,
                        letter.minute,
                        letter.read,
                    )
                )
        return LettersView.trusted(rows=tuple(rows), unread=unread)

    def read(self, firm: FirmState, command: ReadMessage) -> Values:
        """A letter in full; marks it read when its recipient opens it.

        Raises:
            Refusal: unknown, or neither written by nor to this firm.
        """
        letter = self.world.state.letters.get(command.message_id)
        if letter is None or firm.name not in (letter.author, letter.recipient):
            raise Refusal("unknown_message", f"there is no letter {command.message_id} for you")
        if firm.name == letter.recipient:
            letter.read = True
        return Values(
            values={
                "id": letter.id,
                "author": letter.author,
                "recipient": letter.recipient,
                "title": letter.title,
                "body": letter.body,
                "day": letter.day,
                "minute": letter.minute,
            }
        )

"""Letters between firms, handed over by their town's exchange."""

from __future__ import annotations

from actors.context import Context
from services.economy.mail import Mail
from services.messages import Letter, Origin


def post_letters(mail: Mail, exchange: Context, origin: Origin | None = None) -> None:
    """Sends what firms have written since the last time.

    Args:
        mail: The town's mail; its outbox is empty afterwards.
        exchange: The context of the town's exchange.
        origin: The message that the letters come from, where that is not the one being handled.
    """
    for letter in mail.outbox:
        told = Letter(
            letter_id=letter.id,
            author=letter.author,
            title=letter.title,
            body=letter.body,
            ref_listing_id=letter.ref_listing_id,
            ref_offer_id=letter.ref_offer_id,
        )
        exchange.send(letter.recipient, told, origin=origin)
    mail.outbox.clear()

"""Forecasters: tools that firms ask what prices will be."""

from __future__ import annotations

from typing import Any

from actors.agent import Agent, handles
from actors.context import Context
from actors.measures import Advisory
from services.messages import Message
from services.talk.claims import ITEMS
from services.talk.hours import next_hour
from services.talk.mind import Mind
from services.talk.payloads import Forecast, ForecastRequest, told


class Forecaster(Agent):
    """Answers by what those who ask it go by: a survey, which can be no better than they are."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.mind = Mind(trust=0.9)
        self.asked = 0
        self._hour = -1

    @handles(ForecastRequest)
    def on_request(self, message: Message, context: Context) -> None:
        """Takes in what the firm goes by, and tells it what it expects."""
        assert isinstance(message.payload, ForecastRequest)
        rng = context.rng("forecast")
        hour = context.now // 60
        if hour != self._hour:
            # Hours in which nobody asks, such as a night, change nothing: there is no survey.
            self.mind.hour(rng)
            self._hour = hour
        self.asked += 1
        self.mind.listen(message.payload.heard(), rng, now=context.now)
        numbers = {item: round(self.mind.view(item), 3) for item in ITEMS}
        context.reply(message, told(Forecast, self.mind.compose(rng), numbers=numbers))

    @handles(Advisory)
    def on_advisory(self, message: Message, context: Context) -> None:
        """Goes no longer by what it was told since something false is about."""
        assert isinstance(message.payload, Advisory)
        advisory = message.payload
        self.mind.doubt(advisory.since, max(advisory.until, next_hour(context.now)))

    def save(self) -> dict[str, Any]:
        """What it expects, and by what."""
        return {"mind": self.mind.save(), "asked": self.asked, "hour": self._hour}

    def load(self, saved: dict[str, Any]) -> None:
        """Goes on from :meth:`save`."""
        self.mind.load(saved["mind"])
        self.asked, self._hour = saved["asked"], saved["hour"]

    def summary(self) -> dict[str, Any]:
        """How often it was asked."""
        return {"asked": self.asked}

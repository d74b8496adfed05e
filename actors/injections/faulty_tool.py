"""Attack by a tool: a town's forecaster is wrong, and sure of it."""

from __future__ import annotations

from typing import Any

from actors.injections.rumour import Rumour
from services.talk.payloads import Forecast, Talk


class FaultyTool(Rumour):
    """The origin is a forecaster, whose words and numbers are the story's."""

    begins_with = "forecaster"
    payloads = (Forecast,)

    def besides(self, payload: Talk) -> dict[str, Any]:
        """The numbers are wrong as well."""
        assert isinstance(payload, Forecast)
        return {"numbers": payload.numbers | dict.fromkeys(self.items, self.factor)}

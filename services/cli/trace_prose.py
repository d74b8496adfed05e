"""Where :class:`Prose` was before it became a part of the inspection."""

from services.telemetry.inspection.prose import Prose

__all__ = ["Prose"]

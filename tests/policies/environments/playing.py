"""What several test files need: episodes that stand at a decision."""

from __future__ import annotations

import functools

from policies.environments.action_layout import ActionLayout
from policies.environments.episode import Episode
from policies.environments.mirror import Mirror
from services.config import standard

FIRMS = {"farmer": "farmer_A", "roaster": "roaster_A", "retailer": "retailer_A"}


def at_day(role: str, day: int, seed: int = 0) -> Episode:
    """An episode in which the firm of a role waits for its levers on that day.

    Before that it has played the usual ones.
    """
    firm = FIRMS[role]
    episode = Episode(standard().with_overrides(seed=seed), [firm])
    layout = ActionLayout(episode.conducts[firm].role, episode.setup.catalogue)
    for _ in range(day):
        episode.proceed()
        episode.levers[firm] = layout.values(layout.usual)
    episode.proceed()
    assert episode.town.state.day == day
    return episode


@functools.cache
def _standing(role: str, day: int) -> Episode:
    return at_day(role, day)


def mirror_at(role: str, day: int = 12) -> Mirror:
    """A new mirror of what the firm of a role knows when it decides on that day."""
    episode = _standing(role, day)
    view = episode.conducts[FIRMS[role]].view
    assert view is not None
    return Mirror(episode.setup, view)

from __future__ import annotations

from pathlib import Path

import pytest

from actors.league import League
from policies.environments.episode import Episode
from services.config import RunConfig, standard
from services.errors import HanseError


def _league(config: RunConfig, folder: Path) -> dict[str, float]:
    with League.create(config.with_overrides(placement="inline"), folder) as league:
        return {firm.firm: firm.net_income for firm in league.run().firms}


def _episode(config: RunConfig) -> dict[str, float]:
    episode = Episode(config)
    assert episode.proceed() == []
    return {name: episode.town.statement(name).net_income for name in episode.town.firms}


@pytest.mark.parametrize("rules", ["hanse", "coffeebench"])
def test_an_episode_without_seats_ends_with_the_books_of_the_league(
    rules: str, tmp_path: Path
) -> None:
    config = standard().with_overrides(seed=5, days=30, rules=rules)
    assert _episode(config) == _league(config, tmp_path / "run")


def test_a_league_of_several_towns_is_refused() -> None:
    config = RunConfig.parse({"generate": {"firms": 12, "towns": 2}}, "test")
    with pytest.raises(HanseError, match=r"one town.*has 2"):
        Episode(config)


def test_a_firm_that_is_not_there_is_refused() -> None:
    with pytest.raises(HanseError, match="no firm 'roaster_X'"):
        Episode(standard(), ["roaster_X"])

"""Who plays: agents from the configuration, and agents that a user brings along."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.agent import Agent, handles
from actors.cast import Cast
from actors.context import Context
from actors.league import League
from services.config import ControllerConfig, GenerateConfig, RunConfig
from services.errors import HanseError
from services.messages import Message, Text
from services.runs import Run
from tests.actors.ray_session import ray_session

__all__ = ["ray_session"]


class Watchman(Agent):
    """Calls the hour to itself every noon, and counts its calls."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.calls = 0

    def start(self, context: Context) -> None:
        context.wake_at(720)

    def wake(self, context: Context) -> None:
        context.send(self.name, Text(text=f"noon of day {context.day}, number {self.calls}"))
        context.wake_at(context.now + 1440) if context.day < 3 else None

    @handles(Text)
    def on_text(self, message: Message, context: Context) -> None:
        self.calls += 1

    def save(self) -> int:
        return self.calls

    def load(self, saved: int) -> None:
        self.calls = saved


class WithWatchman(Cast):
    def __init__(self, config: RunConfig, source: str = "run file") -> None:
        super().__init__(config, source)
        self.names = sorted([*self.names, "watchman"])

    def make(self, name: str) -> Agent:
        return Watchman(name) if name == "watchman" else super().make(name)


def calls(folder: Path) -> list[str]:
    return [row[-1] for row in Run(folder).rows("messages", "sender = 'watchman'")]


def test_a_users_own_agent_plays_along_and_goes_on_after_a_resume(tmp_path: Path) -> None:
    config = RunConfig(days=4, placement="inline")
    with League.create(config, tmp_path / "run", cast=WithWatchman) as league:
        league.run(until_day=1)
    with League.resume(tmp_path / "run", cast=WithWatchman) as league:
        league.run()
    assert calls(tmp_path / "run") == [
        f'{{"text":"noon of day {day}, number {day}"}}' for day in range(4)
    ]


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
def test_a_users_own_agent_plays_along_on_ray(tmp_path: Path) -> None:
    config = RunConfig(days=2, placement="packed", hosts=2)
    with League.create(config, tmp_path / "run", cast=WithWatchman) as league:
        league.run()
    assert len(calls(tmp_path / "run")) == 2


def test_a_checkpoint_of_other_agents_is_refused_in_one_line(tmp_path: Path) -> None:
    config = RunConfig(days=3, placement="inline")
    with League.create(config, tmp_path / "run", cast=WithWatchman) as league:
        league.run(until_day=0)
    with pytest.raises(HanseError, match="other agents than its configuration"):
        League.resume(tmp_path / "run")


def test_packed_towns_are_kept_together() -> None:
    cast = Cast(RunConfig(generate=GenerateConfig(firms=60, towns=6)))
    layout = cast.layout("packed", 3)
    for firm in cast.firms:
        assert layout[firm.name] == layout[f"exchange_{firm.town}"]
    assert set(layout.values()) == {"host-0", "host-1", "host-2"}


def test_a_name_that_the_league_itself_uses_is_refused() -> None:
    config = RunConfig(
        generate=GenerateConfig(firms=6, towns=2), controllers=[ControllerConfig(name="farmer_1")]
    )
    with pytest.raises(HanseError, match="the name 'farmer_1' is used twice"):
        Cast(config)

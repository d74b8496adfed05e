"""Mail between hosts on Ray: small batches with the calls, large ones from host to host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.agent import Agent, handles
from actors.cast import Cast
from actors.context import Context
from actors.host_actor import LARGE
from actors.league import League
from services.config import RunConfig
from services.messages import Message, Text
from tests.actors.ray_session import ray_session

__all__ = ["ray_session"]

NAMES = ["ann", "bob", "cat"]
SIZES = {"ann": 10, "bob": LARGE, "cat": 3 * LARGE}
DAYS = 3


class Writer(Agent):
    """Writes to both others in the morning, who thank for it."""

    def start(self, context: Context) -> None:
        context.wake_at(600)

    def wake(self, context: Context) -> None:
        for other in NAMES:
            if other != self.name:
                context.send(other, Text(text=self.name[0] * SIZES[self.name]))
        context.wake_at(context.now + 1440)

    @handles(Text)
    def on_text(self, message: Message, context: Context) -> None:
        assert isinstance(message.payload, Text)
        if not message.payload.text.startswith("thanks"):
            letters = len(message.payload.text)
            context.send(message.sender, Text(text=f"thanks for {letters} letters"))


class Writers(Cast):
    """Three writers, each on a host."""

    def __init__(self, config: RunConfig, source: str = "run file") -> None:
        super().__init__(config, source)
        self.names = list(NAMES)
        self.firms, self.towns = [], []

    def make(self, name: str) -> Agent:
        return Writer(name)

    def layout(self, placement: str, hosts: int) -> dict[str, str]:
        return {name: f"host-{number}" for number, name in enumerate(NAMES)}


def played(folder: Path, placement: str) -> str:
    """The hash of the event log."""
    config = RunConfig.parse({"days": DAYS, "placement": placement, "hosts": 3}, "test")
    with League.create(config, folder, cast=Writers) as league:
        return league.run(until_day=DAYS - 1).log_sha256


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
def test_large_mail_arrives_as_small_mail_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from actors.ray_hosts import RayHosts

    handed_on: list[Any] = []
    work = RayHosts.work

    def seen(self: RayHosts, *arguments: Any) -> Any:
        handed_on.extend(batch for batches in arguments[3].values() for batch in batches)
        return work(self, *arguments)

    monkeypatch.setattr(RayHosts, "work", seen)
    on_ray = played(tmp_path / "ray", "packed")
    inline = played(tmp_path / "inline", "inline")
    assert on_ray == inline
    small = [batch for batch in handed_on if isinstance(batch, bytes)]
    assert max(map(len, small)) < LARGE
    # Two writers have letters that are large, each for two others a day.
    assert len(handed_on) - len(small) == 2 * 2 * DAYS

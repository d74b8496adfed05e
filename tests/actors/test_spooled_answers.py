"""An answer that a host has taken is not asked for again, though the league never heard of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors import spool
from actors.league import League
from services.config import FirmConfig, RunConfig
from services.runs import Run
from tests.actors.ray_session import ray_session

__all__ = ["ray_session"]

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray_session")]

ASKED = """
from pathlib import Path
from actors.strategies import Strategy
from services.economy.commands import ViewListings, WaitForNextDay, ProduceItem

class Asked(Strategy):
    '''Answers each time something else, as a person does.'''

    reproducible = False

    def decide(self, turn, context):
        count = Path({count!r})
        asked = int(count.read_text()) if count.exists() else 0
        count.write_text(str(asked + 1))
        if asked % 3 == 2:
            return WaitForNextDay()
        return ProduceItem(item_id="green_coffee_kg", quantity=1 + asked % 7)
"""


class Died(BaseException):
    """Stands for the end of the league's process."""


def asking(folder: Path) -> RunConfig:
    file = folder / "asked.py"
    file.write_text(ASKED.format(count=str(folder / "asked")))
    firms = [
        FirmConfig(name="farmer_A", role="farmer", strategy=f"{file}:Asked"),
        FirmConfig(name="roaster_A", role="roaster"),
        FirmConfig(name="retailer_A", role="retailer"),
    ]
    return RunConfig(days=3, firms=firms, placement="packed", hosts=1)


def test_an_answer_that_the_league_did_not_hear_of_is_given_again(tmp_path: Path) -> None:
    config = asking(tmp_path)
    alone = config.with_overrides(source="test", placement="inline")
    with League.create(alone, tmp_path / "whole") as league:
        whole = league.run()
    asked = (tmp_path / "asked").read_text()
    (tmp_path / "asked").unlink()
    run = tmp_path / "died"
    with pytest.raises(Died), League.create(config, run) as league:
        playing: Any = league._playing
        journal, heard = playing._journal, 0

        def die(rows: Any) -> None:
            nonlocal heard
            heard += 1
            if heard == 5:
                raise Died
            journal(rows)

        playing._journal = die
        league.run()
    assert list((run / spool.FOLDER).iterdir())
    with League.resume(run) as league:
        result = league.run()
    assert result.log_sha256 == whole.log_sha256
    assert (tmp_path / "asked").read_text() == asked
    assert not (run / spool.FOLDER).exists()
    assert not any("dropped" in what or "spooled" in what for what in result.counters)
    assert Run(run).state == "finished"

"""What Ray adds: actors by name, a control group that answers, processes that end."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from actors.league import League
from services.config import FirmConfig, RunConfig
from services.errors import HanseError
from services.runs import Run
from tests.actors.ray_session import ray_session
from tests.actors.test_determinism import league_of_six

__all__ = ["ray_session"]

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray_session")]

SLEEPER = """
import time
from actors.strategies import DailyPlan

class Sleeper(DailyPlan):
    def day(self):
        if self.today == 1:
            time.sleep(30)
        return
        yield
"""


def with_a_sleeper(folder: Path, **changes: Any) -> RunConfig:
    file = folder / "sleeper.py"
    file.write_text(SLEEPER)
    firms = [
        FirmConfig(name="farmer_A", role="farmer"),
        FirmConfig(name="roaster_A", role="roaster", strategy=f"{file}:Sleeper"),
        FirmConfig(name="retailer_A", role="retailer"),
    ]
    return RunConfig(days=3, firms=firms, placement="one").with_overrides(source="test", **changes)


def test_every_firm_is_a_ray_actor_of_its_own_name(tmp_path: Path) -> None:
    import ray

    with League.create(league_of_six(placement="one", days=1), tmp_path / "run") as league:
        namespace = f"hanse-{league.store.manifest.id}"
        for name in ("farmer_A", "roaster_B", "exchange"):
            assert ray.get(ray.get_actor(name, namespace).metrics.remote())["host"] == name
        league.run()
    with pytest.raises(ValueError):
        ray.get_actor("farmer_A", namespace)


def test_the_rounds_are_timed_and_what_of_them_was_work(tmp_path: Path) -> None:
    config = league_of_six(placement="packed", hosts=2, days=1)
    with League.create(config, tmp_path / "run") as league:
        league.run()
        pace = league.hosts.pace  # type: ignore[attr-defined]
    assert pace.rounds > 5
    assert pace.rounds < pace.calls <= 2 * pace.rounds
    assert 0.0 < pace.slowest < pace.seconds
    assert pace.slowest <= pace.worked


def test_health_and_metrics_answer_while_a_round_runs(tmp_path: Path) -> None:
    import ray

    config = with_a_sleeper(tmp_path, turn_timeout=4.0)
    with League.create(config, tmp_path / "run") as league:
        playing = threading.Thread(target=league.run)
        playing.start()
        actor = league.hosts.actor("roaster_A")  # type: ignore[attr-defined]
        busy, slowest = None, 0.0
        deadline = time.monotonic() + 20
        while busy is None and time.monotonic() < deadline:
            asked = time.monotonic()
            busy = ray.get(actor.health.remote())
            slowest = max(slowest, time.monotonic() - asked)
            if busy is not None and busy["seconds"] < 0.5:
                busy = None
            time.sleep(0.02)
        metrics = ray.get(actor.metrics.remote())
        playing.join(timeout=60)
    assert busy is not None and busy["agent"] == "roaster_A"
    assert "turn" in str(busy["message"])
    assert slowest < 2.0
    assert metrics["handled"] > 0


def test_a_paused_host_goes_on_when_told(tmp_path: Path) -> None:
    import ray

    with League.create(
        league_of_six(placement="packed", hosts=1, days=2), tmp_path / "r"
    ) as league:
        actor = league.hosts.actor("host-0")  # type: ignore[attr-defined]
        ray.get(actor.pause.remote())
        playing = threading.Thread(target=league.run)
        playing.start()
        time.sleep(0.5)
        assert playing.is_alive() and Run(tmp_path / "r").day is None
        ray.get(actor.go_on.remote())
        playing.join(timeout=60)
    assert Run(tmp_path / "r").state == "finished"


def test_an_agent_that_sleeps_costs_itself_its_turn_and_delays_nobody_for_long(
    tmp_path: Path,
) -> None:
    with League.create(with_a_sleeper(tmp_path, turn_timeout=1.0), tmp_path / "run") as league:
        started = time.monotonic()
        result = league.run()
        spent = time.monotonic() - started
    assert spent < 15
    assert result.counters["turns_missed"] >= 1
    missed = list(Run(tmp_path / "run").rows("events", "kind = 'turn_missed'"))
    assert {row[6] for row in missed} == {"roaster_A"}


def test_a_strategy_that_a_host_cannot_import_is_one_line(tmp_path: Path) -> None:
    config = RunConfig(
        days=1,
        placement="one",
        firms=[
            FirmConfig(name="farmer_A", role="farmer", strategy="no.such.module:Thing"),
            FirmConfig(name="roaster_A", role="roaster"),
            FirmConfig(name="retailer_A", role="retailer"),
        ],
    )
    with pytest.raises(HanseError, match=r"firms\.farmer_A\.strategy.*cannot be imported") as error:
        League.create(config, tmp_path / "run")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run").exists()

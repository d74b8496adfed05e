"""Training with RLlib: small, and stopped at every place where it may be stopped."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("gymnasium")
pytest.importorskip("tree")

import torch

from actors.league import League
from policies.training.acting import LeversPolicy
from policies.training.artefact import read_manifest
from policies.training.checkpoint import read_checkpoint
from policies.training.episodes import make_environment, play
from policies.training.folder import CHECKPOINT, POLICY, PROGRESS, TRAINING, lock
from policies.training.settings import TrainingConfig
from policies.training.trainer import Trainer
from services.config import RunConfig, load, standard
from services.errors import HanseError
from tests.actors.ray_session import ray_session

__all__ = ["ray_session"]

DAYS = 6


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("league") / "short.toml"
    file.write_text(f"days = {DAYS}\n")
    return str(file)


def config(league: str, **ppo: Any) -> TrainingConfig:
    settings = {"iterations": 3, "episodes": 2, "epochs": 2, "minibatch": 6} | ppo
    return TrainingConfig.parse(
        {
            "environment": {"league": load(league).dump()},
            "network": {"hidden": [8]},
            "ppo": settings,
            "validation": {"every": 2, "seeds": [500, 500]},
        },
        "small.toml",
    )


@pytest.fixture(scope="module")
def straight(
    ray_session: None, league: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A training that went through."""
    folder = tmp_path_factory.mktemp("trainings") / "straight"
    trainer = Trainer.create(config(league), folder)
    trainer.run()
    trainer.close()
    yield folder


def networks(folder: Path) -> Any:
    return read_checkpoint(folder)["learner"]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def test_a_training_leaves_figures_of_each_iteration_and_a_policy(straight: Path) -> None:
    lines = [json.loads(line) for line in (straight / PROGRESS).read_text().splitlines()]
    assert [line["iteration"] for line in lines] == [1, 2, 3]
    assert all(line["steps"] == 2 * DAYS for line in lines)
    assert [("validation" in line) for line in lines] == [False, True, True], "the last one, too"
    best = max(line["validation"] for line in lines if "validation" in line)
    assert read_manifest(straight / POLICY).metrics == {"validation_net_income": best}
    assert list((straight / "tensorboard").iterdir())


def test_training_changes_the_networks(straight: Path, league: str, tmp_path: Path) -> None:
    trainer = Trainer.create(config(league), tmp_path / "untrained")
    trainer.close()
    assert not same(networks(straight)["rl_module"], networks(tmp_path / "untrained")["rl_module"])


def test_a_training_that_is_stopped_anywhere_and_resumed_ends_with_the_same_networks(
    straight: Path, league: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "stopped"
    trainer = Trainer.create(config(league), folder)

    def after_the_first(figures: dict[str, float]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer.run(after_the_first)
    trainer.close()
    trainer = Trainer.resume(folder)
    assert trainer.iteration == 1

    def within_the_second(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(trainer, "_log", within_the_second)
        trainer.run()
    trainer.close()
    trainer = Trainer.resume(folder)
    assert trainer.iteration == 1, "what was not finished is done again"
    trainer.run()
    trainer.close()
    assert same(networks(folder), networks(straight))
    kept = [json.loads(line) for line in (folder / PROGRESS).read_text().splitlines()]
    assert [line["iteration"] for line in kept] == [1, 2, 3]
    weights = (folder / POLICY / "weights.safetensors").read_bytes()
    assert weights == (straight / POLICY / "weights.safetensors").read_bytes()


def test_the_policy_plays_in_a_league_what_it_plays_in_the_environment(
    straight: Path, league: str, tmp_path: Path
) -> None:
    environment = make_environment(config(league).environment)
    acting = {"roaster_A": LeversPolicy.load(straight / POLICY)}
    earned = play(environment, acting, 7)["roaster_A"].net_income
    digests = set()
    for name, placement, hosts in (("a", "inline", 1), ("b", "inline", 2), ("c", "packed", 2)):
        values = standard().dump() | {"days": DAYS, "seed": 7}
        for firm in values["firms"]:
            if firm["name"] == "roaster_A":
                firm["strategy"] = f"policy:{straight / POLICY}"
        run = RunConfig.parse(values, name).with_overrides(placement=placement, hosts=hosts)
        with League.create(run, tmp_path / name) as played:
            result = played.run()
        digests.add(result.log_sha256)
        [income] = [firm.net_income for firm in result.firms if firm.firm == "roaster_A"]
        assert income == pytest.approx(earned, abs=0.005)
    assert len(digests) == 1, "the same log on any layout"


def test_a_folder_that_is_there_is_not_overwritten(straight: Path, league: str) -> None:
    with pytest.raises(HanseError, match="exists already; go on with it: hanse train --resume"):
        Trainer.create(config(league), straight)


def test_a_folder_is_trained_in_by_one_process_only(straight: Path) -> None:
    with lock(straight), pytest.raises(HanseError, match="is being trained at this moment"):
        Trainer.resume(straight)
    lock(straight).close()


def test_a_training_that_is_stopped_as_it_begins_leaves_no_folder(
    league: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "_keep", stopped)
    with pytest.raises(KeyboardInterrupt):
        Trainer.create(config(league), tmp_path / "trainings" / "stopped")
    assert list((tmp_path / "trainings").iterdir()) == []


def test_a_full_disk_is_a_line_and_the_last_checkpoint_stays(
    league: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = Trainer.create(config(league), tmp_path / "full")

    def full(*_: Any) -> None:
        raise RuntimeError("[enforce fail at inline_container.cc:1] . unexpected pos")

    with monkeypatch.context() as patch, pytest.raises(HanseError, match="make room, then: hanse"):
        patch.setattr(torch, "save", full)
        trainer.run()
    trainer.close()
    assert read_checkpoint(tmp_path / "full")["iteration"] == 0


def test_a_minibatch_that_an_iteration_cannot_fill_is_refused(league: str, tmp_path: Path) -> None:
    with pytest.raises(HanseError, match=r"ppo\.minibatch: 13 steps are more than .* up to 12"):
        Trainer.create(config(league, minibatch=13), tmp_path / "large")


@pytest.mark.parametrize(
    ("key", "value"), [("iteration", -3), ("best", "good"), ("learner", {}), ("versions", [])]
)
def test_a_checkpoint_whose_contents_do_not_fit_is_a_line(
    straight: Path, tmp_path: Path, key: str, value: Any
) -> None:
    saved = torch.load(straight / CHECKPOINT, weights_only=True)
    torch.save({**saved, key: value}, tmp_path / CHECKPOINT)
    with pytest.raises(HanseError, match=r"is damaged|was written with"):
        read_checkpoint(tmp_path)


def test_a_checkpoint_of_another_ray_is_refused(straight: Path, tmp_path: Path) -> None:
    saved = torch.load(straight / CHECKPOINT, weights_only=True)
    saved["versions"]["ray"] = "2.0.0"
    torch.save(saved, tmp_path / CHECKPOINT)
    with pytest.raises(HanseError, match=r"was written with ray 2\.0\.0, here is .*; install"):
        read_checkpoint(tmp_path)


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"PK\x03\x04"])
def test_a_damaged_checkpoint_is_a_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / CHECKPOINT).write_bytes(content)
    with pytest.raises(HanseError, match=r"checkpoint\.pt: is damaged") as told:
        read_checkpoint(tmp_path)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("damage", "said"),
    [("contents", r"pt: is damaged"), ("networks", r"fit its training \(there are no networks")],
)
def test_a_training_that_cannot_go_on_is_not_lengthened_either(
    straight: Path, tmp_path: Path, damage: str, said: str
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(straight, folder)
    before = (folder / TRAINING).read_bytes()
    saved = torch.load(folder / CHECKPOINT, weights_only=True)
    saved["learner"]["rl_module"] = {"strangers": {}}
    if damage == "contents":
        (folder / CHECKPOINT).write_bytes(b"not a checkpoint")
    else:
        torch.save(saved, folder / CHECKPOINT)
    with pytest.raises(HanseError, match=said):
        Trainer.resume(folder, iterations=9)
    assert (folder / TRAINING).read_bytes() == before
    lock(folder).close()  # and others have the folder


def test_a_checkpoint_with_a_price_that_cannot_be_is_not_gone_on_with(
    straight: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(straight, folder)
    saved = torch.load(folder / CHECKPOINT, weights_only=True)
    saved["prices"] = dict.fromkeys(saved["prices"], 51.0)
    torch.save(saved, folder / CHECKPOINT)
    said = r"checkpoint\.pt: does not fit its training \(prices: .*: 51; allowed: 0 to 50\)"
    with pytest.raises(HanseError, match=said):
        Trainer.resume(folder)


def test_a_checkpoint_with_an_object_in_it_is_not_opened(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return exit, ("opened",)

    torch.save({"versions": Trap()}, tmp_path / CHECKPOINT)
    with pytest.raises(HanseError, match="is damaged"):
        read_checkpoint(tmp_path)


@pytest.mark.usefixtures("ray_session")
def test_networks_that_have_gone_wrong_end_the_training_in_a_line(
    league: str, tmp_path: Path
) -> None:
    trainer = Trainer.create(config(league), tmp_path / "wrong")
    with torch.no_grad():
        for parameter in trainer._learner.module["default_policy"].value.parameters():
            parameter.fill_(float("nan"))
    with pytest.raises(HanseError, match="is not finite; the last checkpoint is kept"):
        trainer.run()
    trainer.close()
    assert read_checkpoint(tmp_path / "wrong")["iteration"] == 0


@pytest.mark.usefixtures("ray_session")
def test_episodes_never_use_the_seeds_that_are_held_out(league: str, tmp_path: Path) -> None:
    trainer = Trainer.create(config(league, iterations=1), tmp_path / "seeds")
    seeds: list[int] = []
    runner = trainer._runners.local_env_runner
    reset = runner._reset_envs

    def noting(*arguments: Any, **options: Any) -> Any:
        found = reset(*arguments, **options)
        seeds.extend(one.unwrapped.episode.config.seed for one in runner.env.unwrapped.envs)
        return found

    runner._reset_envs = noting
    trainer.run()
    trainer.close()
    assert len(seeds) == 2 == len(set(seeds)) and min(seeds) >= 1_000


@pytest.mark.usefixtures("ray_session")
def test_a_runner_that_is_killed_as_it_plays_is_replaced_and_changes_nothing(
    league: str, tmp_path: Path
) -> None:
    folder = tmp_path / "killed"
    trainer = Trainer.create(config(league, iterations=2, runners=1), folder)
    kept: list[bytes] = []
    trainer.run(lambda figures: kept.append((folder / CHECKPOINT).read_bytes()))
    undisturbed = networks(folder)
    (folder / CHECKPOINT).write_bytes(kept[0])
    trainer._again()
    assert trainer.iteration == 1

    def doom(runner: Any) -> int:
        def step(action: Any) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        runner.env.unwrapped.envs[0].step = step
        return os.getpid()

    [before] = trainer._runners.foreach_env_runner(doom, local_env_runner=False)
    trainer.run()
    [after] = trainer._runners.foreach_env_runner(lambda _: os.getpid(), local_env_runner=False)
    trainer.close()
    assert before != after, "it was killed"
    assert same(networks(folder), undisturbed)

"""A policy's folder: written whole, read with suspicion."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from actors.cast import Cast
from policies.environments.action_layout import ActionLayout
from policies.environments.observation_layout import ObservationLayout
from policies.training.acting import LeversPolicy
from policies.training.artefact import MANIFEST, WEIGHTS, check_fit, describe, read, write
from services.config import standard
from services.economy.rules import Rules
from services.errors import HanseError

pytest.importorskip("safetensors")

SETUP = Cast(standard()).setup("town")
LAYOUT = ObservationLayout("roaster", SETUP)
ACTIONS = ActionLayout("roaster", SETUP.catalogue)
HIDDEN = [3]


def weights(scale: float = 0.1) -> dict[str, NDArray[Any]]:
    random = np.random.default_rng(0)
    found = {}
    for network, out in (("policy", int(ACTIONS.nvec.sum())), ("value", 1)):
        for place, shape in ((0, (3, LAYOUT.size)), (2, (out, 3))):
            found[f"{network}.{place}.weight"] = random.normal(0, scale, shape).astype(np.float32)
            found[f"{network}.{place}.bias"] = np.zeros(shape[0], np.float32)
    return found


def manifest(**changes: Any) -> dict[str, Any]:
    return {
        **describe(LAYOUT, ACTIONS, SETUP.rules),
        "name": "small",
        "cadence": "day",
        "hidden": HIDDEN,
        "objectives": {"profit": 1.0},
        "training": {},
        "iteration": 7,
        "versions": {"hanse": "0"},
        **changes,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "policy", manifest(), weights())
    return tmp_path / "policy"


def test_what_is_written_is_read(folder: Path) -> None:
    about, arrays = read(folder)
    assert about.name == "small" and about.iteration == 7
    assert all((arrays[name] == array).all() for name, array in weights().items())


def test_a_decision_is_the_likeliest_legal_level_of_each_lever(folder: Path) -> None:
    policy = LeversPolicy.load(folder)
    seen = np.linspace(-1, 1, LAYOUT.size)
    everything = np.ones(int(ACTIONS.nvec.sum()), bool)
    arrays = weights()
    hidden = np.tanh(arrays["policy.0.weight"].astype(float) @ seen)
    logits = arrays["policy.2.weight"].astype(float) @ hidden
    heads = np.split(logits, np.cumsum(ACTIONS.nvec)[:-1])
    assert policy.act(seen, everything).tolist() == [int(np.argmax(head)) for head in heads]
    only_first = np.concatenate([np.eye(1, n, 0, bool)[0] for n in ACTIONS.nvec])
    assert not policy.act(seen, only_first).any(), "illegal levels are never taken"
    assert not policy.act(seen, only_first, Random(1)).any(), "nor drawn"


def test_levels_are_drawn_by_their_probabilities(folder: Path) -> None:
    policy = LeversPolicy.load(folder)
    seen = np.zeros(LAYOUT.size)  # biases are 0: all levels are equally likely
    everything = np.ones(int(ACTIONS.nvec.sum()), bool)
    random = Random(5)
    first = [int(policy.act(seen, everything, random)[0]) for _ in range(2_000)]
    counts = np.bincount(first, minlength=int(ACTIONS.nvec[0]))
    expected = 2_000 / ACTIONS.nvec[0]
    assert (abs(counts - expected) < 5 * expected**0.5).all()


def test_the_same_decision_comes_out_whoever_else_decides(folder: Path) -> None:
    one, other = LeversPolicy.load(folder), LeversPolicy.load(folder)
    random = np.random.default_rng(2)
    everything = np.ones(int(ACTIONS.nvec.sum()), bool)
    for _ in range(20):
        seen = random.normal(size=LAYOUT.size)
        other.act(random.normal(size=LAYOUT.size), everything)
        assert (one.logits(seen, everything) == other.logits(seen, everything)).all()


def test_a_policy_fits_where_it_was_trained(folder: Path) -> None:
    check_fit(read(folder)[0], LAYOUT, ACTIONS, SETUP.rules, "here")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"role": "farmer"}, 'role: "farmer" in training, "roaster" here'),
        (
            {"rules": {**describe(LAYOUT, ACTIONS, SETUP.rules)["rules"], "calls_per_day": 5}},
            "rules: calls_per_day: 5 in training, 20 here",
        ),
        (
            {"observation": describe(LAYOUT, ACTIONS, SETUP.rules)["observation"][:-1]},
            "nothing in training",
        ),
        ({"observation_sha256": "0"}, "anchors of prices"),
    ],
)
def test_a_policy_is_refused_elsewhere_and_what_differs_is_said(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    write(tmp_path, manifest(**changes), weights())
    with pytest.raises(HanseError) as told:
        check_fit(read(tmp_path)[0], LAYOUT, ACTIONS, SETUP.rules, "firms.roaster_A.strategy")
    assert said in str(told.value) and str(told.value).startswith("firms.roaster_A.strategy: ")
    assert "hanse train" in str(told.value)


def test_a_lever_with_other_levels_is_named() -> None:
    about = manifest()
    first = about["levers"][0]
    about["levers"] = [{**first, "levels": [0.0, 1.0]}, *about["levers"][1:]]
    from policies.training.artefact import Manifest

    with pytest.raises(HanseError, match=f"levers: {first['name']}: levels"):
        check_fit(Manifest(**about, weights_sha256=""), LAYOUT, ACTIONS, SETUP.rules, "here")


def test_other_rules_are_refused(folder: Path) -> None:
    other = replace(Rules(), restocking_fee=0.2)
    with pytest.raises(HanseError, match=r"restocking_fee: 0\.1 in training, 0\.2 here"):
        check_fit(read(folder)[0], LAYOUT, ACTIONS, other, "here")


def _without(path: Path) -> None:
    path.unlink()


def _changed(path: Path) -> None:
    held = bytearray(path.read_bytes())
    held[-1] ^= 1
    path.write_bytes(bytes(held))


def _no_json(path: Path) -> None:
    path.write_text("{")


@pytest.mark.parametrize(
    ("file", "damage", "said"),
    [
        (MANIFEST, _without, "is not a trained policy"),
        (MANIFEST, _no_json, "manifest.json: contents: "),
        (WEIGHTS, _without, "weights.safetensors: cannot be read"),
        (WEIGHTS, _changed, "their digests differ"),
    ],
)
def test_a_damaged_folder_is_a_line_that_names_the_file(
    folder: Path, file: str, damage: Any, said: str
) -> None:
    damage(folder / file)
    with pytest.raises(HanseError) as told:
        read(folder)
    assert said in str(told.value) and "\n" not in str(told.value)


def test_weights_of_another_shape_or_not_finite_are_refused(tmp_path: Path) -> None:
    arrays = weights()
    arrays["policy.2.bias"] = arrays["policy.2.bias"][:-1]
    write(tmp_path, manifest(), arrays)
    with pytest.raises(HanseError, match=r"policy\.2\.bias has shape"):
        LeversPolicy.load(tmp_path)
    arrays = weights()
    arrays["value.0.bias"][0] = np.nan
    write(tmp_path, manifest(), arrays)
    with pytest.raises(HanseError, match=r"value\.0\.bias holds numbers that are not finite"):
        LeversPolicy.load(tmp_path)


def test_a_pickle_in_place_of_the_weights_is_not_opened(folder: Path) -> None:
    import hashlib
    import pickle

    class Trap:
        def __reduce__(self) -> Any:
            return exit, ("opened",)

    packed = pickle.dumps(Trap())
    (folder / WEIGHTS).write_bytes(packed)
    about = json.loads((folder / MANIFEST).read_text())
    about["weights_sha256"] = hashlib.sha256(packed).hexdigest()
    (folder / MANIFEST).write_text(json.dumps(about))
    with pytest.raises(HanseError, match="is damaged"):
        read(folder)


def test_a_folder_whose_name_no_file_can_have_is_a_line() -> None:
    with pytest.raises(HanseError, match=r"is not a trained policy .*null byte") as told:
        read(Path("a\0b"))
    assert str(told.value).isprintable()

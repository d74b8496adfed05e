"""A purchasing policy as a folder: what it refuses, and how it says so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("safetensors", reason="a policy needs safetensors: make rl")

from policies.becon.procurement.artefact import PurchasingPolicy, check_fit, read_manifest, write
from policies.training.artefact import MANIFEST, WEIGHTS
from services.economy.rules import COFFEEBENCH
from services.economy.setup import TownSetup
from services.errors import HanseError
from tests.policies.becon.procurement.untrained import manifest, weights, written


def test_a_policy_of_a_firm_is_none_of_a_controller(tmp_path: Path) -> None:
    folder = written(tmp_path)
    told = json.loads((folder / MANIFEST).read_text()) | {"kind": "levers"}
    (folder / MANIFEST).write_text(json.dumps(told))
    with pytest.raises(HanseError, match=r"kind: this policy is of the kind 'levers', a controll"):
        PurchasingPolicy.load(folder)


def test_a_folder_without_a_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HanseError, match="is not a trained policy"):
        PurchasingPolicy.load(tmp_path / "nothing")


def test_weights_of_another_policy_are_refused(tmp_path: Path) -> None:
    folder, other = written(tmp_path / "one"), tmp_path / "other"
    write(other, manifest(), weights(seed=1))
    (folder / WEIGHTS).write_bytes((other / WEIGHTS).read_bytes())
    with pytest.raises(HanseError, match="their digests differ"):
        PurchasingPolicy.load(folder)


def test_an_array_that_does_not_fit_its_manifest_is_named(tmp_path: Path) -> None:
    write(tmp_path, manifest() | {"hidden": [9]}, weights())
    with pytest.raises(HanseError, match=r"values\.0\.weight has shape \[7, 13\]"):
        PurchasingPolicy.load(tmp_path)


def test_it_fits_the_town_that_it_was_trained_in_and_says_what_differs_elsewhere(
    tmp_path: Path,
) -> None:
    found = read_manifest(written(tmp_path))
    check_fit(found, TownSetup(), "run file")
    elsewhere = TownSetup(rules=replace(COFFEEBENCH))
    with pytest.raises(HanseError, match=r"does not fit: the town: rules: name: \"hanse\" in trai"):
        check_fit(found, elsewhere, "run file")


def test_it_does_not_serve_other_levers(tmp_path: Path) -> None:
    found = read_manifest(written(tmp_path))
    other = found.model_copy(update={"sees_and_sets": {**found.sees_and_sets, "cost_unit": 1.0}})
    with pytest.raises(HanseError, match=r"cost_unit: 1\.0 in training, 150\.0 here"):
        check_fit(other, TownSetup(), "run file")

"""A purchasing policy as a folder: what it refuses, and how it says so."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("safetensors", reason="a policy needs safetensors: make rl")

from policies.becon.procurement.artefact import (
    PurchasingPolicy,
    check_fit,
    read_manifest,
    shared,
    write,
)
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
    said = r"values\.0\.weight has shape \[7, 13\], but must have shape \[9, 13\]; restore the fol"
    with pytest.raises(HanseError, match=said):
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


def edited(folder: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """A policy in whose manifest somebody has written."""
    written(folder)
    told = json.loads((folder / MANIFEST).read_text())
    change(told)
    (folder / MANIFEST).write_text(json.dumps(told))
    return folder


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("kappa", float("nan"), "kappa: Input should be a finite number"),
        ("kappa", float("inf"), "kappa: Input should be a finite number"),
        ("kappa", -5, "kappa: Input should be greater than or equal to 0"),
        ("kappa", 1e308, "kappa: Input should be less than or equal to 10"),
        ("prior_scale", float("nan"), "prior_scale: Input should be a finite number"),
        ("hidden", [-1], r"hidden\.0: Input should be greater than or equal to 1"),
        ("metrics", {"belief_loss": float("inf")}, r"metrics\.belief_loss: Input should be a fin"),
    ],
)
def test_a_number_that_cannot_be_is_named_with_what_is_allowed(
    tmp_path: Path, key: str, value: Any, said: str
) -> None:
    folder = edited(tmp_path, lambda told: told.update({key: value}))
    with pytest.raises(HanseError, match=r"manifest\.json: " + said):
        PurchasingPolicy.load(folder)


@pytest.mark.parametrize("key", ["features", "objectives"])
def test_a_policy_that_does_not_say_what_it_sees_is_refused_before_its_arrays_are_read(
    tmp_path: Path, key: str
) -> None:
    folder = edited(tmp_path, lambda told: told["sees_and_sets"].pop(key))
    (folder / WEIGHTS).unlink()
    with pytest.raises(HanseError, match=rf"sees and sets: {key}: nothing in training"):
        PurchasingPolicy.load(folder)


@pytest.mark.parametrize(
    ("name", "shape", "asked"),
    [
        ("estimator.encoder.gru.weight_hh_l0", (3,), "[any, any]"),
        ("estimator.encoder.gru.weight_ih_l0", (24, 2), "[24, 46]"),
        ("estimator.heads.inner", (3, 4), "[any, 16, any]"),
        ("estimator.heads.inner", (0, 16, 6), "[any, 16, any]"),
        ("estimator.heads.prior_inner", (3, 9, 5), "[3, 8, any]"),
        ("estimator.heads.prior_outer", (2, 5, 1), "[3, 5, 4]"),
        ("estimator.gates.body.0.weight", (4, 7), "[any, 6]"),
        ("estimator.gates.body.0.bias", (23,), "[24]"),
        ("estimator.line.body.2.weight", (1, 24), "[2, 24]"),
        ("estimator.calibration", (3,), "[2]"),
    ],
)
def test_an_array_that_does_not_fit_the_others_is_named_with_both_shapes(
    tmp_path: Path, name: str, shape: tuple[int, ...], asked: str
) -> None:
    write(tmp_path, manifest(), weights() | {name: np.ones(shape, np.float32)})
    with pytest.raises(HanseError) as told:
        PurchasingPolicy.load(tmp_path)
    assert f"{name} has shape {list(shape)}, but must have shape {asked}" in str(told.value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.full(3, np.nan, np.float32), "holds numbers that are not finite"),
        (np.full(3, 1e30, np.float32), "holds numbers beyond 1e+09"),
        (np.ones(3, np.bool_), "holds bool, but must hold float32 or float64"),
    ],
)
def test_an_array_with_what_no_training_makes_is_named(
    tmp_path: Path, value: Any, said: str
) -> None:
    write(tmp_path, manifest(), weights() | {"values.2.bias": value})
    with pytest.raises(HanseError) as told:
        PurchasingPolicy.load(tmp_path)
    assert f"values.2.bias {said}" in str(told.value) and "shape" not in str(told.value)


def test_a_calibration_below_nothing_is_refused(tmp_path: Path) -> None:
    bad = np.array([-1.0, 1.0], np.float32)
    write(tmp_path, manifest(), weights() | {"estimator.calibration": bad})
    with pytest.raises(HanseError, match="calibration holds -1; allowed: numbers above 0"):
        PurchasingPolicy.load(tmp_path)


def test_an_array_of_a_kind_that_numpy_has_not_is_a_line(tmp_path: Path) -> None:
    path = written(tmp_path) / WEIGHTS
    packed = path.read_bytes()
    (size,) = struct.unpack("<Q", packed[:8])
    header = json.loads(packed[8 : 8 + size])
    about = header["values.0.bias"]  # each float32 as two of half the size
    about.update(dtype="BF16", shape=[2 * about["shape"][0]])
    text = json.dumps(header).encode()
    packed = struct.pack("<Q", len(text)) + text + packed[8 + size :]
    path.write_bytes(packed)
    told = json.loads((tmp_path / MANIFEST).read_text())
    told["weights_sha256"] = hashlib.sha256(packed).hexdigest()
    (tmp_path / MANIFEST).write_text(json.dumps(told))
    with pytest.raises(HanseError, match="holds arrays of BF16, which cannot be read here"):
        PurchasingPolicy.load(tmp_path)


@pytest.mark.parametrize("folder", ["a\0b", "a\nb"])
def test_a_folder_whose_name_a_terminal_would_obey_is_a_line(folder: str) -> None:
    with pytest.raises(HanseError, match="is not a trained policy") as told:
        shared(folder)
    assert str(told.value).isprintable()

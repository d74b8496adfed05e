"""A purchasing policy is learned on leagues, and the same settings make the same policy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="BECON is trained with torch: make rl")
pytest.importorskip("safetensors", reason="a policy needs safetensors: make rl")

from policies.becon.procurement.artefact import PurchasingPolicy
from policies.becon.procurement.collecting import explored, league, play
from policies.becon.procurement.settings import Settings
from policies.becon.procurement.training import Trained, train
from services.errors import HanseError

TINY = Settings(
    days=12,
    explored=3,
    hold=6,
    horizon=4,
    value_updates=30,
    watched=1,
    updates=2,
    sequences=4,
    judged=1,
    gate_updates=5,
    line_updates=5,
)


@pytest.fixture(scope="module")
def trained() -> Trained:
    return train(TINY)


def test_the_same_settings_make_the_same_policy(trained: Trained) -> None:
    again = train(TINY)
    assert trained.weights.keys() == again.weights.keys()
    for name, value in trained.weights.items():
        np.testing.assert_array_equal(value, again.weights[name], err_msg=name)


def test_what_is_read_back_decides_as_what_was_trained(trained: Trained, tmp_path: Path) -> None:
    trained.write(tmp_path)
    config = league(3, "moderate", 20)
    mine = play(config, trained.policy.buyer())
    theirs = play(config, PurchasingPolicy.load(tmp_path).buyer())
    np.testing.assert_array_equal(mine.cost, theirs.cost)
    np.testing.assert_array_equal(mine.reward, theirs.reward)


def test_only_days_from_which_levers_are_held_long_enough_are_learned_from() -> None:
    found = explored([5], hold=6, horizon=4, days=26)
    # Of every six days the first three have four left; the first stretch is cut short by chance.
    assert 3 * 3 <= len(found.state) <= 4 * 3
    assert found.worth.shape == (len(found.state), 3)
    assert ((found.worth >= 0.0) & (found.worth <= 1.0)).all()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"speed": 3}, "there is no 'speed'; allowed: days, "),
        ({"explored": "many"}, "file: explored: 'many' does not fit; allowed: a whole number from"),
        (
            {"explored": 1},
            "file: explored: 1 does not fit; allowed: a whole number from 2 to 10000",
        ),
        ({"updates": "5"}, "file: updates: '5' does not fit; allowed: a whole number"),
        ({"days": 100_000}, "file: days: 100000 does not fit; allowed: a whole number from 1 to"),
        ({"seed": -1}, "file: seed: -1 does not fit"),
        ({"kappa": float("nan")}, "file: kappa: NaN does not fit; allowed: a number from 0 to 10"),
        (
            {"learning_rate": -1.0},
            "file: learning_rate: -1.0 does not fit; allowed: a number above",
        ),
        ({"random_share": 2.0}, "file: random_share: 2.0 does not fit"),
        ({"value_batch": 0}, "file: value_batch: 0 does not fit"),
        ({"hidden": [True]}, r"file: hidden\[1\]: true does not fit"),
        ({"hidden": [-1]}, r"file: hidden\[1\]: -1 does not fit"),
        ({"horizon": 20}, "horizon = 20, hold = 14"),
    ],
)
def test_settings_that_do_not_fit_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(HanseError, match=message):
        Settings.parse(values, "file")


def test_settings_that_are_left_out_are_as_usual() -> None:
    assert Settings.parse({"explored": 50}, "file") == replace(Settings(), explored=50)


def test_settings_as_a_file_has_them_are_those_of_the_training() -> None:
    found = Settings.parse({"hidden": [8, 4], "kappa": 1}, "file")
    assert found == replace(Settings(), hidden=(8, 4), kappa=1.0)


def test_a_horizon_for_which_no_levers_were_held_is_refused_in_a_line() -> None:
    # Two leagues of as many days as levers are held: the first stretch is cut short by chance, and
    # the second by the end.
    settings = replace(TINY, explored=2, hold=11, horizon=11)
    with pytest.raises(HanseError, match="horizon: in 2 leagues of 12 days no levers were held"):
        train(settings)

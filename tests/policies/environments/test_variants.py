"""The same levers as one discrete choice or as a box."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from policies.environments.firm_env import CoffeeFirmEnv
from policies.environments.variants import LeverBox, OneLever
from services.config import standard
from services.errors import HanseError
from tests.policies.environments.stub import Stub

SHORT = standard().with_overrides(days=6)


def test_doing_nothing_keeps_the_usual_levers() -> None:
    plain = CoffeeFirmEnv(SHORT)
    one = OneLever(CoffeeFirmEnv(SHORT))
    plain.reset(seed=2)
    one.reset(seed=2)
    for _ in range(6):
        assert one.step(0)[1] == plain.step(plain.actions.usual)[1]


def test_a_choice_sets_one_lever_which_then_stays() -> None:
    env = OneLever(CoffeeFirmEnv(SHORT))
    env.reset(seed=2)
    layout = env.layout
    before = env.levels.copy()
    names = [lever.name for lever in layout.levers]
    head = names.index("ask.roasted_coffee_kg")
    choice = 1 + int(layout.nvec[:head].sum()) + 7
    env.step(choice)
    changed = np.flatnonzero(env.levels != before)
    assert changed.tolist() == [head] and env.levels[head] == 7
    env.step(0)
    assert env.levels[head] == 7
    env.reset(seed=2)
    assert env.levels.tolist() == before.tolist()


def test_the_mask_of_choices_always_lets_things_be() -> None:
    env = OneLever(CoffeeFirmEnv(SHORT))
    _, info = env.reset(seed=0)
    assert info["action_mask"].shape == (env.action_space.n,)  # type: ignore[attr-defined]
    assert info["action_mask"][0] and not info["action_mask"].all()


def test_a_box_takes_the_nearest_legal_level() -> None:
    env = LeverBox(CoffeeFirmEnv(SHORT))
    _, info = env.reset(seed=0)
    low = env.levels(np.full(len(env.layout.levers), -1.0))
    high = env.levels(np.full(len(env.layout.levers), 1.0))
    legal = [np.flatnonzero(part) for part in env.layout.split(info["action_mask"])]
    assert low.tolist() == [int(levels[0]) for levels in legal]
    assert high.tolist() == [int(levels[-1]) for levels in legal]
    names = [lever.name for lever in env.layout.levers]
    roast = names.index("roast.green_coffee_kg")
    assert high[roast] == 0  # on the first day there is nothing to roast
    env.step(np.zeros(len(names)))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(HanseError, match="has no levers"):
        OneLever(Stub())
    one = OneLever(CoffeeFirmEnv(SHORT))
    one.reset(seed=0)
    with pytest.raises(HanseError, match="no choice 9999"):
        one.step(9999)
    box = LeverBox(CoffeeFirmEnv(SHORT))
    box.reset(seed=0)
    with pytest.raises(HanseError, match="give 15 finite numbers"):
        box.step(np.full(15, np.nan))

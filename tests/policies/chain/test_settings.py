from __future__ import annotations

import pytest

from policies.chain.settings import ChainSettings, read_settings
from services.errors import HanseError


def test_keys_change_only_what_they_name() -> None:
    read = read_settings(
        {"chain_beta": 0.2, "chain_lambda": 3, "chain_monitor_steps": [1, 10], "other": 1},
        ChainSettings(),
    )
    assert (read.coefficient.beta, read.weight, read.monitor_steps) == (0.2, 3.0, (1, 10))
    assert read.coefficient.window == ChainSettings().coefficient.window


def test_auto_undoes_a_fixed_weight() -> None:
    default = ChainSettings(weight=5e-4, value_weight=0.1)
    read = read_settings({"chain_lambda": "auto"}, default)
    assert (read.weight, read.value_weight) == (None, 0.1)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"chain_betta": 1}, r"'chain_betta' is unknown; known are chain_beta, "),
        ({"chain_beta": -1}, r"'chain_beta' must be a number from 0 up, not -1"),
        ({"chain_lambda": "much"}, r"'chain_lambda' must be a number from 0 up or \"auto\""),
        ({"chain_window": 0}, r"'chain_window' must be a whole number from 1 up, not 0"),
        ({"chain_window": True}, r"'chain_window' must be a whole number"),
        ({"chain_monitor_steps": [11]}, r"'chain_monitor_steps' must be a list of numbers from 1"),
        ({"chain_follow_learning_rate": 1}, r"must be true or false, not 1"),
        ({"chain_least": 60}, r"chain_least must be at most chain_most"),
    ],
)
def test_what_cannot_be_is_refused_with_its_key(given: dict[str, object], complaint: str) -> None:
    with pytest.raises(HanseError, match=complaint):
        read_settings(given, ChainSettings())

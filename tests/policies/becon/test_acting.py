import inspect
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="BECON needs torch: make rl")
pytest.importorskip("safetensors", reason="BECON's weights need safetensors: make rl")

import torch

from policies.becon.acting import MANIFEST, WEIGHTS, BeconPolicy
from policies.becon.observation import Exposed, Feedback, Observer
from services.errors import HanseError
from tests.policies.becon.agents import LAYOUT, small_agent


def step(seed: int) -> tuple[np.ndarray, Exposed, Feedback]:
    """A step of two clients: state features, descriptor, and what the step before came to."""
    rng = np.random.default_rng(seed)
    exposed = Exposed(
        rng.dirichlet(np.ones(3), 2), rng.uniform(size=2), np.zeros(2), np.ones(2) > 0
    )
    feedback = Feedback(
        rng.integers(12, size=2),
        rng.uniform(size=(2, 3)),
        rng.uniform(size=2),
        rng.uniform(size=2),
        np.array([0.0, 1.0]),
    )
    return rng.uniform(size=(2, LAYOUT.features)), exposed, feedback


def lived(policy: BeconPolicy, steps: range) -> list[np.ndarray]:
    made = []
    for number in steps:
        features, exposed, feedback = step(number)
        made.append(policy.decide(features, exposed, feedback if number else None).preference)
    return made


def trained(window: int = 0) -> BeconPolicy:
    """A policy whose choices depend on what it sees."""
    agent = small_agent()
    with torch.no_grad():
        agent.policy[-1].weight.normal_()
    return BeconPolicy(agent, 2, window)


def test_neither_acting_nor_observing_has_a_way_in_for_labels() -> None:
    for taken in (BeconPolicy.decide, Observer.first, Observer.next):
        assert not {"truth", "preference", "budget", "info", "labels"} & set(
            inspect.signature(taken).parameters
        )
    assert not {"preference", "budget", "truth"} & set(Feedback.__slots__)


def test_a_decision_tells_on_what_it_stands() -> None:
    features, exposed, _ = step(0)
    made = trained().decide(features, exposed)
    assert made.action.shape == (2, 1)
    assert made.preference.sum(axis=1) == pytest.approx([1.0, 1.0])
    assert set(made.span_attributes(1)) == {
        "becon.gate_w",
        "becon.gate_d",
        "becon.epistemic",
        "becon.lambda",
        "becon.budget_safe",
    }


def test_the_likeliest_is_chosen_unless_a_generator_is_given() -> None:
    features, exposed, _ = step(0)
    same = {int(trained().decide(features, exposed).action[0, 0]) for _ in range(5)}
    rng = np.random.default_rng(0)
    drawn = {int(trained().decide(features, exposed, rng=rng).action[0, 0]) for _ in range(40)}
    assert len(same) == 1
    assert len(drawn) > 1


@pytest.mark.parametrize("window", [0, 3])
def test_beliefs_go_on_to_the_bit_from_a_saved_state(window: int) -> None:
    policy, other = trained(window), trained(window)
    lived(policy, range(4))
    other.set_state(policy.get_state())
    for one, again in zip(lived(policy, range(4, 8)), lived(other, range(4, 8)), strict=True):
        assert np.array_equal(one, again)


def test_a_first_step_forgets_the_last_episode() -> None:
    policy = trained()
    first = lived(policy, range(3))
    assert np.array_equal(lived(policy, range(3))[2], first[2])


@pytest.mark.parametrize("window", [0, 3])
def test_a_saved_policy_decides_as_before(tmp_path: Path, window: int) -> None:
    policy = trained(window)
    policy.save(tmp_path)
    again = BeconPolicy.load(tmp_path, clients=2)
    assert again.agent.form == policy.agent.form
    for one, other in zip(lived(policy, range(4)), lived(again, range(4)), strict=True):
        assert np.array_equal(one, other)


def test_other_weights_than_the_manifest_tells_of_are_refused(tmp_path: Path) -> None:
    trained().save(tmp_path)
    packed = bytearray((tmp_path / WEIGHTS).read_bytes())
    packed[-1] ^= 1
    (tmp_path / WEIGHTS).write_bytes(bytes(packed))
    with pytest.raises(HanseError, match="restore both"):
        BeconPolicy.load(tmp_path, clients=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "levers"}, "kind: is no BECON policy"),
        ({"format": 2}, "format: only 1 is known"),
        ({"layout": None}, "layout is missing"),
    ],
)
def test_a_manifest_of_something_else_is_refused(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    trained().save(tmp_path)
    told = json.loads((tmp_path / MANIFEST).read_text()) | change
    (tmp_path / MANIFEST).write_text(json.dumps(told))
    with pytest.raises(HanseError, match=message):
        BeconPolicy.load(tmp_path, clients=1)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(HanseError, match="nowhere"):
        BeconPolicy.load(tmp_path / "nowhere", clients=1)

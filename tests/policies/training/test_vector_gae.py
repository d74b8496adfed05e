from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")
pytest.importorskip("ray.rllib", reason="learning needs torch and RLlib: make rl")

from ray.rllib.connectors.learner import (  # noqa: E402
    AddColumnsFromEpisodesToTrainBatch,
    AddObservationsFromEpisodesToBatch,
    AddOneTsToEpisodesAndTruncate,
    AddStatesFromEpisodesToBatch,
    AddTimeDimToBatchAndZeroPad,
    BatchIndividualItems,
    GeneralAdvantageEstimation,
    LearnerConnectorPipeline,
    NumpyToTensor,
)
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI  # noqa: E402
from ray.rllib.core.rl_module.multi_rl_module import (  # noqa: E402
    MultiRLModule,
    MultiRLModuleSpec,
)
from ray.rllib.core.rl_module.rl_module import RLModuleSpec  # noqa: E402
from ray.rllib.core.rl_module.torch import TorchRLModule  # noqa: E402
from ray.rllib.env.single_agent_episode import SingleAgentEpisode  # noqa: E402

from policies.training.vector_gae import (  # noqa: E402
    ADVANTAGES,
    REWARDS,
    ColumnFromInfo,
    VectorGAE,
    generalised_advantages,
    pad,
    replace_gae,
    unpad,
    weighted_by,
)

SPACE = pytest.importorskip("gymnasium").spaces.Box(-1, 1, (2,), np.float32)
GAMMA, LAMBDA = 0.9, 0.8


class Valued(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """Values are sums of the observation, times 1, 2, ... for the components."""

    def setup(self) -> None:
        self.unused = torch.nn.Linear(1, 1)

    def get_initial_state(self) -> dict[str, Any]:
        return {"h": np.zeros(1, np.float32)} if self.model_config["stateful"] else {}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        values = batch["obs"].sum(-1)
        width = self.model_config["width"]
        return values if width == 0 else values[..., None] * (1.0 + torch.arange(width))


def module(width: int, stateful: bool) -> MultiRLModule:
    """`width` 0: one value per step, without an axis for it."""
    config = {"width": width, "stateful": stateful, "max_seq_len": 4}
    spec = RLModuleSpec(Valued, SPACE, SPACE, model_config=config)
    return MultiRLModuleSpec(rl_module_specs={"default_policy": spec}).build()


def episode(length: int, end: str, seed: int = 0) -> SingleAgentEpisode:
    rng = np.random.default_rng([seed, length])
    rewards = rng.normal(size=length)
    infos: list[dict[str, Any]] = [{}]
    infos += [{"vector_reward": np.array([r, -2 * r]), "preference": [0.25, 0.75]} for r in rewards]
    return SingleAgentEpisode(
        observations=list(rng.normal(size=(length + 1, 2)).astype(np.float32)),
        infos=infos,
        actions=list(rng.normal(size=(length, 2)).astype(np.float32)),
        rewards=rewards.tolist(),
        terminated=end == "terminated",
        truncated=end == "truncated",
        extra_model_outputs={"state_out": [{"h": np.zeros(1, np.float32)}] * length}
        if end.startswith("state")
        else None,
        len_lookback_buffer=0,
    )


def run(episodes: list[Any], modules: MultiRLModule, last: Any, *first: Any) -> dict[str, Any]:
    """What the default pipeline makes of the episodes with these pieces at its ends."""
    stateful = modules.is_stateful()
    pipeline = LearnerConnectorPipeline(
        connectors=[
            AddOneTsToEpisodesAndTruncate(),
            *first,
            AddObservationsFromEpisodesToBatch(as_learner_connector=True),
            AddColumnsFromEpisodesToTrainBatch(),
            AddTimeDimToBatchAndZeroPad(as_learner_connector=True),
            *([AddStatesFromEpisodesToBatch(as_learner_connector=True)] if stateful else []),
            BatchIndividualItems(multi_agent=False),
            NumpyToTensor(as_learner_connector=True),
            last,
        ]
    )
    made = [one.to_numpy() for one in episodes]
    shared: dict[str, Any] = {}
    batch = pipeline(rl_module=modules, batch={}, episodes=made, shared_data=shared)
    columns: dict[str, Any] = batch["default_policy"]
    return columns


@pytest.mark.parametrize("stateful", [False, True])
@pytest.mark.parametrize(
    "lengths",
    [[("terminated", 5)], [("truncated", 3), ("cut", 11)], [("terminated", 8), ("truncated", 7)]],
)
def test_one_component_is_what_rllib_computes(
    lengths: list[tuple[str, int]], stateful: bool
) -> None:
    def episodes() -> list[Any]:
        return [episode(length, end) for end, length in lengths]

    theirs = run(
        episodes(),
        module(0, stateful),
        GeneralAdvantageEstimation(gamma=GAMMA, lambda_=LAMBDA),
    )
    for width, first in (
        (0, []),
        (1, [ColumnFromInfo(REWARDS, lambda info: info["vector_reward"][0], width=1)]),
    ):
        ours = run(
            episodes(), module(width, stateful), VectorGAE(gamma=GAMMA, lambda_=LAMBDA), *first
        )
        for column in ("advantages", "value_targets"):
            expected = theirs[column].numpy().reshape(-1)
            assert ours[column].numpy().reshape(-1) == pytest.approx(expected, abs=1e-5)
        assert ours["advantages"].shape == theirs["advantages"].shape


@pytest.mark.parametrize("stateful", [False, True])
def test_a_second_component_does_not_change_the_first(stateful: bool) -> None:
    both = run(
        [episode(6, "terminated"), episode(9, "truncated")],
        module(2, stateful),
        VectorGAE(gamma=GAMMA, lambda_=LAMBDA, standardise=False, scalarise=weighted_by("weights")),
        ColumnFromInfo(REWARDS, lambda info: info["vector_reward"], width=2),
        ColumnFromInfo("weights", lambda info: info["preference"], width=2),
    )
    alone = run(
        [episode(6, "terminated"), episode(9, "truncated")],
        module(0, stateful),
        VectorGAE(gamma=GAMMA, lambda_=LAMBDA, standardise=False),
    )
    assert torch.allclose(both[ADVANTAGES][..., 0], alone["advantages"], atol=1e-5)
    assert torch.allclose(both["value_targets"][..., 0], alone["value_targets"], atol=1e-5)
    real = both["loss_mask"].bool()
    expected = (both[ADVANTAGES] * torch.tensor([0.25, 0.75])).sum(-1)
    assert torch.allclose(both["advantages"][real], expected[real], atol=1e-6)


def test_two_steps_by_hand() -> None:
    # Values 1, 2 and 4 (of the observation after the last step), rewards 10 and 20.
    found = generalised_advantages(
        np.array([[1.0], [2.0], [4.0]]),
        np.array([[10.0], [20.0], [0.0]]),
        np.array([False, False, False]),
        np.array([False, True, False]),
        0.5,
        0.5,
    )
    second = 20 + 0.5 * 4 - 2
    assert found[:2, 0] == pytest.approx([10 + 0.5 * 2 - 1 + 0.25 * second, second])


def test_nothing_follows_a_terminated_step() -> None:
    found = generalised_advantages(
        np.array([[2.0], [400.0]]),
        np.array([[20.0], [0.0]]),
        np.array([True, False]),
        np.array([False, False]),
        0.5,
        0.5,
    )
    assert found[0, 0] == 18.0


@given(
    st.lists(st.integers(1, 11), min_size=1, max_size=5),
    st.integers(1, 6),
    st.sampled_from([(), (3,)]),
)
def test_padding_and_unpadding_give_back_the_steps(
    lengths: list[int], chunk: int, tail: tuple[int, ...]
) -> None:
    steps = np.random.default_rng(0).normal(size=(sum(lengths), *tail))
    padded = pad(steps, lengths, chunk)
    assert padded.shape[1:] == (chunk, *tail)
    assert np.array_equal(unpad(padded, lengths), steps)
    assert np.count_nonzero(padded) == np.count_nonzero(steps)


def test_rows_that_do_not_fit_the_episodes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"take 2 rows of 4 steps, but the batch has 3"):
        unpad(np.zeros((3, 4)), [5])


def test_the_appended_step_has_no_reward() -> None:
    found = run(
        [episode(3, "cut")],
        module(2, stateful=False),
        VectorGAE(gamma=GAMMA, lambda_=LAMBDA),
        ColumnFromInfo(REWARDS, lambda info: info["vector_reward"], width=2),
    )
    assert found[REWARDS].shape == (4, 2)
    assert found[REWARDS][-1].tolist() == [0.0, 0.0]
    assert found[REWARDS][:3, 0].numpy() == pytest.approx(found["rewards"][:3].numpy())


def test_phantom_steps_may_be_left_out_of_the_scale() -> None:
    found = run(
        [episode(9, "truncated"), episode(4, "terminated")],
        module(0, stateful=False),
        VectorGAE(gamma=GAMMA, lambda_=LAMBDA, phantoms=False),
    )
    real = found["advantages"][found["loss_mask"].bool()]
    assert float(real.mean()) == pytest.approx(0, abs=1e-6)
    assert float(real.std(correction=0)) == pytest.approx(1, abs=1e-6)


def test_a_missing_info_is_named() -> None:
    with pytest.raises(KeyError, match=r"'cost'.*it has \['preference', 'vector_reward'\]"):
        run(
            [episode(3, "cut")],
            module(2, stateful=False),
            VectorGAE(gamma=GAMMA, lambda_=LAMBDA),
            ColumnFromInfo("costs", lambda info: info["cost"], width=1),
        )


def test_several_values_without_vector_rewards_are_refused() -> None:
    with pytest.raises(KeyError, match="values have 2 components"):
        run(
            [episode(3, "cut")],
            module(2, stateful=False),
            VectorGAE(gamma=GAMMA, lambda_=LAMBDA),
        )


def test_different_numbers_of_values_and_rewards_are_refused() -> None:
    with pytest.raises(ValueError, match="3 values, but 2 rewards"):
        run(
            [episode(3, "cut")],
            module(3, stateful=False),
            VectorGAE(gamma=GAMMA, lambda_=LAMBDA),
            ColumnFromInfo(REWARDS, lambda info: info["vector_reward"], width=2),
        )


def test_only_a_ppo_learner_has_a_place_for_it() -> None:
    class Learner:
        _learner_connector = LearnerConnectorPipeline(connectors=[])

    with pytest.raises(ValueError, match="is it a PPO learner"):
        replace_gae(Learner(), VectorGAE(gamma=GAMMA, lambda_=LAMBDA))

"""Concave PPO on RLlib's new API stack: omega once per iteration, in place of a preference.

    config = (
        PPOConfig(algo_class=ConcavePPO)
        .learners(
            learner_class=ConcavePPOLearner,
            learner_connector=lambda observations, actions: [
                ColumnFromInfo(REWARDS, lambda info: info["vector_reward"], width=2)
            ],
            learner_config_dict={"concave_scalarisation": {"utility": "soft_min", "beta": 5.0}},
        )
        .rl_module(rl_module_spec=RLModuleSpec(VectorPPOModule, model_config={"objectives": 2}))
    )

The vector advantages of :mod:`policies.training.vector_gae` are weighted with omega / |omega|_1 and
standardised; all else is PPO with a critic of M values. Note, section 4, "PPO form".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from ray.rllib.algorithms.ppo.ppo import (
    LEARNER_RESULTS_KL_KEY,
    LEARNER_RESULTS_VF_LOSS_UNCLIPPED_KEY,
)
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core.learner.learner import ENTROPY_KEY, POLICY_LOSS_KEY, VF_LOSS_KEY
from torch import Tensor

from policies.concave.losses import vector_ppo_loss
from policies.concave.module_weights import ModuleWeights
from policies.concave.returns import episode_return
from policies.concave.scalarisation import Array
from policies.concave.settings import read_settings
from policies.training.vector_gae import (
    REWARDS,
    ColumnFromInfo,
    VectorGAE,
    pad,
    replace_gae,
    unpad,
    weighted_by,
)
from services.errors import HanseError

STATE: Final = "concave"
"""Key of the weights in a learner's state."""
WEIGHTS: Final = "concave_weights"
"""Column of what each step's advantages are weighted with, (..., M)."""
_WHOLE: Final = "concave_whole"


class NoteWholeEpisodes(ConnectorV2):  # type: ignore[misc]
    """Goes first: whether an episode has its beginning and its end is not to be seen later on."""

    def __call__(
        self,
        *,
        rl_module: Any,
        batch: dict[str, Any],
        episodes: list[Any],
        shared_data: dict[str, Any] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Notes it in `shared_data`."""
        if shared_data is not None:
            every = self.single_agent_episode_iterator(episodes, agents_that_stepped_only=False)
            shared_data[_WHOLE] = {
                id(one): bool(one.is_done) and one.t_started == 0 for one in every
            }
        return batch


class ConcaveGAE(VectorGAE):
    """Vector advantages, weighted for each episode with what the module's weights say."""

    def __init__(self, learner: Any, *, gamma: float, lambda_: float) -> None:
        super().__init__(
            gamma=gamma, lambda_=lambda_, scalarise=weighted_by(WEIGHTS), phantoms=False
        )
        self.learner = learner

    def __call__(
        self,
        *,
        rl_module: Any,
        batch: dict[str, Any],
        episodes: list[Any],
        shared_data: dict[str, Any] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Adds the weights, then all that the parent adds.

        Raises:
            HanseError: there is no omega; see `ModuleWeights.of_episodes`.
            KeyError: a batch has no vector rewards.
        """
        noted = (shared_data or {}).get(_WHOLE, {})
        every = list(self.single_agent_episode_iterator(episodes, agents_that_stepped_only=False))
        for module_id, columns in batch.items():
            own = [one for one in every if one.module_id in (None, module_id)]
            if self.column not in columns:
                raise KeyError(
                    f"module {module_id}: the batch has no column {self.column!r}: add a"
                    " ColumnFromInfo to learner_connector"
                )
            weights = self.learner.weights_of(str(module_id))
            self._weigh(columns, own, noted, weights, rl_module[module_id].is_stateful())
        return super().__call__(rl_module=rl_module, batch=batch, episodes=episodes, **options)

    def _weigh(
        self,
        columns: dict[str, Any],
        episodes: list[Any],
        noted: Mapping[int, bool],
        weights: ModuleWeights,
        stateful: bool,
    ) -> None:
        lengths = [len(one) for one in episodes]
        rewards = columns[self.column].detach().cpu().double().numpy()
        flat = unpad(rewards, lengths) if stateful else rewards
        pieces = np.split(flat, np.cumsum(lengths)[:-1])
        kind = weights.settings.returns
        # The last row of each episode is the step that was not taken.
        returns = np.stack([episode_return(piece[:-1], self.gamma, kind) for piece in pieces])
        whole = np.array([noted.get(id(one), False) for one in episodes])
        rows = np.repeat(weights.of_episodes(returns, whole), lengths, axis=0)
        if stateful:
            rows = pad(rows, lengths, rewards.shape[1])
        columns[WEIGHTS] = columns[self.column].new_tensor(rows)


class ConcavePPOMixin:
    """Concave PPO for a PPO torch learner; put it before that learner's class.

    Settings are keys of `learner_config_dict`, also per module; see
    :class:`policies.concave.settings.ConcaveSettings`. The loss replaces that of the parent, whose
    critic knows one value.
    """

    concave: dict[str, ModuleWeights]

    def build(self) -> None:
        """Builds the parent, the weights of every module, and the pieces of the pipeline.

        Raises:
            HanseError: a setting cannot be.
        """
        super().build()  # type: ignore[misc]
        config: Any = self.config  # type: ignore[attr-defined]
        self.concave = {}
        for module_id in self.module.keys():  # type: ignore[attr-defined] # noqa: SIM118
            self.weights_of(module_id)
        replace_gae(self, ConcaveGAE(self, gamma=config.gamma, lambda_=config.lambda_))
        self._learner_connector.prepend(NoteWholeEpisodes())  # type: ignore[attr-defined]

    def weights_of(self, module_id: str) -> ModuleWeights:
        """The weights of a module; made when it is first seen."""
        if module_id not in self.concave:
            config: Any = self.config  # type: ignore[attr-defined]
            given = dict(config.get_config_for_module(module_id).learner_config_dict)
            given.setdefault("concave_seed", config.seed or 0)
            settings = read_settings(given)
            if not settings.fresh and config.num_learners > 1:
                raise HanseError(
                    f"module {module_id}: {config.num_learners} learners would each measure omega"
                    ' on their own share of a rollout; set concave_source = "fresh", or'
                    " num_learners = 1"
                )
            self.concave[module_id] = ModuleWeights(settings)
        return self.concave[module_id]

    def remove_module(self, module_id: str, **options: Any) -> Any:
        """Forgets the module's weights, too."""
        self.concave.pop(module_id, None)
        return super().remove_module(module_id, **options)  # type: ignore[misc]

    def episodes_wanted(self) -> dict[str, tuple[int, int, int]]:
        """By module: fresh episodes for its next omega, the seed, and the measurement's number."""
        return {
            module_id: (weights.wanted(), weights.settings.seed, weights.number)
            for module_id, weights in self.concave.items()
        }

    def take_episodes(self, episodes: list[Any]) -> None:
        """Measures omega of every module that is measured with fresh episodes.

        Args:
            episodes: Whole ones, of RLlib, independent of each other; the return of a module is the
                mean over the agents that it plays in an episode.
        """
        pipeline = self._learner_connector  # type: ignore[attr-defined]
        readers = [piece for piece in pipeline.connectors if isinstance(piece, ColumnFromInfo)]
        found = [piece for piece in readers if piece.column == REWARDS]
        if not found:
            raise HanseError(
                f"learner_connector has no ColumnFromInfo({REWARDS!r}, ...), so that omega cannot"
                " be measured"
            )
        gamma = self.config.gamma  # type: ignore[attr-defined]
        for module_id, weights in self.concave.items():
            if weights.fresh:
                made = returns_of(episodes, module_id, found[0], gamma, weights.settings.returns)
                weights.take(made)

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> Tensor:
        """PPO's loss with the weighted advantages and M values."""
        entropy = self.entropy_coeff_schedulers_per_module[module_id].get_current_value()  # type: ignore[attr-defined]
        divergence = float(self.curr_kl_coeffs_per_module[module_id]) if config.use_kl_loss else 0.0  # type: ignore[attr-defined]
        total, parts = vector_ppo_loss(
            self.module[module_id].unwrapped(),  # type: ignore[attr-defined]
            batch,
            fwd_out,
            config=config,
            entropy=entropy,
            divergence=divergence,
        )
        logged = {
            POLICY_LOSS_KEY: parts["policy"],
            VF_LOSS_KEY: parts["value"],
            LEARNER_RESULTS_VF_LOSS_UNCLIPPED_KEY: parts["value_unclipped"],
            ENTROPY_KEY: parts["entropy"],
        }
        if "kl" in parts:
            logged[LEARNER_RESULTS_KL_KEY] = parts["kl"]
        self.metrics.log_dict(logged, key=module_id, window=1)  # type: ignore[attr-defined]
        return total

    def after_gradient_based_update(self, *, timesteps: dict[str, Any]) -> None:
        """Logs omega, levels drawn, episodes spent and prices, once per iteration."""
        super().after_gradient_based_update(timesteps=timesteps)  # type: ignore[misc]
        for module_id, weights in self.concave.items():
            for name, value in weights.figures().items():
                self.metrics.log_value((module_id, f"concave_{name}"), value, window=1)  # type: ignore[attr-defined]

    def get_state(self, components: Any = None, *, not_components: Any = None, **rest: Any) -> Any:
        """The parent's state and, unless it was not asked for, that of the weights."""
        state = super().get_state(components, not_components=not_components, **rest)  # type: ignore[misc]
        if self._check_component(STATE, components, not_components):  # type: ignore[attr-defined]
            state[STATE] = {name: weights.save() for name, weights in self.concave.items()}
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Takes a state back."""
        super().set_state(state)  # type: ignore[misc]
        for name, saved in state.get(STATE, {}).items():
            if name in self.module:  # type: ignore[attr-defined]
                self.weights_of(name).load(saved)


class ConcavePPOLearner(ConcavePPOMixin, PPOTorchLearner):  # type: ignore[misc]
    """PPO that raises a concave utility of several expected returns."""


def returns_of(
    episodes: list[Any], module_id: str, reader: ColumnFromInfo, gamma: float, kind: Any
) -> Array:
    """The vector returns of a module in whole episodes, (n, M)."""
    made = []
    for episode in episodes:
        agents = getattr(episode, "agent_episodes", None)
        own = [episode] if agents is None else list(agents.values())
        rows = []
        for one in own:
            if len(one) and one.module_id in (None, module_id):
                infos = one.get_infos(slice(1, len(one) + 1))
                rewards = np.array([reader._row(info, one) for info in infos], np.float64)
                rows.append(episode_return(rewards, gamma, kind))
        if rows:
            made.append(np.mean(rows, axis=0))
    return np.array(made).reshape(len(made), -1)

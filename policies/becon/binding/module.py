"""The RLModule: `policies.becon.network.Agent` as RLlib wants it.

With `window` 0 in the model configuration it has a state (the encoder's), batches are (B, T, ...),
and `max_seq_len` is how far gradients go back; otherwise it is stateless and each observation
holds the last `window` frames. Labels have no way in: `_forward` reads observations and state only.
"""

from __future__ import annotations

from typing import Any

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.distribution.torch.torch_distribution import (
    TorchCategorical,
    TorchMultiCategorical,
)
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import Tensor

from policies.becon.forms import restored
from policies.becon.network import Acted, Agent

ACTED = "acted"
"""Column of packed `Acted`: what a step was decided on."""
STATE = "h"


class BeconModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """A BECON agent, or one of its baselines.

    ``model_config``: what `policies.becon.forms.plain` gives, ``window`` (0: the module has a
    state) and ``max_seq_len``.
    """

    def setup(self) -> None:
        """Builds the networks; RLlib calls it.

        Raises:
            HanseError: the configuration is not one of `policies.becon.forms.plain`.
        """
        config: dict[str, Any] = dict(self.model_config)
        self.layout, form = restored(config)
        self.window = int(config.get("window", 0))
        self.agent = Agent(self.layout, form)

    def get_initial_state(self) -> Any:
        """The encoder's, before the first step; nothing for a stateless module."""
        if self.window:
            return {}
        return {STATE: self.agent.initial_state(1)[0].numpy()}

    def frames(self, batch: dict[str, Any]) -> tuple[Tensor, Tensor | None]:
        """Observations as sequences (B, T, D), and the state before each (None: there is none).

        Of a stateless module each observation is a sequence of its own, of which only the last
        frame counts.
        """
        x: Tensor = batch[Columns.OBS]
        if self.window:
            return x.reshape(-1, self.window, self.layout.width), None
        return x, batch[Columns.STATE_IN][STATE]

    def _forward(self, batch: dict[str, Any], **options: Any) -> dict[str, Any]:
        x, state = self.frames(batch)
        logits, acted, _, last = self.agent.act(x, state)
        packed = acted.packed()
        if self.window:
            return {Columns.ACTION_DIST_INPUTS: logits[:, -1], ACTED: packed[:, -1]}
        return {
            Columns.ACTION_DIST_INPUTS: logits,
            ACTED: packed,
            Columns.STATE_OUT: {STATE: last},
        }

    def _forward_train(self, batch: dict[str, Any], **options: Any) -> dict[str, Any]:
        """The policy in the context that was acted on; the estimator has losses of its own."""
        if ACTED not in batch:
            return self._forward(batch)
        x, acted = self.last_frame(batch), self.acted(batch)
        return {
            Columns.ACTION_DIST_INPUTS: self.agent.logits(x, acted.features),
            Columns.EMBEDDINGS: acted.plain,
        }

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Tensor:
        """What each objective and cost will come to: (N, K + 1), or (B, T, K + 1) with a state.

        Args:
            batch: With observations and, without embeddings, the state.
            embeddings: w_bar and d_bar (..., K + 1); None: they are estimated anew, as is right for
                the step that is appended to an episode and was never acted on.
        """
        if embeddings is None:
            x, state = self.frames(batch)
            with torch.no_grad():
                _, acted, _, _ = self.agent.act(x, state)
            embeddings = acted.plain[:, -1] if self.window else acted.plain
        return self.agent.values(self.last_frame(batch), embeddings)

    def last_frame(self, batch: dict[str, Any]) -> Tensor:
        """The present observation without those before it: (..., D)."""
        x: Tensor = batch[Columns.OBS]
        return x[..., -self.layout.width :]

    def acted(self, batch: dict[str, Any]) -> Acted:
        """What the steps of a batch were decided on."""
        return Acted.unpacked(batch[ACTED], self.layout.objectives)

    def get_train_action_dist_cls(self) -> Any:
        """One categorical distribution for each lever."""
        if len(self.layout.levels) == 1:
            return TorchCategorical
        return TorchMultiCategorical.get_partial_dist_cls(input_lens=list(self.layout.levels))

    get_exploration_action_dist_cls = get_train_action_dist_cls
    get_inference_action_dist_cls = get_train_action_dist_cls

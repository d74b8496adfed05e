"""RLlib's own PPO network with a value for every objective."""

from __future__ import annotations

from typing import Any

from ray.rllib.algorithms.ppo.ppo_catalog import PPOCatalog
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from torch import Tensor

from services.errors import HanseError


class VectorPPOCatalog(PPOCatalog):  # type: ignore[misc]
    """Its value head has as many outputs as `model_config["objectives"]` says."""

    def __init__(
        self, observation_space: Any, action_space: Any, model_config_dict: dict[str, Any]
    ) -> None:
        objectives = model_config_dict.get("objectives")
        if not isinstance(objectives, int) or objectives < 1:
            raise HanseError(
                f"model_config: 'objectives' must say how many there are, not {objectives!r}"
            )
        super().__init__(observation_space, action_space, model_config_dict)
        self.vf_head_config.output_layer_dim = objectives


class VectorPPOModule(DefaultPPOTorchRLModule):  # type: ignore[misc]
    """Any network that RLlib builds for PPO, recurrent ones included, with M values.

    ``model_config``: as RLlib's, and ``objectives``: M.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        options["catalog_class"] = VectorPPOCatalog
        super().__init__(*args, **options)

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Tensor:
        """The values of each observation, (..., M)."""
        # The parent squeezes the last axis away only if it has one entry.
        values: Tensor = super().compute_values(batch, embeddings)
        return values if self.model_config["objectives"] > 1 else values.unsqueeze(-1)

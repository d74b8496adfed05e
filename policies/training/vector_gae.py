"""Generalised advantage estimation for a vector of rewards, as a learner connector of RLlib.

RLlib's own piece knows one reward and one value per step. Here the module's `compute_values` may
answer K values per step, and the rewards are a column of the batch with K components:

    class VectorLearner(PPOTorchLearner):
        def build(self) -> None:
            super().build()
            replace_gae(self, VectorGAE(gamma=0.99, lambda_=0.95, scalarise=weighted_by("weights")))

    config.learners(
        learner_class=VectorLearner,
        learner_connector=lambda observations, actions: [
            ColumnFromInfo(REWARDS, lambda info: info["vector_reward"], width=3),
            ColumnFromInfo("weights", lambda info: info["preference"], width=3),
        ],
    )

The batch then holds `advantages` (one number per step: what the policy loss takes),
`vector_advantages` and `value_targets` (K per step: what the loss of the critic takes).

Generalised advantage estimation: arXiv 1506.02438, equation 16, for every component by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.connectors.learner import GeneralAdvantageEstimation
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI

REWARDS = "vector_rewards"
"""Column of the rewards, (N, K) or, for modules with a state, (B, T, K)."""
ADVANTAGES = "vector_advantages"
"""Column of the advantages of every component, shaped like the rewards."""
VALUES = "vector_values"
"""Column of the values that the advantages were computed with, shaped like the rewards."""

Array = NDArray[np.float64]
Scalarise = Callable[[Mapping[str, Any], Array], Array]
"""From a module's batch and the advantages (..., K) to one advantage per step (...)."""


def generalised_advantages(
    values: Array,
    rewards: Array,
    terminated: NDArray[np.bool_],
    truncated: NDArray[np.bool_],
    gamma: float,
    lambda_: float,
) -> Array:
    """Advantages of every step and component.

    Steps of several episodes follow each other; each episode ends with a step that was not taken
    and only carries the value of the last observation. The flags sit on the last step taken.

    Args:
        values: (N, K), of the observation before each step.
        rewards: (N, K).
        terminated: (N,), whether nothing follows this step.
        truncated: (N,), whether the recording ends with this step, although the world goes on.
        gamma: Discount per step.
        lambda_: Weight of later steps: 0 trusts the values alone, 1 the rewards alone.

    Returns:
        (N, K).
    """
    goes_on = (1.0 - terminated)[:, None]
    carries = goes_on * (1.0 - truncated)[:, None]
    following = np.concatenate([values[1:], np.zeros_like(values[:1])])
    surprise = rewards + gamma * goes_on * following - values
    advantages: Array = np.zeros_like(surprise)
    running = np.zeros(values.shape[1])
    for step in range(len(surprise) - 1, -1, -1):
        running = surprise[step] + gamma * lambda_ * carries[step] * running
        advantages[step] = running
    return advantages


def unpad(padded: NDArray[Any], lengths: Sequence[int]) -> NDArray[Any]:
    """Joins the rows of episodes that were cut into chunks and padded to one length.

    Args:
        padded: (B, T, ...); each episode begins a row of its own.
        lengths: Steps of each episode, in the order of the rows.

    Returns:
        (sum of lengths, ...).

    Raises:
        ValueError: the episodes do not take up just these rows.
    """
    chunk = padded.shape[1]
    needed = [-(-length // chunk) for length in lengths]
    if sum(needed) != len(padded):
        raise ValueError(
            f"episodes of {list(lengths)} steps take {sum(needed)} rows of {chunk} steps, but the"
            f" batch has {len(padded)}"
        )
    flat, row = [], 0
    for length, rows in zip(lengths, needed, strict=True):
        flat.append(padded[row : row + rows].reshape(-1, *padded.shape[2:])[:length])
        row += rows
    return np.concatenate(flat)


def pad(flat: NDArray[Any], lengths: Sequence[int], chunk: int) -> NDArray[Any]:
    """Cuts episodes into rows of one length, zeros at the end: the inverse of `unpad`."""
    rows, start = [], 0
    for length in lengths:
        count = -(-length // chunk)
        padded = np.zeros((count * chunk, *flat.shape[1:]), flat.dtype)
        padded[:length] = flat[start : start + length]
        rows.append(padded.reshape(count, chunk, *flat.shape[1:]))
        start += length
    return np.concatenate(rows)


def mean_of_components(batch: Mapping[str, Any], advantages: Array) -> Array:
    """All components count alike."""
    del batch
    mean: Array = advantages.mean(axis=-1)
    return mean


def weighted_by(column: str) -> Scalarise:
    """Components count by weights in a column of the batch, (..., K)."""

    def weighted(batch: Mapping[str, Any], advantages: Array) -> Array:
        weights = _numpy(batch[column])
        total: Array = (weights * advantages).sum(axis=-1)
        return total

    return weighted


class VectorGAE(ConnectorV2):  # type: ignore[misc]
    """The last piece of a learner's pipeline: K advantages and value targets per step.

    Put it in with `replace_gae`. A module whose `compute_values` answers one value per step (N,) is
    treated as K = 1; it gets what RLlib's own piece gives (and `rewards` serves as its reward, if
    the batch has no vector).

    Args:
        input_observation_space: Of the pipeline; not used.
        input_action_space: Of the pipeline; not used.
        gamma: Discount per step.
        lambda_: Weight of later steps.
        scalarise: What the policy loss takes for an advantage.
        column: Of the vector rewards.
        standardise: Whether scalar advantages get mean 0 and deviation 1.
        phantoms: Whether the steps that were not taken count for that mean and deviation. RLlib
            counts them, so this is the default; the loss ignores them either way.
    """

    def __init__(
        self,
        input_observation_space: Any = None,
        input_action_space: Any = None,
        *,
        gamma: float,
        lambda_: float,
        scalarise: Scalarise = mean_of_components,
        column: str = REWARDS,
        standardise: bool = True,
        phantoms: bool = True,
    ) -> None:
        super().__init__(input_observation_space, input_action_space)
        self.gamma = gamma
        self.lambda_ = lambda_
        self.scalarise = scalarise
        self.column = column
        self.standardise = standardise
        self.phantoms = phantoms

    def __call__(
        self, *, rl_module: Any, batch: dict[str, Any], episodes: list[Any], **kwargs: Any
    ) -> dict[str, Any]:
        """Adds the columns to the batch of every module that has values.

        Raises:
            KeyError: a batch has no vector rewards although the module has several values.
        """
        every = list(self.single_agent_episode_iterator(episodes, agents_that_stepped_only=False))
        for module_id, columns in batch.items():
            module = rl_module[module_id]
            if not isinstance(module.unwrapped(), ValueFunctionAPI):
                continue
            lengths = [len(one) for one in every if one.module_id in (None, module_id)]
            with torch.no_grad():
                predicted = module.compute_values(columns)
            self._add(columns, predicted, lengths, module.is_stateful(), str(module_id))
        return batch

    def _add(
        self,
        columns: dict[str, Any],
        predicted: torch.Tensor,
        lengths: list[int],
        stateful: bool,
        module_id: str,
    ) -> None:
        steps = columns[Columns.TERMINATEDS].shape
        scalar = tuple(predicted.shape) == tuple(steps)
        column = self.column if self.column in columns or not scalar else Columns.REWARDS
        if column not in columns:
            raise KeyError(
                f"module {module_id}: its values have {predicted.shape[-1]} components, but the"
                f" batch has no column {self.column!r}: add a ColumnFromInfo to learner_connector"
            )

        def flat(data: Any) -> NDArray[Any]:
            array = _numpy(data)
            return unpad(array, lengths) if stateful else array

        def shaped(array: NDArray[Any]) -> NDArray[Any]:
            return pad(array, lengths, steps[1]) if stateful else array

        values = flat(predicted).reshape(sum(lengths), -1)
        rewards = flat(columns[column]).reshape(sum(lengths), -1)
        if rewards.shape != values.shape:
            raise ValueError(
                f"module {module_id}: {values.shape[1]} values, but {rewards.shape[1]} rewards per"
                f" step (column {column!r}): compute_values and the rewards must have the same K"
            )
        advantages = generalised_advantages(
            values,
            rewards,
            flat(columns[Columns.TERMINATEDS]).astype(bool),
            flat(columns[Columns.TRUNCATEDS]).astype(bool),
            self.gamma,
            self.lambda_,
        )
        scalars = flat(self.scalarise(columns, shaped(advantages)))
        if self.standardise:
            counted = scalars
            if not self.phantoms:
                counted = scalars[flat(columns[Columns.LOSS_MASK]).astype(bool)]
            scalars = (scalars - counted.mean()) / max(1e-4, counted.std())
        targets = advantages + values
        if scalar:
            targets = targets[:, 0]
        else:
            columns[ADVANTAGES] = _tensor(shaped(advantages), predicted.device)
            columns[VALUES] = _tensor(shaped(values), predicted.device)
        columns[Columns.ADVANTAGES] = _tensor(shaped(scalars), predicted.device)
        columns[Columns.VALUE_TARGETS] = _tensor(shaped(targets), predicted.device)


class ColumnFromInfo(ConnectorV2):  # type: ignore[misc]
    """Puts what the environment says in `info` into a column of the train batch.

    Step i gets what `info` said after it. The step that PPO appends to carry the last value was not
    taken; its row is zeros. Goes into `config.learners(learner_connector=...)`.

    Args:
        column: Its name.
        read: From an `info` to a number or an array of `width` numbers.
        width: K; the column is (..., K) for every width, also 1.
        before: Whether step i gets what `info` said before it instead (a preference that the policy
            acted on, an action mask); the appended step then has a row, too.
    """

    def __init__(
        self,
        column: str,
        read: Callable[[Mapping[str, Any]], Any],
        *,
        width: int,
        before: bool = False,
    ) -> None:
        super().__init__()
        self.column = column
        self.read = read
        self.width = width
        self.before = before

    def __call__(
        self,
        *,
        rl_module: Any,
        batch: dict[str, Any],
        episodes: list[Any],
        shared_data: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Adds the column.

        Raises:
            KeyError: an `info` lacks what is read.
            ValueError: it has another number of components.
        """
        extended = bool((shared_data or {}).get("_added_loss_mask_for_valid_episode_ts"))
        for one in self.single_agent_episode_iterator(episodes, agents_that_stepped_only=False):
            length = len(one)
            taken = length - 1 if extended else length
            start, stop = (0, length) if self.before else (1, taken + 1)
            rows = np.zeros((length, self.width), np.float32)
            for step, info in enumerate(one.get_infos(slice(start, stop))):
                rows[step] = self._row(info, one)
            self.add_n_batch_items(batch, self.column, list(rows), length, one)
        return batch

    def _row(self, info: Mapping[str, Any], episode: Any) -> NDArray[np.float32]:
        try:
            row = np.asarray(self.read(info), np.float32).reshape(-1)
        except KeyError as missing:
            agent = episode.agent_id if episode.agent_id is not None else "the agent"
            raise KeyError(
                f"column {self.column!r}: the info of {agent} has no {missing}; it has"
                f" {sorted(info)}"
            ) from None
        if row.shape != (self.width,):
            raise ValueError(
                f"column {self.column!r}: {row.size} components in the info, but width is"
                f" {self.width}"
            )
        return row


def replace_gae(learner: Any, gae: VectorGAE) -> None:
    """Puts `gae` where a PPO learner has RLlib's own piece; call it at the end of `build`.

    Raises:
        ValueError: the learner's pipeline has no such piece.
    """
    pipeline = learner._learner_connector
    names = [type(piece) for piece in (pipeline.connectors if pipeline is not None else ())]
    if GeneralAdvantageEstimation not in names:
        raise ValueError("the learner has no advantage estimation to replace: is it a PPO learner?")
    place = names.index(GeneralAdvantageEstimation)
    pipeline.connectors[place] = gae


def _numpy(data: Any) -> NDArray[Any]:
    if isinstance(data, torch.Tensor):
        data = data.detach().cpu().numpy()
    array = np.asarray(data)
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _tensor(array: NDArray[Any], device: torch.device) -> torch.Tensor:
    return torch.as_tensor(array.astype(np.float32), device=device)

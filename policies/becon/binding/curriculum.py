"""Perfect descriptors early in training: the first steps are easier where the task is known.

Half of the episodes of the first 30 % of iterations show the true context (note, section 4), by
what the environment exposes; no truth reaches the module by any other way.
"""

from __future__ import annotations

from typing import Any

from ray.rllib.callbacks.callbacks import RLlibCallback

SHARE_OF_ITERATIONS, SHARE_OF_EPISODES = 0.3, 0.5


class Curriculum(RLlibCallback):  # type: ignore[misc]
    """Sets `perfect_share` of environments that have it.

    Use it with `functools.partial(Curriculum, iterations=80)` in ``config.callbacks``.

    Args:
        iterations: Of the whole training.
    """

    def __init__(self, iterations: int) -> None:
        super().__init__()
        self.until = SHARE_OF_ITERATIONS * iterations

    def on_algorithm_init(self, *, algorithm: Any, **rest: Any) -> None:
        """Before the first iteration, also of a training that is resumed."""
        self._set(algorithm)

    def on_train_result(self, *, algorithm: Any, **rest: Any) -> None:
        """After each iteration, for the next."""
        self._set(algorithm)

    def on_checkpoint_loaded(self, *, algorithm: Any, **rest: Any) -> None:
        """After a resumed training knows how far it has come."""
        self._set(algorithm)

    def _set(self, algorithm: Any) -> None:
        share = SHARE_OF_EPISODES if algorithm.iteration < self.until else 0.0

        def told(runner: Any) -> None:
            for env in getattr(runner.env.unwrapped, "envs", []):
                if env.has_wrapper_attr("perfect_share"):
                    env.set_wrapper_attr("perfect_share", share)

        algorithm.env_runner_group.foreach_env_runner(told)

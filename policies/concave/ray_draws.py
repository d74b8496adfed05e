"""Draws as Ray tasks, the largest first: a draw of 512 trajectories must not be begun last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from policies.concave.draws import Draw, Drawn, Seed, draw_part
from services.errors import HanseError


class RayDraws:
    """Draws parts as tasks on a Ray that runs; the same to the byte as in one process.

    Args:
        processors: What a task asks for.
    """

    def __init__(self, processors: float = 1.0) -> None:
        import ray

        if not ray.is_initialized():
            raise HanseError(
                "draws as Ray tasks need a Ray that runs: call ray.init() before, or draw in this"
                " process (policies.concave.draws.in_process)"
            )
        self._task: Any = ray.remote(num_cpus=processors)(draw_part)

    def __call__(
        self, draw: Draw[Drawn], sizes: Sequence[int], seeds: Sequence[Seed]
    ) -> list[Drawn]:
        """The parts, in the order they were asked for.

        Raises:
            HanseError: as the sampler's, or a worker died.
        """
        import ray

        shipped = ray.put(draw)
        pending: dict[int, Any] = {}
        for place in largest_first(sizes):
            pending[place] = self._task.remote(shipped, sizes[place], seeds[place])
        try:
            drawn: list[Drawn] = ray.get([pending[place] for place in range(len(sizes))])
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, HanseError):
                raise HanseError(str(error.cause)) from None
            raise
        except ray.exceptions.RayError as error:
            line = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise HanseError(f"a draw was lost: {line}; see `ray status`") from error
        return drawn


def largest_first(sizes: Sequence[int]) -> list[int]:
    """Places of the parts, by falling size; equal ones in their order."""
    return sorted(range(len(sizes)), key=lambda place: -sizes[place])

"""The oracle of level 2: what could be had by someone who knows (w, d) and the tables.

Where costs pile up, the best deal depends on what it leaves to be paid off later, so it is planned:
value iteration on a grid of backlogs for the safe utility (w . r, counted 0 above the budget),
under the belief that the context jumps with the known hazard to one of those in the batch.
"""

from __future__ import annotations

import numpy as np

from policies.environments.tradeoff_desk import Desks, DeskSettings, Tables


class Planner:
    """Best deals for M contexts.

    Args:
        settings: The desk.
        preference: (M, K).
        budget: (M,).
        cells: Of the grid of backlogs on 0..1.
        discount: Per step.
        sweeps: Of value iteration.
    """

    def __init__(
        self,
        settings: DeskSettings,
        preference: np.ndarray,
        budget: np.ndarray,
        cells: int = 21,
        discount: float = 0.95,
        sweeps: int = 60,
    ) -> None:
        tables, share = Tables.drawn(settings), settings.backlog_share
        self.settings, self.discount, self.cells = settings, discount, cells
        self.load = tables.cost
        self.worth = np.einsum("sak,mk->msa", tables.reward, preference)
        self.budget = budget
        grid = np.linspace(0.0, 1.0, cells)
        later = self._later(grid[None, None, :], self.load[..., None])
        cost = (1 - share) * self.load[..., None] + share * later
        self._place = later * (cells - 1)
        affordable = cost[None] <= budget[:, None, None, None]
        gained = np.where(affordable, self.worth[..., None], 0.0)
        low = np.minimum(self._place.astype(int), cells - 2)
        part = self._place - low
        self.ahead = np.zeros((len(budget), cells))
        """(M, cells): expected value of being left with a backlog, over situations and jumps."""
        for _ in range(sweeps):
            after = self.ahead[:, low] * (1 - part) + self.ahead[:, low + 1] * part
            best = (gained + discount * after).max(axis=2).mean(axis=1)
            stay = 1.0 - settings.hazard
            self.ahead = stay * best + settings.hazard * best.mean(axis=0, keepdims=True)

    def act(self, context: np.ndarray, state: np.ndarray, backlog: np.ndarray) -> np.ndarray:
        """The best deals.

        Args:
            context: int (N,), which of the M contexts holds.
            state: int (N,), the situation.
            backlog: (N,).

        Returns:
            int (N,).
        """
        load, share = self.load[state], self.settings.backlog_share
        later = self._later(backlog[:, None], load)
        cost = (1 - share) * load + share * later
        gained = np.where(cost <= self.budget[context][:, None], self.worth[context, state], 0.0)
        place = later * (self.cells - 1)
        low = np.minimum(place.astype(int), self.cells - 2)
        part = place - low
        ahead = self.ahead[context]
        rows = np.arange(len(state))[:, None]
        after = ahead[rows, low] * (1 - part) + ahead[rows, low + 1] * part
        return np.asarray((gained + self.discount * after).argmax(axis=1))

    def _later(self, backlog: np.ndarray, load: np.ndarray) -> np.ndarray:
        memory = self.settings.backlog_memory
        return memory * backlog + (1 - memory) * load


def oracle_utility(desks: Desks, seed: object) -> np.ndarray:
    """Safe utility (N, T) of the planner on the course that a seed brings.

    Args:
        desks: Reset by it, and left at the end of the episode.
        seed: As for `Desks.reset`.
    """
    desks.reset(seed)  # type: ignore[arg-type]
    course, steps = desks.course, desks.settings.length
    contexts = np.concatenate([course.preference, course.budget[..., None]], axis=-1)[:, :steps]
    distinct, index = np.unique(
        contexts.reshape(-1, contexts.shape[-1]), axis=0, return_inverse=True
    )
    planner = Planner(desks.settings, distinct[:, :-1], distinct[:, -1])
    which = index.reshape(desks.number, steps)
    gained = []
    while not desks.done:
        t, sight = desks.now, desks.sight()
        outcome = desks.step(planner.act(which[:, t], sight.state, sight.backlog))
        utility = (outcome.preference * outcome.reward).sum(axis=1)
        gained.append(np.where(outcome.cost > outcome.budget, 0.0, utility))
    return np.stack(gained, axis=1)

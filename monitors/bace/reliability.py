"""Would the same graph be found again? Test and retest on halves of the trials (note 4, 6)."""

from __future__ import annotations

import numpy as np

from monitors.bace.scores import spearman
from monitors.bace.signals import Recording, Refused

RELIABLE_FROM = 0.6
"""Spearman correlation of two halves' weights below which a graph is not published as a whole.
Where few drive many, the ranks of all the others are chance, however surely the few are found."""
CONTEXTS_PAY = 0.99
"""Share of the context-pooled fit's validation loss that a fit with contexts must stay below."""


def split_halves(recording: Recording, rng: np.random.Generator) -> tuple[Recording, Recording]:
    """Two recordings that share no trial; every context's trials are dealt out to both.

    A trial counts for the context in which most of its ticks lie.

    Raises:
        Refused: there is only one trial.
    """
    if len(recording.trials) < 2:
        raise Refused("one trial cannot be halved; cut it into blocks or record another")
    main = np.array([np.bincount(trial.context).argmax() for trial in recording])
    hands: tuple[list[int], list[int]] = ([], [])
    for context in np.unique(main):
        for place in rng.permutation(np.flatnonzero(main == context)):
            smaller = 0 if len(hands[0]) <= len(hands[1]) else 1
            hands[smaller].append(int(place))
    first, second = (recording.with_trials([recording.trials[p] for p in sorted(h)]) for h in hands)
    return first, second


def retest(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Spearman correlation of off-diagonal |A| of two fits (P, N, N), for each context: (P,)."""
    return np.array([spearman(a, b) for a, b in zip(first, second, strict=True)])


def contexts_pay(validation_loss: float, pooled_loss: float) -> bool:
    """Whether telling contexts apart forecasts better than not doing so.

    Labels that say nothing (wrong ones, or contexts in which the same graph holds) cost data and
    gain nothing, so that the fit is no better than one graph for all contexts.
    """
    return validation_loss < CONTEXTS_PAY * pooled_loss

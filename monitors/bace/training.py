"""Fitting the forecaster: the loss of note 3 step 5, Adam, early stopping; one seed, one result."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from monitors.bace.model import Forecaster, Form
from monitors.bace.windows import Windows


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How a model is fitted."""

    form: Form = field(default_factory=Form)
    epochs: int = 10
    """At most, if they have the least number of steps."""
    least_steps: int = 460
    """Steps of gradient descent for which little data is gone through more often (the pilot's ten
    epochs of 2944 windows). Weights hardly leave where they began otherwise."""
    patience: float = 0.5
    """Share of the epochs without a better validation loss after which fitting stops."""
    batch: int = 64
    learning_rate: float = 3e-3
    structure_learning_rate: float = 1e-2
    """Of S: the graph must be there before the rest begins to learn little data by heart."""
    weight_decay: float = 1e-4
    """On everything but S, which has a penalty of its own."""
    clip: float = 1.0
    """Most that the norm of a gradient may be."""
    sparsity: float = 4e-3
    """Weight of the L1 norm of A, mean over contexts."""
    continuity: float = 0.08
    """Weight of the error of the first prediction against the last observation."""
    velocity: float = 1.0
    """Weight of the error of the first step's difference."""
    curvature: float = 0.6
    """Weight of the error of second differences."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What was learned."""

    adjacency: np.ndarray
    """float64 (P, N, N), of the epoch with the best validation loss."""
    training_loss: tuple[float, ...]
    """By epoch: everything that is minimised."""
    validation_loss: tuple[float, ...]
    """By epoch: mean squared error of the forecasts."""
    seconds: float
    """CPU time."""
    weights: dict[str, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def best_validation_loss(self) -> float:
        """The smallest; NaN without validation windows."""
        return min(self.validation_loss, default=float("nan"))


def fit(
    training: Windows,
    validation: Windows,
    contexts: int,
    settings: FitSettings,
    seed: int,
    start: np.ndarray | None = None,
    on_epoch: Callable[[int], None] | None = None,
) -> Fit:
    """Fits a forecaster; the same arguments give the same result.

    Args:
        training: Windows to learn from.
        validation: Windows that decide when to stop; training goes on to the end if there are none.
        contexts: P; labels are 0..P-1.
        settings: How.
        seed: Of the initial weights, the dropout and the order of windows.
        start: float (P, N, N) to start S from.
        on_epoch: Called with the number of every finished epoch, from 1.

    Raises:
        ValueError: there are no training windows, or a label is outside 0..P-1.
    """
    if not len(training):
        raise ValueError("no training windows")
    for windows in (training, validation):
        if len(windows) and not 0 <= windows.context.min() <= windows.context.max() < contexts:
            raise ValueError(f"context labels must be 0 to {contexts - 1}")
    torch.set_num_threads(1)
    began = time.process_time()
    generator = torch.Generator().manual_seed(seed)
    _, regions, channels, _ = training.x.shape
    first = None if start is None else torch.as_tensor(start, dtype=torch.float32)
    model = Forecaster(regions, channels, contexts, settings.form, generator, first)
    optimiser = _optimiser(model, settings)
    x, y, context = _tensors(training)
    losses: list[float] = []
    errors: list[float] = []
    best = copy.deepcopy(model.state_dict())
    batches = -(-len(x) // settings.batch)
    epochs = max(settings.epochs, -(-settings.least_steps // batches))
    patience = max(1, round(settings.patience * epochs))
    for epoch in range(1, epochs + 1):
        model.train()
        total = 0.0
        for rows in torch.randperm(len(x), generator=generator).split(settings.batch):
            optimiser.zero_grad(set_to_none=True)
            loss = _loss(model, x[rows], y[rows], context[rows], settings)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
            optimiser.step()
            total += float(loss.detach()) * len(rows)
        losses.append(total / len(x))
        if len(validation):
            errors.append(_error(model, validation))
        if not errors or errors[-1] == min(errors):
            best = copy.deepcopy(model.state_dict())
        if on_epoch is not None:
            on_epoch(epoch)
        if errors and len(errors) - 1 - int(np.argmin(errors)) >= patience:
            break
    model.load_state_dict(best)
    with torch.no_grad():
        adjacency = model.adjacency().double().numpy().copy()
    weights = {name: value.numpy().copy() for name, value in model.state_dict().items()}
    return Fit(adjacency, tuple(losses), tuple(errors), time.process_time() - began, weights)


def forecast(fitted: Fit, windows: Windows, form: Form) -> np.ndarray:
    """What a fitted model forecasts: float32 (B, N, C, T_out)."""
    torch.set_num_threads(1)
    contexts = fitted.adjacency.shape[0]
    _, regions, channels, _ = windows.x.shape
    model = Forecaster(regions, channels, contexts, form, torch.Generator())
    model.load_state_dict({k: torch.as_tensor(v) for k, v in fitted.weights.items()})
    return np.asarray(_forecast(model, windows).numpy())


def mean_squared_error(fitted: Fit, windows: Windows, form: Form) -> float:
    """Of the forecasts, in z-scores squared; NaN without windows."""
    if not len(windows):
        return float("nan")
    return float(np.mean((forecast(fitted, windows, form) - windows.y) ** 2))


def _optimiser(model: Forecaster, settings: FitSettings) -> torch.optim.Optimizer:
    structure = [model.structure, model.gain]
    known = {id(each) for each in structure}
    others = [each for each in model.parameters() if id(each) not in known]
    return torch.optim.Adam(
        [
            {"params": others, "weight_decay": settings.weight_decay},
            {
                "params": structure,
                "weight_decay": 0.0,
                "lr": settings.structure_learning_rate,
            },
        ],
        lr=settings.learning_rate,
    )


def _loss(
    model: Forecaster, x: Tensor, y: Tensor, context: Tensor, settings: FitSettings
) -> Tensor:
    steps = y.shape[-1]
    made = model(x, context, steps)
    horizon = torch.logspace(0, np.log10(3.0), steps)
    loss = ((made - y) ** 2 * (horizon / horizon.mean())).mean()
    last = x[..., -1:]
    loss = loss + settings.continuity * ((made[..., :1] - last) ** 2).mean()
    first_step = (made[..., :1] - last) - (y[..., :1] - last)
    loss = loss + settings.velocity * (first_step**2).mean()
    if steps > 2:
        bend = made.diff(n=2, dim=-1) - y.diff(n=2, dim=-1)
        loss = loss + settings.curvature * (bend**2).mean()
    penalty: Tensor = model.adjacency().abs().sum(dim=(1, 2)).mean()
    if settings.form.normalised_rows:  # the norm of A is fixed there: it is S that is penalised
        penalty = (model.structure * model.off_diagonal).abs().sum(dim=(1, 2)).mean()
    return loss + settings.sparsity * penalty


def _forecast(model: Forecaster, windows: Windows) -> Tensor:
    model.eval()
    x, y, context = _tensors(windows)
    with torch.no_grad():
        parts = [
            model(x[rows], context[rows], y.shape[-1]) for rows in torch.arange(len(x)).split(512)
        ]
    return torch.cat(parts)


def _error(model: Forecaster, windows: Windows) -> float:
    made = _forecast(model, windows)
    return float(((made - torch.as_tensor(windows.y)) ** 2).mean())


def _tensors(windows: Windows) -> tuple[Tensor, Tensor, Tensor]:
    return (
        torch.as_tensor(windows.x),
        torch.as_tensor(windows.y),
        torch.as_tensor(windows.context),
    )

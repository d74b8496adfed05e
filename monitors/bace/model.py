"""The forecaster whose weights are the graph (arXiv 2510.20831, Section 3; note 3 and 4).

Every region has a GRU of its own over its past. What regions may know of each other passes through
one matrix per context, A^(p): into the encoded past by a graph projection, and into the forecast
by a decoder that moves the signals along the graph step by step. Forecasting well therefore needs
the right A. **A[i, j] is the influence of j on i**: the message to i is sum_j A_ij h_j.

All regions are computed at once by batched products; N is the leading axis of their weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

ROLL = 0.3
"""How far a decoder step moves the signal along the graph: y <- y + 0.3 A y."""
SLOPE = 0.1
"""Of the LeakyReLU of the graph projection."""


@dataclass(frozen=True, slots=True)
class Form:
    """The shape of the model. The defaults are our variant, `released` is the authors' form."""

    width: int = 16
    """Of each region's GRU."""
    time_width: int = 4
    """Of the learned code of the tick's place in the window."""
    projection: int = 16
    """Of the graph projection."""
    dropout: float = 0.1
    """On the attention."""
    normalised_rows: bool = False
    """Rows of A divided by their L1 norm, times a gain; their sum is then N, coupled or not."""
    roll_changes: bool = False
    """The decoder starts at zero and moves changes since the last observation along the graph."""


RELEASED = Form(normalised_rows=True, roll_changes=True)
"""The released form in the widths of our variant, so that the two can be compared."""


class RegionCells(nn.Module):  # type: ignore[misc]
    """A GRU cell for each region, computed together."""

    def __init__(self, regions: int, inputs: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        bound = 1 / math.sqrt(width)
        self.width = width
        self.of_input = _uniform(generator, bound, regions, inputs, 3 * width)
        self.of_state = _uniform(generator, bound, regions, width, 3 * width)
        self.input_bias = _uniform(generator, bound, regions, 1, 3 * width)
        self.state_bias = _uniform(generator, bound, regions, 1, 3 * width)

    def prepare(self, inputs: Tensor) -> Tensor:
        """Inputs (N, M, inputs) to their part of the gates (N, M, 3 width)."""
        return torch.baddbmm(self.input_bias, inputs, self.of_input)

    def step(self, prepared: Tensor, state: Tensor) -> Tensor:
        """One step: gates (N, B, 3 width) and state (N, B, width) to the next state."""
        gates = torch.baddbmm(self.state_bias, state, self.of_state)
        widths = (2 * self.width, self.width)
        (two, third), (two_more, third_more) = prepared.split(widths, -1), gates.split(widths, -1)
        reset, update = torch.sigmoid(two + two_more).chunk(2, -1)
        new = torch.tanh(third + reset * third_more)
        return new + update * (state - new)


class Forecaster(nn.Module):  # type: ignore[misc]
    """The whole model.

    Args:
        regions: N.
        channels: C.
        contexts: P.
        form: Its shape.
        generator: Draws the initial weights and the dropout; nothing else is random.
        start: float (P, N, N) to start S from, such as the correlations of each context; drawn
            from U(-0.1, 0.1) if None.
    """

    def __init__(
        self,
        regions: int,
        channels: int,
        contexts: int,
        form: Form,
        generator: torch.Generator,
        start: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.form = form
        self._generator = generator
        encoded = form.width + form.time_width
        self.encoder = RegionCells(regions, channels, form.width, generator)
        self.norm_scale = nn.Parameter(torch.ones(form.width))
        self.norm_shift = nn.Parameter(torch.zeros(form.width))
        self.time_weight = _uniform(generator, 1.0, form.time_width)
        self.time_bias = _uniform(generator, 1.0, form.time_width)
        self.structure = _uniform(generator, 0.1, contexts, regions, regions)
        if start is not None:
            self.structure.data.copy_(start)
        self.gain = nn.Parameter(torch.zeros(contexts, regions))
        bound = 1 / math.sqrt(encoded)
        self.own = _uniform(generator, bound, encoded, form.projection)
        self.neighbour = _uniform(generator, bound, encoded, form.projection)
        self.query = _uniform(generator, 1 / math.sqrt(form.width), form.width, form.projection)
        self.log_temperature = nn.Parameter(torch.tensor(0.5 * math.log(form.projection)))
        self.decoder = RegionCells(regions, form.projection + channels, form.width, generator)
        bound = 1 / math.sqrt(form.width)
        self.readout = _uniform(generator, bound, regions, form.width, channels)
        self.readout_bias = _uniform(generator, bound, regions, 1, channels)
        self.register_buffer("off_diagonal", 1.0 - torch.eye(regions))

    def adjacency(self) -> Tensor:
        """A (P, N, N), zero on the diagonal (note 3, step 2, or S itself in our variant)."""
        weights = self.structure * self.off_diagonal
        if not self.form.normalised_rows:
            return weights
        rows = weights.abs().sum(-1, keepdim=True).clamp_min(1e-8)
        gain = functional.softplus(self.gain)
        gain = weights.shape[-1] * gain / gain.sum(-1, keepdim=True)
        return gain[..., None] * weights / rows

    def forward(self, x: Tensor, context: Tensor, steps: int) -> Tensor:
        """Forecasts.

        Args:
            x: float32 (B, N, C, T_in), z-scores.
            context: int64 (B,).
            steps: T_out.

        Returns:
            float32 (B, N, C, T_out).
        """
        graph = self.adjacency()[context]
        states, last_state = self._encode(x)
        memory = self._project(states, graph)
        last = x[..., -1]
        y = torch.zeros_like(last) if self.form.roll_changes else last
        state = last_state
        forecasts = []
        for _ in range(steps):
            y = y + ROLL * torch.bmm(graph, y)
            inputs = torch.cat([self._attend(state, memory), y.transpose(0, 1)], dim=-1)
            state = self.decoder.step(self.decoder.prepare(inputs), state)
            change = torch.baddbmm(self.readout_bias, state, self.readout)
            y = y + change.transpose(0, 1)
            forecasts.append(last + y if self.form.roll_changes else y)
        return torch.stack(forecasts, dim=-1)

    def _encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(N, B, T, width + time width) and the last raw state (N, B, width)."""
        batch, regions, channels, ticks = x.shape
        inputs = x.permute(1, 3, 0, 2).reshape(regions, ticks * batch, channels)
        prepared = self.encoder.prepare(inputs).view(regions, ticks, batch, -1)
        # Taken apart at once: taken out one by one, each tick's gradient is as large as all.
        state = x.new_zeros(regions, batch, self.form.width)
        states = []
        for tick in prepared.unbind(1):
            state = self.encoder.step(tick, state)
            states.append(state)
        encoded = functional.layer_norm(
            torch.stack(states, dim=2), (self.form.width,), self.norm_scale, self.norm_shift
        )
        times = torch.arange(1, ticks + 1, dtype=x.dtype)[:, None] / ticks
        code = torch.tanh(times * self.time_weight + self.time_bias)
        code = code.expand(regions, batch, ticks, -1)
        return torch.cat([encoded, code], dim=-1), state

    def _project(self, states: Tensor, graph: Tensor) -> Tensor:
        """Z_i = LeakyReLU(W_self H_i + sum_j A_ij W_neigh H_j): (N, B, T, projection)."""
        regions, batch, ticks, _ = states.shape
        # Its largest singular value is 1, so that the scale of influence is A's alone.
        weight = self.neighbour / torch.linalg.matrix_norm(self.neighbour, ord=2)
        sent = (states @ weight).transpose(0, 1).reshape(batch, regions, -1)
        heard = torch.bmm(graph, sent).view(batch, regions, ticks, -1).transpose(0, 1)
        return functional.leaky_relu(states @ self.own + heard, SLOPE)

    def _attend(self, state: Tensor, memory: Tensor) -> Tensor:
        """What the decoder looks at: (N, B, projection)."""
        # Sums of products: a thousand products of tiny matrices would take three times as long.
        query = (state @ self.query)[..., None, :]
        scores = (memory * query).sum(-1) * torch.exp(-self.log_temperature)
        weights = torch.softmax(scores, dim=-1)
        if self.training and self.form.dropout:
            kept = torch.rand(weights.shape, generator=self._generator) >= self.form.dropout
            weights = weights * kept / (1 - self.form.dropout)
        return (weights[..., None] * memory).sum(-2)


def _uniform(generator: torch.Generator, bound: float, *shape: int) -> nn.Parameter:
    return nn.Parameter((2 * torch.rand(*shape, generator=generator) - 1) * bound)

"""From signals to windows: scaling with training statistics, gaps, contexts, shares of trials.

A window is T_in ticks to look at and T_out ticks to forecast. Its context is that of the ticks to
forecast, since it is they whom the context's graph must explain; a window whose forecast spans two
contexts belongs to none.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from monitors.bace.signals import (
    CONSTANT_BELOW,
    Recording,
    Refused,
    Trial,
)

MOST_SKIPPED = 0.2
"""Share of windows touching a gap above which a recording is refused."""
FEWEST_WINDOWS = 20
"""Training windows below which a context's graph is withheld."""


@dataclass(frozen=True, slots=True)
class Windowing:
    """How windows are cut; in ticks."""

    length_in: int = 16
    length_out: int = 4
    stride: int = 8

    @property
    def length(self) -> int:
        """Ticks of a whole window."""
        return self.length_in + self.length_out


@dataclass(frozen=True, slots=True)
class Windows:
    """What a model is trained on and tested with; all in z-scores."""

    x: np.ndarray
    """float32 (B, N, C, T_in)."""
    y: np.ndarray
    """float32 (B, N, C, T_out)."""
    context: np.ndarray
    """int64 (B,)."""
    skipped: int = 0
    """Windows left out because they touch a gap."""

    def __len__(self) -> int:
        return len(self.context)

    def of(self, context: int) -> Windows:
        """Those of one context."""
        mine = self.context == context
        return Windows(self.x[mine], self.y[mine], self.context[mine])

    def relabelled(self, context: np.ndarray) -> Windows:
        """The same windows under other labels."""
        return Windows(self.x, self.y, np.asarray(context, dtype=np.int64), self.skipped)


@dataclass(frozen=True, slots=True)
class Scaling:
    """Mean and standard deviation of every channel in every context, from training trials only.

    With a period of more than one tick each phase has a mean of its own, which takes a rhythm that
    all nodes share (the hours of a day) out of the signals. Every trial begins in phase 0.
    """

    mean: np.ndarray
    """float64 (P, period, N, C)."""
    deviation: np.ndarray
    """float64 (P, N, C); 1 where the channel is constant, so that nothing is divided by zero."""
    constant: np.ndarray
    """bool (P, N, C)."""

    @classmethod
    def of(cls, recording: Recording, period: int = 1) -> Scaling:
        """The statistics of a recording, tick by tick under the tick's own context."""
        shape = (len(recording.contexts), len(recording.nodes), len(recording.channels))
        mean, deviation = np.zeros((shape[0], period, *shape[1:])), np.zeros(shape)
        for context in range(shape[0]):
            squares, numbers = np.zeros(shape[1:]), np.zeros(shape[1:])
            for phase in range(period):
                parts = [
                    trial.values[:, :, phase::period][:, :, trial.context[phase::period] == context]
                    for trial in recording
                ]
                values = np.concatenate(parts, axis=2) if parts else np.zeros((*shape[1:], 0))
                there = ~np.isnan(values)
                number = there.sum(axis=2)
                centre = np.where(there, values, 0.0).sum(axis=2) / np.maximum(number, 1)
                mean[context, phase] = centre
                squares += (np.where(there, values - centre[:, :, None], 0.0) ** 2).sum(axis=2)
                numbers += number
            deviation[context] = np.sqrt(squares / np.maximum(numbers, 1))
        constant = deviation < CONSTANT_BELOW
        return cls(mean, np.where(constant, 1.0, deviation), constant)

    def apply(self, values: np.ndarray, context: int, start: int = 0) -> np.ndarray:
        """Values (N, C, T) of one context as z-scores; 0 throughout where constant.

        Args:
            values: What is scaled; NaN stays NaN.
            context: Whose statistics count.
            start: The first tick's place in its trial.
        """
        phases = (start + np.arange(values.shape[2])) % self.mean.shape[1]
        centre = np.moveaxis(self.mean[context][phases], 0, -1)
        scores = (values - centre) / self.deviation[context][:, :, None]
        return np.asarray(np.where(self.constant[context][:, :, None], 0.0 * scores, scores))


def cut(recording: Recording, windowing: Windowing, scaling: Scaling) -> Windows:
    """Cuts a recording into windows; those that touch a gap are skipped and counted."""
    xs: list[np.ndarray] = []
    ys: list[np.ndarray] = []
    labels: list[int] = []
    skipped = 0
    for trial in recording:
        gaps = np.isnan(trial.values).any(axis=(0, 1))
        for start in range(0, trial.length - windowing.length + 1, windowing.stride):
            middle, end = start + windowing.length_in, start + windowing.length
            context = int(trial.context[middle])
            if (trial.context[middle:end] != context).any():
                continue
            if gaps[start:end].any():
                skipped += 1
                continue
            scores = scaling.apply(trial.values[:, :, start:end], context, start)
            xs.append(scores[:, :, : windowing.length_in])
            ys.append(scores[:, :, windowing.length_in :])
            labels.append(context)
    shape = (0, len(recording.nodes), len(recording.channels))
    return Windows(
        np.array(xs, dtype=np.float32) if xs else np.zeros((*shape, windowing.length_in), "f4"),
        np.array(ys, dtype=np.float32) if ys else np.zeros((*shape, windowing.length_out), "f4"),
        np.array(labels, dtype=np.int64),
        skipped,
    )


@dataclass(frozen=True, slots=True)
class Shares:
    """How trials are shared out; what is left over is for the test."""

    training: float = 0.7
    validation: float = 0.15


def share_out(
    recording: Recording, shares: Shares, rng: np.random.Generator
) -> tuple[list[Trial], list[Trial], list[Trial]]:
    """Trials for training, validation and test, each context's trials shared alike.

    A trial counts for the context in which most of its ticks lie. As soon as a context has two
    trials one of them is for validation, and as soon as it has three one is for the test, unless
    the shares leave nothing for it.
    """
    training: list[Trial] = []
    validation: list[Trial] = []
    test: list[Trial] = []
    main = [int(np.bincount(trial.context).argmax()) for trial in recording]
    for context in sorted(set(main)):
        mine = [trial for trial, its in zip(recording, main, strict=True) if its == context]
        order = [mine[place] for place in rng.permutation(len(mine))]
        some = min(max(1, round(len(order) * shares.validation)), len(order) - 1)
        rest = 0
        if shares.training + shares.validation < 1 - 1e-9:
            rest = len(order) - some - round(len(order) * shares.training)
            rest = max(0, min(max(rest, 1), len(order) - some - 1))
        test += order[:rest]
        validation += order[rest : rest + some]
        training += order[rest + some :]
    return training, validation, test


@dataclass(frozen=True, slots=True)
class Prepared:
    """A recording made ready for fitting."""

    recording: Recording
    """Without the nodes that were dropped; training trials only."""
    scaling: Scaling
    training: Windows
    validation: Windows
    test: Windows
    dropped: tuple[str, ...] = ()
    """Nodes that do not move in any context."""
    insufficient: tuple[str, ...] = ()
    """Contexts with too few training windows."""
    notes: tuple[str, ...] = field(default=())

    @property
    def silent(self) -> np.ndarray:
        """Nodes none of whose channels moves in a context; bool (P, N)."""
        return np.asarray(self.scaling.constant.all(axis=2))


def prepare(
    recording: Recording,
    windowing: Windowing,
    rng: np.random.Generator,
    shares: Shares | None = None,
    period: int = 1,
) -> Prepared:
    """Shares the trials of a recording out, scales and cuts them.

    Args:
        recording: The signals.
        windowing: How windows are cut.
        rng: Deals out the trials.
        shares: How many of them are for what.
        period: Ticks of a rhythm that all nodes share; every trial must begin in phase 0.

    Raises:
        Refused: it has too many gaps, fewer than two of its nodes move, or no context has enough
            windows.
    """
    parts = share_out(recording, shares or Shares(), rng)
    train = recording.with_trials(parts[0])
    moving = (~Scaling.of(train, period).constant).any(axis=(0, 2))
    kept = [recording.nodes[place] for place in np.flatnonzero(moving)]
    if len(kept) < 2:
        raise Refused(f"only {len(kept)} of {len(recording.nodes)} nodes moves; two are needed")
    train = train.with_nodes(kept)
    scaling = Scaling.of(train, period)
    training, validation, test = (
        cut(recording.with_trials(part).with_nodes(kept), windowing, scaling) for part in parts
    )
    _refuse_gaps(training, validation, test)
    numbers = np.bincount(training.context, minlength=len(recording.contexts))
    insufficient = tuple(
        name for name, n in zip(recording.contexts, numbers, strict=True) if n < FEWEST_WINDOWS
    )
    if len(insufficient) == len(recording.contexts):
        raise Refused(
            f"too little data: no context has {FEWEST_WINDOWS} training windows of"
            f" {windowing.length} ticks ("
            + ", ".join(f"{c}: {n}" for c, n in zip(recording.contexts, numbers, strict=True))
            + f"); about {FEWEST_WINDOWS * windowing.stride + windowing.length} ticks of a context"
            " are needed for training"
        )
    dropped = tuple(node for node in recording.nodes if node not in kept)
    return Prepared(
        train, scaling, training, validation, test, dropped, insufficient, _notes(train, scaling)
    )


def _refuse_gaps(*parts: Windows) -> None:
    skipped = sum(part.skipped for part in parts)
    number = skipped + sum(map(len, parts))
    if skipped > MOST_SKIPPED * number:
        raise Refused(
            f"{skipped} of {number} windows touch a gap; at most {MOST_SKIPPED:.0%} may:"
            " leave out the nodes or channels with gaps"
        )


def _notes(recording: Recording, scaling: Scaling) -> tuple[str, ...]:
    return tuple(
        f"{node}/{channel} is constant in context {context}"
        for p, context in enumerate(recording.contexts)
        for n, node in enumerate(recording.nodes)
        for c, channel in enumerate(recording.channels)
        if scaling.constant[p, n, c]
    )

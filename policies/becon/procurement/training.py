"""How a purchasing policy is learned: on the league's economy, in four steps.

1. Leagues are explored by chance, and a network learns what holding levers comes to.
2. Leagues are played by what has been learned so far, on the filters' word or on the firm's;
   encoder and heads learn the true context from what was seen (`policies.becon.ensemble`).
3. Further leagues, played by the policy itself, calibrate the heads' variances,
4. and others fit the gates and what is known of the line's errors.

The levers are planned over a learned model, as the first desk study plans over known tables, and
not trained by PPO: that takes 327,680 steps a variant at the desk (80 iterations of 4096), and as
many days are 3,641 leagues of 90 days, for each variant anew. Exploring serves all variants, all
preferences and all purses at once, with 400 leagues, and what differs between variants is then the
source of their context alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from policies.becon.calibration import calibration
from policies.becon.ensemble import bootstrap, label_loss
from policies.becon.estimator import Estimator
from policies.becon.fitting import fit
from policies.becon.gates import Evidence, fit_gates
from policies.becon.line_error import fit_line_error
from policies.becon.observation import Layout
from policies.becon.procurement.artefact import Manifest, PurchasingPolicy, town_of, write
from policies.becon.procurement.buyer import BeconBuyer
from policies.becon.procurement.collecting import explored, league, watched
from policies.becon.procurement.forward import Networks, Source
from policies.becon.procurement.levers import described, encoded, layout
from policies.becon.procurement.settings import Settings
from policies.becon.procurement.values import Layers, Values
from policies.environments.tradeoff_desk import CORRUPTIONS
from policies.training.artefact import plain
from services.errors import HanseError

REGIMES = tuple(CORRUPTIONS)
"""Clean, moderate, severe, no feedback."""
FIRST_SEED = 1_000_000
"""Of the leagues that are learned from; those below 1000 are for judging."""


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training has made."""

    manifest: dict[str, Any]
    weights: dict[str, NDArray[Any]]
    seconds: float
    """CPU seconds."""

    @property
    def policy(self) -> PurchasingPolicy:
        """Ready to act."""
        return PurchasingPolicy(Manifest(**self.manifest, weights_sha256=""), self.weights)

    def write(self, folder: Path) -> None:
        """As a folder that a controller loads by its path."""
        told = {k: v for k, v in self.manifest.items() if k != "sees_and_sets"}
        write(folder, told, self.weights)


def train(
    settings: Settings | None = None, say: Callable[[str], None] = lambda line: None
) -> Trained:
    """Learns a purchasing policy; a function of the settings.

    Args:
        settings: The size.
        say: Is told how far it is.
    """
    settings = settings or Settings()
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    began = time.process_time()
    seeds = _Seeds(settings.seed)
    network, losses = train_values(settings, seeds)
    values = Values(_layers(network))
    say(
        f"values: {settings.explored} leagues explored, squared error"
        f" {losses[0]:.4f} to {losses[1]:.4f} on those that were left out"
    )
    estimator = Estimator(layout(), settings.form)
    learned = _episodes(estimator, values, settings, seeds, ("filter", "exposed"), settings.watched)
    found = train_estimator(estimator, learned, settings)
    number = len(REGIMES) * 2 * settings.watched
    say(f"belief: {number} leagues, loss {found[0]:.2f} to {found[-1]:.2f}")
    held_out = _evidence(estimator, values, settings, seeds, ("history",), settings.judged)
    estimator.calibration.copy_(
        calibration(
            torch.cat([each.truth - each.belief for each in held_out]),
            torch.cat([each.epistemic + each.aleatoric for each in held_out]),
        )
    )
    evidence = _evidence(
        estimator, values, settings, seeds, ("history", "exposed"), settings.judged
    )
    _fit(estimator, evidence, settings)
    # Once more, now with leagues that were played by the gates themselves.
    own = _evidence(estimator, values, settings, seeds, ("gated",), settings.judged)
    _fit(estimator, [_joined(*pair) for pair in zip(evidence, own, strict=True)], settings)
    say("gates: fitted")
    weights = {f"values.{name}": value for name, value in _arrays(network).items()}
    weights |= {f"estimator.{name}": value for name, value in _arrays(estimator).items()}
    seconds = time.process_time() - began
    setup = _setup(settings)
    manifest = {
        "name": f"becon-seed{settings.seed}",
        "kappa": settings.kappa,
        "sees_and_sets": plain(described()),
        "town": town_of(setup),
        "prior_scale": settings.form.ensemble.prior_scale,
        "hidden": list(settings.hidden),
        "training": plain(asdict(settings)),
        "versions": {name: version(name) for name in ("hanse", "numpy", "torch")},
        "metrics": {"value_error": losses[1], "belief_loss": found[-1], "cpu_seconds": seconds},
    }
    return Trained(manifest, weights, seconds)


def train_into(
    folder: Path, settings: Settings | None = None, say: Callable[[str], None] = lambda line: None
) -> None:
    """Learns a purchasing policy and writes it into a folder, which controllers load by its path.

    Args:
        folder: Made if it is not there; an older policy in it is replaced when the new one is done.
        settings: The size.
        say: Is told how far it is.
    """
    train(settings, say).write(folder)


class _Seeds:
    """Seeds of leagues, none twice, and far from those that are judged on."""

    def __init__(self, seed: int) -> None:
        self._next = FIRST_SEED * (1 + seed)

    def take(self, number: int) -> list[int]:
        taken = list(range(self._next, self._next + number))
        self._next += number
        return taken


def train_values(settings: Settings, seeds: _Seeds) -> tuple[nn.Module, tuple[float, float]]:
    """The network of values, and the squared error on leagues left out, before and after.

    Raises:
        HanseError: no levers were held for as long as the horizon, so there is nothing to learn.
    """
    explore = partial(explored, hold=settings.hold, horizon=settings.horizon, days=settings.days)
    aside = max(1, settings.explored // 10)
    held, left_out = explore(seeds.take(settings.explored - aside)), explore(seeds.take(aside))
    if not (len(held.worth) and len(left_out.worth)):
        raise HanseError(
            f"procurement: horizon: in {settings.explored} leagues of {settings.days} days no"
            f" levers were held for {settings.horizon} days; take a shorter horizon, more days, or"
            " more leagues (explored)"
        )
    x, y = _inputs(held.state, held.levels), torch.as_tensor(held.worth, dtype=torch.float32)
    x_out = _inputs(left_out.state, left_out.levels)
    y_out = torch.as_tensor(left_out.worth, dtype=torch.float32)
    network = _perceptron([x.shape[1], *settings.hidden, y.shape[1]])
    with torch.no_grad():
        network[-1].bias.copy_(y.mean(dim=0))
    generator = torch.Generator().manual_seed(settings.seed)

    def error() -> float:
        with torch.no_grad():
            return float(functional.mse_loss(network(x_out), y_out))

    def loss() -> Tensor:
        rows = torch.randint(len(x), (settings.value_batch,), generator=generator)
        size = sum((p**2).sum() for p in network.parameters())
        return functional.mse_loss(network(x[rows]), y[rows]) + settings.value_decay * size / 100

    before = error()
    fit(network, loss, steps=settings.value_updates, learning_rate=3e-3)
    fit(network, loss, steps=settings.value_updates // 3, learning_rate=3e-4)
    return network, (before, error())


def train_estimator(
    estimator: Estimator, episodes: Sequence[tuple[Tensor, Tensor]], settings: Settings
) -> list[float]:
    """Encoder and heads by the likelihood of the true context; the losses."""
    x = torch.cat([each[0] for each in episodes])
    truth = torch.cat([each[1] for each in episodes])
    learned = [*estimator.encoder.parameters(), *estimator.heads.parameters()]
    optimiser = torch.optim.Adam(learned, lr=settings.learning_rate)
    heads = settings.form.ensemble.heads
    # Which head learns from which league is settled once, or all would have seen all.
    weight = bootstrap(heads, len(x)).unsqueeze(-1)
    losses = []
    for update in range(settings.updates):
        optimiser.param_groups[0]["lr"] = settings.learning_rate * (
            1.0 - 0.9 * update / settings.updates
        )
        rows = torch.randperm(len(x))[: settings.sequences]
        estimate = estimator.estimate(x[rows], estimator.encode(x[rows])[0])
        loss = label_loss(estimate, truth[rows][..., :-1], truth[rows][..., -1], weight[:, rows])
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimiser.step()
        losses.append(float(loss.detach()))
    return losses


def _episodes(
    estimator: Estimator,
    values: Values,
    settings: Settings,
    seeds: _Seeds,
    sources: Sequence[Source],
    number: int,
) -> list[tuple[Tensor, Tensor]]:
    """For each regime the observations (N, T, D) and the truth (N, T, K + 1) of leagues."""
    networks = Networks(layout(), _arrays(estimator), settings.form.ensemble.prior_scale)

    def make(source: Source, where: Layout) -> BeconBuyer:
        return BeconBuyer(where, networks, values, source)

    found = []
    for regime in REGIMES:
        seen, truth = [], []
        for source in sources:
            for seed in seeds.take(number):
                x, days = watched(
                    league(seed, regime, settings.days),
                    partial(make, source),
                    settings.random_share,
                )
                seen.append(x)
                truth.append(days.truth)
        found.append(
            (
                torch.as_tensor(np.stack(seen)),
                torch.as_tensor(np.stack(truth), dtype=torch.float32),
            )
        )
    return found


def _evidence(
    estimator: Estimator,
    values: Values,
    settings: Settings,
    seeds: _Seeds,
    sources: Sequence[Source],
    number: int,
) -> list[Evidence]:
    """Days from which gates are fitted, regime by regime."""
    found = []
    for x, truth in _episodes(estimator, values, settings, seeds, sources, number):
        with torch.no_grad():
            estimate = estimator.estimate(x, estimator.encode(x)[0])
            evidence = estimator.evidence(x, estimate, truth)
        found.append(
            Evidence(*(getattr(evidence, name).flatten(0, 1) for name in Evidence.__slots__))
        )
    return found


def _joined(one: Evidence, other: Evidence) -> Evidence:
    return Evidence(
        *(torch.cat([getattr(one, name), getattr(other, name)]) for name in Evidence.__slots__)
    )


def _fit(estimator: Estimator, evidence: Sequence[Evidence], settings: Settings) -> None:
    fit_gates(estimator.gates, evidence, steps=settings.gate_updates)
    fit_line_error(estimator.line, evidence, steps=settings.line_updates)


def _inputs(state: NDArray[np.float64], levels: NDArray[np.int64]) -> Tensor:
    return torch.as_tensor(np.concatenate([state, encoded(levels)], axis=1), dtype=torch.float32)


def _perceptron(widths: Sequence[int]) -> nn.Sequential:
    parts: list[nn.Module] = []
    for place, (inputs, outputs) in enumerate(pairwise(widths)):
        parts += [nn.Tanh()] if place else []
        parts.append(nn.Linear(inputs, outputs))
    return nn.Sequential(*parts)


def _layers(network: nn.Module) -> Layers:
    arrays = [value.astype(np.float64) for value in _arrays(network).values()]
    return tuple(zip(arrays[::2], arrays[1::2], strict=True))


def _arrays(module: nn.Module) -> dict[str, NDArray[Any]]:
    return {name: value.detach().numpy().copy() for name, value in module.state_dict().items()}


def _setup(settings: Settings) -> Any:
    from actors.cast import Cast

    cast = Cast(league(FIRST_SEED, REGIMES[0], settings.days))
    return cast.setup(cast.towns[0])

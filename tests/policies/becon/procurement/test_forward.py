"""The estimator in numpy says what the estimator in torch says."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="BECON is trained with torch: make rl")

import torch

from policies.becon.ensemble import EnsembleForm
from policies.becon.estimator import Estimator, EstimatorForm
from policies.becon.procurement.forward import Networks, Source
from policies.becon.procurement.levers import layout

STEPS = 6


def estimator(source: Source, kappa: float) -> Estimator:
    torch.manual_seed(3)
    form = EstimatorForm(hidden=8, ensemble=EnsembleForm(heads=3), source=source, kappa=kappa)
    made = Estimator(layout(), form)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
        made.calibration.copy_(torch.tensor([1.5, 0.4]))
    return made


def observations() -> np.ndarray:
    """A few plausible days (T, D)."""
    rng, where = np.random.default_rng(0), layout()
    x = rng.uniform(0.05, 0.95, (STEPS, where.width)).astype(np.float32)
    for name in ("exposed", "belief"):
        part = x[:, where.part(name)]
        part[:, :3] /= part[:, :3].sum(axis=1, keepdims=True)
    return x


@pytest.mark.parametrize(
    ("source", "kappa"),
    [("gated", 0.0), ("gated", 0.7), ("history", 0.7), ("filter", 0.7), ("exposed", 0.0)],
)
def test_every_source_gives_the_same_context(source: Source, kappa: float) -> None:
    made = estimator(source, kappa)
    x = observations()
    with torch.no_grad():
        context, _, _ = made(torch.as_tensor(x)[None])
    arrays = {name: value.numpy() for name, value in made.state_dict().items()}
    networks = Networks(layout(), arrays, made.form.ensemble.prior_scale)
    state = np.zeros(networks.hidden)
    for step, row in enumerate(x.astype(np.float64)):
        state = networks.encode(row, state)
        found = networks.context(row, state, source, kappa)
        for mine, theirs in (
            (found.preference, context.preference),
            (found.budget, context.budget),
            (found.safe_budget, context.safe_budget),
            (found.gates, context.gates),
        ):
            np.testing.assert_allclose(mine, theirs[0, step].numpy(), atol=2e-5)
        np.testing.assert_allclose(
            found.epistemic, context.epistemic[0, step].numpy(), rtol=1e-3, atol=1e-6
        )


def test_a_gate_never_opens_when_the_belief_grows_uncertain() -> None:
    made = estimator("gated", 0.0)
    arrays = {name: value.numpy() for name, value in made.state_dict().items()}
    x = observations()[0].astype(np.float64)
    gates = []
    for factor in (0.1, 1.0, 10.0):
        arrays["calibration"] = np.full(2, factor)
        networks = Networks(layout(), arrays, made.form.ensemble.prior_scale)
        gates.append(networks.context(x, np.zeros(networks.hidden), "gated", 0.0).gates)
    assert (gates[0] > gates[1]).all()
    assert (gates[1] > gates[2]).all()

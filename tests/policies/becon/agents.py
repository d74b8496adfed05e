"""Small agents and batches, shared by the tests."""

import numpy as np
import torch

from policies.becon.ensemble import EnsembleForm
from policies.becon.estimator import EstimatorForm, Source
from policies.becon.losses import Sequences
from policies.becon.network import Agent, AgentForm, Pricing
from policies.becon.study.desk_watch import Watch, desk_layout
from policies.environments.tradeoff_desk import CORRUPTIONS, DeskSettings

LAYOUT = desk_layout(DeskSettings())


def small_form(
    source: Source = "gated", pricing: Pricing = "context", *, inferred: bool = False
) -> AgentForm:
    estimator = EstimatorForm(
        hidden=8, ensemble=EnsembleForm(heads=3, width=8, prior_width=4), source=source
    )
    return AgentForm(estimator, width=16, pricing=pricing, inferred=inferred)


def small_agent(form: AgentForm | None = None, seed: int = 0) -> Agent:
    torch.manual_seed(seed)
    return Agent(LAYOUT, form or small_form())


def observations(desks: int = 4, steps: int = 6, seed: int = 0) -> torch.Tensor:
    """What is seen of some desks at which everybody takes deal after deal: (desks, steps, D)."""
    watch = Watch(DeskSettings(), [CORRUPTIONS["moderate"]] * desks, ["jumps"] * desks)
    made = [watch.reset(seed)]
    for step in range(steps - 1):
        made.append(watch.step(np.full(desks, step + 1))[0])
    return torch.as_tensor(np.stack(made, axis=1))


def sequences(agent: Agent, *, padded: int = 0, filler: float = 0.0) -> Sequences:
    """A mini-batch of what an agent did; its last `padded` steps are padding full of `filler`."""
    x = observations()
    desks, steps = x.shape[:2]
    rng = torch.Generator().manual_seed(1)
    with torch.no_grad():
        logits, acted, _, _ = agent.act(x)
        actions = torch.multinomial(logits.softmax(-1).flatten(0, 1), 1, generator=rng)
        actions = actions.reshape(desks, steps, 1)
        logp = logits.log_softmax(-1).gather(-1, actions)[..., 0]
    k = LAYOUT.objectives
    truth = torch.rand(desks, steps, k + 1, generator=rng)
    truth[..., :k] /= truth[..., :k].sum(dim=-1, keepdim=True)
    outcome = torch.rand(desks, steps, k + 3, generator=rng)
    mask = torch.arange(steps).expand(desks, steps) < steps - padded

    def filled(values: torch.Tensor) -> torch.Tensor:
        values = values.clone()
        values[~mask] = filler
        return values

    return Sequences(
        x=x,
        state=agent.initial_state(desks),
        actions=actions,
        logp=filled(logp),
        acted=filled(acted.packed()),
        advantages=filled(torch.randn(desks, steps, generator=rng)),
        targets=filled(torch.randn(desks, steps, k + 1, generator=rng)),
        excess=filled(torch.randn(desks, steps, generator=rng)),
        truth=filled(truth),
        level=torch.arange(desks)[:, None].expand(desks, steps) % 2,
        mask=mask,
        head_weight=torch.ones(3, desks),
        outcome=filled(outcome),
    )

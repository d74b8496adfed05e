import pytest

pytest.importorskip("torch", reason="BECON needs torch: make rl")

import torch

from policies.becon.context import Context
from policies.becon.estimator import Estimator
from policies.becon.observation import Layout
from policies.becon.study.holding_back import KAPPA, as_noted, as_ours


@pytest.fixture
def contexts() -> tuple[Context, Context, Context]:
    """As trained, held back in the note's way, and in ours, of the same observations."""
    torch.manual_seed(0)
    layout = Layout(features=3, objectives=3, levels=(4,))
    trained = Estimator(layout)
    x = torch.rand(5, layout.width)
    made = [each(x.unsqueeze(1))[0] for each in (trained, as_noted(trained), as_ours(trained))]
    assert trained.form.kappa == 0.0
    return made[0], made[1], made[2]


def test_what_is_not_held_back_is_left_as_it_was_trained(
    contexts: tuple[Context, Context, Context],
) -> None:
    trained, *held_back = contexts
    for context in held_back:
        assert torch.equal(context.preference, trained.preference)
        assert torch.equal(context.plain(), trained.plain())
        assert torch.equal(context.variance, trained.variance)


def test_the_note_holds_back_by_the_gate_what_belief_does_not_know(
    contexts: tuple[Context, Context, Context],
) -> None:
    _, noted, _ = contexts
    deviation = (noted.epistemic + noted.aleatoric)[..., 1].sqrt()
    held = KAPPA * noted.gates[..., 1] * deviation
    assert torch.allclose(noted.safe_budget, (noted.budget - held).clamp(min=0.0))


def test_ours_holds_back_more_by_the_descriptor_s_error(
    contexts: tuple[Context, Context, Context],
) -> None:
    trained, noted, ours = contexts
    assert bool((ours.safe_budget < noted.safe_budget).all())
    assert bool((noted.safe_budget < trained.safe_budget).all())

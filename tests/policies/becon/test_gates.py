import math

import pytest

pytest.importorskip("torch", reason="BECON needs torch: make rl")

import torch
from hypothesis import given
from hypothesis import strategies as st

from policies.becon.gates import Evidence, Gates, fit_gates, fuse, gate_loss
from policies.becon.quality import QUALITIES

VARIANCE = st.floats(1e-5, 0.2)
QUALITY = st.lists(st.floats(-6, 6), min_size=len(QUALITIES), max_size=len(QUALITIES))


def gates(seed: int = 0) -> Gates:
    torch.manual_seed(seed)
    return Gates()


def evidence(
    steps: int, belief_error: float, exposed_error: float, jitter: float, seed: int = 0
) -> Evidence:
    """Steps at which belief and descriptor err by known amounts, on a line of known jitter."""
    rng = torch.Generator().manual_seed(seed)
    truth = torch.rand(steps, 3, generator=rng)
    return Evidence(
        quality=torch.tensor([[math.log(jitter), -2.0, 0.2, 0.5, -3.0, -3.0]]).expand(steps, 6),
        epistemic=torch.full((steps, 2), 1e-5),
        aleatoric=torch.full((steps, 2), belief_error**2),
        belief=truth + belief_error * torch.randn(steps, 3, generator=rng),
        exposed=truth + exposed_error * torch.randn(steps, 3, generator=rng),
        truth=truth,
    )


@given(st.integers(0, 20), QUALITY, VARIANCE, VARIANCE, st.floats(1.2, 10), st.floats(-3, 3))
def test_more_uncertainty_of_either_kind_always_closes_a_gate(
    seed: int, quality: list[float], epi: float, ale: float, times: float, steepness: float
) -> None:
    made = gates(seed).double()
    with torch.no_grad():
        made.steepness.fill_(steepness)
    q = torch.tensor(quality, dtype=torch.float64)
    e, a = (torch.full((2,), v, dtype=torch.float64) for v in (epi, ale))
    before = made(q, e, a)
    assert (made(q, times * e, a) < before).all()
    assert (made(q, e, times * a) < before).all()


def test_gates_lie_between_zero_and_one() -> None:
    made = gates()(torch.randn(50, 6), torch.rand(50, 2), torch.rand(50, 2))
    assert ((made > 0) & (made < 1)).all()


def test_an_alert_about_the_traffic_lowers_trust_in_the_descriptor() -> None:
    made, args = gates(), (torch.zeros(6), torch.full((2,), 0.01), torch.full((2,), 0.01))
    assert (made(*args, alert=torch.tensor(1.0)) > made(*args)).all()
    assert torch.equal(made(*args, alert=torch.tensor(0.0)), made(*args))


def test_an_open_gate_is_belief_and_a_closed_one_the_descriptor() -> None:
    belief, exposed = torch.tensor([0.1, 0.9, 0.3]), torch.tensor([0.5, 0.5, 0.7])
    assert torch.equal(fuse(torch.tensor([1.0, 1.0]), belief, exposed), belief)
    assert torch.equal(fuse(torch.tensor([0.0, 0.0]), belief, exposed), exposed)
    half = fuse(torch.tensor([0.5, 0.0]), belief, exposed)
    assert half.tolist() == pytest.approx([0.3, 0.7, 0.7])


def test_the_loss_is_the_sum_of_logarithms_of_the_errors_of_each_level() -> None:
    level = evidence(10, 0.1, 0.2, 0.1)
    made = gates()
    error = (
        fuse(made(level.quality, level.epistemic, level.aleatoric), level.belief, level.exposed)
        - level.truth
    ) ** 2
    by_hand = math.log(float(error[:, :2].sum(dim=1).mean().detach()) + 2e-3)
    by_hand += math.log(float(error[:, 2].mean().detach()) + 1e-3)
    assert float(gate_loss(made, [level]).detach()) == pytest.approx(by_hand, rel=1e-5)
    assert float(gate_loss(made, [level, level]).detach()) == pytest.approx(2 * by_hand, rel=1e-5)


def test_gates_learn_to_trust_the_nearer_one_on_each_line() -> None:
    clean = evidence(200, belief_error=0.2, exposed_error=0.01, jitter=1e-4)
    noisy = evidence(200, belief_error=0.1, exposed_error=0.6, jitter=0.3)
    made = gates()
    losses = fit_gates(made, [clean, noisy], steps=200)
    assert losses[-1] < losses[0]
    with torch.no_grad():
        of_clean = made(clean.quality, clean.epistemic, clean.aleatoric).mean(dim=0)
        of_noisy = made(noisy.quality, noisy.epistemic, noisy.aleatoric).mean(dim=0)
    assert (of_clean < 0.15).all()
    assert (of_noisy > 0.7).all()


def test_gates_do_not_teach_the_belief() -> None:
    level = evidence(5, 0.1, 0.1, 0.1)
    belief = level.belief.clone().requires_grad_()
    moving = Evidence(
        level.quality, level.epistemic, level.aleatoric, belief, level.exposed, level.truth
    )
    gate_loss(gates(), [moving]).backward()
    assert belief.grad is None


def test_fitting_to_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no recorded steps"):
        fit_gates(gates(), [])

import pytest

pytest.importorskip("torch", reason="BECON needs torch: make rl")

import torch

from policies.becon.calibration import calibration
from policies.becon.context import Context, conservative_budget
from policies.becon.line_error import LineError, fit_line_error
from tests.policies.becon.test_gates import evidence


def context(gate: float) -> Context:
    pair = torch.full((1, 2), 1.0)
    return Context(
        torch.tensor([[0.3, 0.7]]),
        torch.tensor([0.5]),
        torch.tensor([0.4]),
        gate * pair,
        0.01 * pair,
        0.03 * pair,
        0.25 * pair,
    )


def test_the_variance_of_the_fused_is_that_of_belief_and_descriptor_by_squared_shares() -> None:
    assert context(1.0).variance[0, 0] == pytest.approx(0.04)
    assert context(0.0).variance[0, 0] == pytest.approx(0.25)
    assert context(0.5).variance[0, 0] == pytest.approx(0.25 * 0.04 + 0.25 * 0.25)


def test_kappa_deviations_of_the_budget_are_held_back() -> None:
    safe = conservative_budget(torch.tensor([0.5]), torch.tensor([0.04]), 0.35)
    assert safe.tolist() == pytest.approx([0.5 - 0.35 * 0.2])


def test_no_budget_is_below_zero() -> None:
    assert conservative_budget(torch.tensor([0.1]), torch.tensor([1.0]), 0.35).tolist() == [0.0]


def test_a_policy_sees_preference_safe_budget_and_uncertainty() -> None:
    made = context(1.0).features()
    assert made.shape == (1, 5)
    assert made[0, :3].tolist() == pytest.approx([0.3, 0.7, 0.4])


def test_critic_and_multiplier_see_the_budget_itself() -> None:
    assert context(1.0).plain()[0].tolist() == pytest.approx([0.3, 0.7, 0.5])


def test_a_calibrated_interval_covers_four_times_of_five() -> None:
    error = 0.3 * torch.randn(20_000, 3, generator=torch.Generator().manual_seed(0))
    factors = calibration(error, torch.full((20_000, 2), 0.01))
    assert factors.tolist() == pytest.approx([9.0, 9.0], rel=0.05)


def test_calibration_without_steps_is_an_error() -> None:
    with pytest.raises(ValueError, match="no held-out steps"):
        calibration(torch.zeros(0, 3), torch.zeros(0, 2))


def test_the_error_of_a_line_is_told_from_its_quality() -> None:
    torch.manual_seed(0)
    line = LineError()
    clean, noisy = evidence(400, 0.1, 0.03, 1e-4), evidence(400, 0.1, 0.5, 0.3)
    fit_line_error(line, [clean, noisy], steps=150)
    with torch.no_grad():
        assert line(clean.quality).sqrt()[0].tolist() == pytest.approx([0.03, 0.03], rel=0.25)
        assert line(noisy.quality).sqrt()[0].tolist() == pytest.approx([0.5, 0.5], rel=0.25)

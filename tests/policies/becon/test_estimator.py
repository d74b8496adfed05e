import numpy as np
import pytest

pytest.importorskip("torch", reason="BECON needs torch: make rl")

import torch
from torch import Tensor

from policies.becon.estimator import Estimator, EstimatorForm, Source
from policies.becon.study.desk_watch import Watch, desk_layout
from policies.environments.tradeoff_desk import CORRUPTIONS, DeskSettings

LAYOUT = desk_layout(DeskSettings())


def observations(steps: int = 5) -> Tensor:
    watch = Watch(DeskSettings(), [CORRUPTIONS["moderate"]] * 4, ["jumps"] * 4)
    made = [watch.reset(0)]
    for step in range(steps - 1):
        made.append(watch.step(np.full(4, step + 1))[0])
    return torch.as_tensor(np.stack(made, axis=1))


def estimator(source: Source = "gated", kappa: float = 0.0) -> Estimator:
    torch.manual_seed(0)
    return Estimator(LAYOUT, EstimatorForm(hidden=8, source=source, kappa=kappa))


def test_exposed_takes_the_descriptor_as_it_is() -> None:
    x = observations()
    context, _, _ = estimator("exposed")(x)
    assert torch.equal(context.plain(), x[..., LAYOUT.part("exposed")])


def test_filter_takes_the_means_of_the_filters() -> None:
    x = observations()
    context, _, _ = estimator("filter")(x)
    belief = x[..., LAYOUT.part("belief")]
    assert torch.equal(context.preference, belief[..., :3])
    assert torch.equal(context.budget, belief[..., 6])


def test_history_takes_the_heads_with_open_gates() -> None:
    context, estimate, _ = estimator("history")(observations())
    assert estimate is not None
    assert torch.equal(context.preference, estimate.mean_preference)
    assert (context.gates == 1).all()


def test_fixed_weighs_all_objectives_alike_with_a_budget_of_one_half() -> None:
    context, _, _ = estimator("fixed")(observations())
    assert context.preference.unique().tolist() == pytest.approx([1 / 3])
    assert context.budget.unique().tolist() == [0.5]


def test_gated_lies_between_belief_and_descriptor() -> None:
    x = observations()
    context, estimate, _ = estimator()(x)
    assert estimate is not None
    ends = torch.stack([estimate.mean_budget, x[..., LAYOUT.part("exposed")][..., -1]])
    assert (context.budget <= ends.max(dim=0).values + 1e-6).all()
    assert (context.budget >= ends.min(dim=0).values - 1e-6).all()


def test_kappa_holds_back_part_of_the_budget_and_nothing_else() -> None:
    x = observations()
    bold, careful = estimator()(x)[0], estimator(kappa=0.35)(x)[0]
    assert torch.equal(bold.safe_budget, bold.budget)
    assert (careful.safe_budget < careful.budget).all()
    assert torch.equal(careful.budget, bold.budget)


def test_what_is_held_back_can_be_set_after_training() -> None:
    x, made = observations(), estimator()
    made.hold_back(0.35)
    assert torch.equal(made(x)[0].safe_budget, estimator(kappa=0.35)(x)[0].safe_budget)


def test_the_belief_does_not_depend_on_the_descriptor_unless_asked_to() -> None:
    x = observations()
    other = x.clone()
    other[..., LAYOUT.part("exposed")] = 0.123
    made = estimator()
    assert torch.equal(made(x)[1].preference, made(other)[1].preference)
    torch.manual_seed(0)
    seeing = Estimator(LAYOUT, EstimatorForm(hidden=8, belief_sees_exposed=True))
    assert not torch.equal(seeing(x)[1].preference, seeing(other)[1].preference)


def test_calibration_scales_both_uncertainties() -> None:
    x, made = observations(), estimator()
    before = made(x)[0]
    made.calibration.fill_(4.0)
    after = made(x)[0]
    assert torch.allclose(after.aleatoric, 4.0 * before.aleatoric)
    assert torch.allclose(after.epistemic, 4.0 * before.epistemic)


def test_calibration_is_saved_with_the_weights() -> None:
    assert "calibration" in estimator().state_dict()


def test_step_by_step_gives_what_the_whole_sequence_gives() -> None:
    x, made = observations(), estimator()
    whole, _, _ = made(x)
    state = None
    for step in range(x.shape[1]):
        context, _, state = made(x[:, step : step + 1], state)
        assert torch.allclose(context.preference[:, 0], whole.preference[:, step], atol=1e-6)

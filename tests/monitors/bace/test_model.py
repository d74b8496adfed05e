"""What may reach what inside the forecaster; gradients show it, so nothing needs to be trained."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="BACE needs torch: make torch")

from monitors.bace.model import RELEASED, Forecaster, Form  # noqa: E402

N, C, P, T = 4, 2, 3, 6


def forecaster(form: Form | None = None, seed: int = 0) -> Forecaster:
    model = Forecaster(N, C, P, form or Form(), torch.Generator().manual_seed(seed))
    model.eval()
    return model


def with_edges(*edges: tuple[int, int, int], form: Form | None = None) -> Forecaster:
    """A model whose graphs have just these edges: (context, target, source)."""
    model = forecaster(form)
    start = torch.zeros(P, N, N)
    for edge in edges:
        start[edge] = 1.0
    model.structure.data.copy_(start)
    return model


def reach(model: Forecaster, context: int) -> np.ndarray:
    """bool (N, N): [i, j] says whether any forecast of i depends on any past value of j."""
    torch.set_num_threads(1)
    x = torch.randn(1, N, C, T, generator=torch.Generator().manual_seed(1)).requires_grad_()
    made = model(x, torch.tensor([context]), 1)
    rows = []
    for target in range(N):
        (gradient,) = torch.autograd.grad(made[0, target].sum(), x, retain_graph=True)
        rows.append((gradient[0].abs().amax(dim=(1, 2)) > 0).numpy())
    return np.stack(rows)


def test_an_edge_in_row_i_and_column_j_lets_j_reach_i_and_nothing_else() -> None:
    expected = np.eye(N, dtype=bool)
    expected[1, 3] = True  # A[1, 3]: the influence of 3 on 1
    assert reach(with_edges((0, 1, 3)), 0).tolist() == expected.tolist()


def test_without_edges_every_region_forecasts_from_itself_alone() -> None:
    assert reach(with_edges(), 0).tolist() == np.eye(N, dtype=bool).tolist()


def test_over_several_steps_influence_travels_along_the_graph() -> None:
    model = with_edges((0, 1, 2), (0, 2, 3))  # 3 -> 2 -> 1
    x = torch.randn(1, N, C, T, generator=torch.Generator().manual_seed(1)).requires_grad_()
    made = model(x, torch.tensor([0]), 2)
    by_step = [
        float(
            torch.autograd.grad(made[0, 1, :, s].sum(), x, retain_graph=True)[0][0, 3].abs().sum()
        )
        for s in (0, 1)
    ]
    assert by_step[0] == 0 < by_step[1]


def test_a_window_is_forecast_by_the_graph_of_its_own_context() -> None:
    model = with_edges((0, 1, 3), (2, 0, 2))
    for context, edge in ((0, (1, 3)), (1, None), (2, (0, 2))):
        expected = np.eye(N, dtype=bool)
        if edge is not None:
            expected[edge] = True
        assert reach(model, context).tolist() == expected.tolist()


def test_contexts_in_one_batch_do_not_mix() -> None:
    model = forecaster()
    x = torch.randn(3, N, C, T, generator=torch.Generator().manual_seed(1))
    together = model(x, torch.tensor([0, 1, 2]), 2)
    alone = torch.cat([model(x[p : p + 1], torch.tensor([p]), 2) for p in range(3)])
    assert torch.allclose(together, alone, atol=1e-6)


def test_only_the_graph_of_the_window_s_context_learns_from_it() -> None:
    model = forecaster()
    model(torch.ones(1, N, C, T), torch.tensor([1]), 2).sum().backward()
    learns = model.structure.grad.abs().sum(dim=(1, 2)) > 0
    assert learns.tolist() == [False, True, False]


@pytest.mark.parametrize("form", [Form(), RELEASED], ids=["ours", "released"])
def test_the_diagonal_is_zero_and_stays_so(form: Form) -> None:
    model = forecaster(form)
    assert not torch.diagonal(model.adjacency(), dim1=1, dim2=2).any()
    model(torch.ones(2, N, C, T), torch.tensor([0, 1]), 2).sum().backward()
    assert not torch.diagonal(model.structure.grad, dim1=1, dim2=2).any()


def test_our_variant_can_say_that_there_are_no_edges() -> None:
    assert not with_edges().adjacency().any()


def test_the_released_form_always_shows_the_same_mass_whatever_the_weights_are() -> None:
    model = forecaster(RELEASED)  # note 3, defect (d)
    for scale in (1.0, 1e-3):
        model.structure.data.mul_(scale)
        assert model.adjacency().abs().sum(dim=(1, 2)).tolist() == pytest.approx([N] * P, rel=1e-4)


def test_the_neighbours_weight_has_spectral_norm_1_so_that_scale_is_the_graphs_alone() -> None:
    model = with_edges((0, 1, 3))
    x = torch.randn(1, N, C, T, generator=torch.Generator().manual_seed(1))
    before = model(x, torch.tensor([0]), 2)
    model.neighbour.data.mul_(50.0)
    assert torch.allclose(model(x, torch.tensor([0]), 2), before, atol=1e-5)


def test_our_decoder_rolls_the_signal_and_the_released_one_its_changes() -> None:
    # With a silent read-out one step of ours is y + 0.3 A y; the released one stays where it is.
    x = torch.randn(1, N, C, T, generator=torch.Generator().manual_seed(1))
    last = x[..., -1]
    for form in (Form(), Form(roll_changes=True)):
        model = with_edges((0, 1, 3), form=form)
        model.readout.data.zero_()
        model.readout_bias.data.zero_()
        expected = last.clone()
        if not form.roll_changes:
            expected[0, 1] += 0.3 * last[0, 3]
        assert torch.allclose(model(x, torch.tensor([0]), 1)[..., 0], expected, atol=1e-6)


def test_a_forecast_has_the_shape_that_was_asked_for() -> None:
    made = forecaster()(torch.zeros(5, N, C, T), torch.zeros(5, dtype=torch.int64), 7)
    assert made.shape == (5, N, C, 7)


def test_initial_weights_follow_from_the_generator_and_touch_no_global_one() -> None:
    state = torch.get_rng_state()
    first, again, other = (forecaster(seed=s).state_dict() for s in (4, 4, 5))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["structure"], other["structure"])
    assert torch.equal(torch.get_rng_state(), state)

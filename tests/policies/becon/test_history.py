import pytest

pytest.importorskip("torch", reason="BECON needs torch: make rl")

import torch

from policies.becon.history import HistoryEncoder


def test_step_by_step_gives_what_the_whole_sequence_gives() -> None:
    torch.manual_seed(0)
    encoder, x = HistoryEncoder(4, 8), torch.randn(3, 6, 4)
    whole, last = encoder(x)
    state = encoder.initial_state(3)
    for step in range(6):
        encoded, state = encoder(x[:, step : step + 1], state)
        assert torch.allclose(encoded[:, 0], whole[:, step], atol=1e-6)
    assert torch.allclose(state, last, atol=1e-6)


def test_no_state_is_the_initial_state() -> None:
    encoder, x = HistoryEncoder(4, 8), torch.randn(2, 3, 4)
    assert torch.equal(encoder(x)[0], encoder(x, encoder.initial_state(2))[0])


def test_a_window_is_encoded_by_its_last_step() -> None:
    encoder, x = HistoryEncoder(4, 8), torch.randn(2, 5, 3, 4)
    made = encoder.window(x)
    assert made.shape == (2, 5, 8)
    assert torch.allclose(made[1, 2], encoder(x[1, 2].unsqueeze(0))[0][0, -1], atol=1e-6)

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="learning needs torch and RLlib: make rl")

from policies.chain.rows import ReplayRows, RolloutRows  # noqa: E402


def rollout(count: int, masked: set[int] = frozenset()) -> dict[str, Any]:  # type: ignore[assignment]
    numbers = torch.arange(count)
    mask = torch.tensor([n not in masked for n in range(count)])
    return {"obs": numbers.float(), "state_in": {"h": numbers}, "loss_mask": mask, "infos": [{}]}


@given(st.integers(1, 40), st.integers(1, 12), st.integers(0, 5))
def test_rows_stay_whole_and_none_comes_twice_before_all_came(
    count: int, size: int, seed: int
) -> None:
    rows = RolloutRows(seed)
    rows.replace(rollout(count))
    seen: list[int] = []
    for _ in range(count // size):
        drawn = rows.draw(size)
        assert drawn["obs"].long().tolist() == drawn["state_in"]["h"].tolist()
        seen += drawn["state_in"]["h"].tolist()
    assert len(seen) == len(set(seen))


def test_steps_that_were_not_taken_are_never_drawn() -> None:
    rows = RolloutRows(0)
    rows.replace(rollout(10, masked={3, 9}))
    drawn = {int(n) for _ in range(9) for n in rows.draw(4)["obs"]}
    assert drawn == set(range(10)) - {3, 9}


def test_chunks_count_if_any_of_their_steps_is_real() -> None:
    rows = RolloutRows(0)
    mask = torch.tensor([[True, False], [False, False], [True, True]])
    rows.replace({"obs": torch.arange(6.0).reshape(3, 2), "loss_mask": mask})
    assert len(rows) == 2
    assert rows.draw(9)["obs"][:, 0].sort().values.tolist() == [0.0, 4.0]


def test_a_rollout_without_a_real_step_has_no_rows() -> None:
    rows = RolloutRows(0)
    rows.replace(rollout(3, masked={0, 1, 2}))
    assert len(rows) == 0


def test_drawing_leaves_the_global_generator_alone() -> None:
    rows = RolloutRows(0)
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    rows.replace(rollout(10))
    rows.draw(5)
    assert torch.equal(torch.rand(3), expected)


def test_what_is_drawn_follows_from_the_seed_and_goes_on_after_a_save() -> None:
    one, two, other = RolloutRows(1), RolloutRows(1), RolloutRows(2)
    for rows in (one, two, other):
        rows.replace(rollout(50))
    first = one.draw(20)["obs"]
    assert torch.equal(first, two.draw(20)["obs"])
    assert not torch.equal(first, other.draw(20)["obs"])
    other.load(one.save())
    for rows in (one, other):
        rows.replace(rollout(50))
    assert torch.equal(one.draw(20)["obs"], other.draw(20)["obs"])


def test_a_replay_sample_is_drawn_from_only_when_two_came_after_it() -> None:
    rows = ReplayRows(0, kept=3)
    seen = []
    for n in range(8):
        rows.replace({"obs": torch.full((4,), float(n))})
        if len(rows):
            drawn = {float(rows.draw(4)["obs"][0]) for _ in range(40)}
            seen.append(drawn)
            assert max(drawn) == n - 2
    assert len(seen) == 6
    assert seen[-1] == {3.0, 4.0, 5.0}


def test_as_many_rows_as_there_are() -> None:
    rows = ReplayRows(0)
    for _ in range(3):
        rows.replace({"obs": torch.zeros(4, 2)})
    assert rows.draw(2)["obs"].shape == (2, 2)
    assert rows.draw(9)["obs"].shape == (4, 2)

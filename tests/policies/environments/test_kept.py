"""A function that remembers its last answer is asked anew about anything else."""

from __future__ import annotations

from policies.environments.kept import Kept


def test_it_is_asked_once_while_the_thing_is_the_same() -> None:
    asked: list[list[int]] = []

    def total(numbers: list[int]) -> int:
        asked.append(numbers)
        return sum(numbers)

    kept = Kept(total)
    one, same = [1, 2], [1, 2]
    assert [kept(one), kept(one), kept(same), kept(one)] == [3, 3, 3, 3]
    assert [x is one for x in asked] == [True, False, True]


def test_a_failed_answer_is_not_remembered() -> None:
    kept: Kept[int, float] = Kept(lambda n: 1 / n)
    assert kept(2) == 0.5
    for _ in range(2):
        try:
            kept(0)
        except ZeroDivisionError:
            continue
        raise AssertionError("it answered")
    assert kept(2) == 0.5

"""What is wrong with hosts is said with the host and the remedy."""

from __future__ import annotations

from typing import Any

import pytest

from services.cluster import asking
from services.cluster.checks import ASPECTS, CLOCK_SECONDS, Facts, findings
from services.cluster.on_head import Head
from services.errors import HanseError

PACKAGES = {"ray": "2.60.0", "numpy": "2.4.6"}


def facts(**changes: Any) -> Facts:
    fine = Facts("h", "3.11", PACKAGES, True, True, {"/tmp": 10**10}, 0.0, [])
    return fine._replace(**changes)


def test_hosts_that_are_alike_have_no_problem() -> None:
    assert findings({"a": facts(), "b": facts()}, "a", "2.60.0") == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"python": "3.12"}, "b: has Python 3.12, a has 3.11"),
        ({"packages": {**PACKAGES, "ray": "2.59.0"}}, "b: has ray 2.59.0, this machine has 2.60.0"),
        ({"packages": {**PACKAGES, "numpy": "2.3.0"}}, "b: has numpy 2.3.0, a has 2.4.6"),
        ({"packages": {**PACKAGES, "numpy": ""}}, "b: numpy not installed"),
        ({"rsync": False}, "b: rsync is not installed"),
        ({"resolves": False, "name": "hb"}, "b: does not find the address of its own name hb"),
        ({"disk": {"/tmp": 10**8}}, "b: its disk is full: 100 MB free in /tmp"),
        ({"clock": 300.0}, "b: its clock is 300 s ahead"),
        ({"clock": -300.0}, "b: its clock is 300 s behind"),
    ],
)
def test_a_host_that_is_not_as_it_should_be_is_the_only_one_named(
    changes: dict[str, Any], said: str
) -> None:
    [finding] = findings({"a": facts(), "b": facts(**changes)}, "a", "2.60.0")
    assert str(finding).startswith(said)
    assert finding.remedy
    assert finding.aspect in ASPECTS


def test_others_are_compared_with_each_other_when_the_head_says_nothing() -> None:
    [finding] = findings({"b": facts(), "c": facts(python="3.12")}, "a", "2.60.0")
    assert str(finding).startswith("c: has Python 3.12, b has 3.11")


def test_a_slow_answer_is_not_taken_for_a_wrong_clock() -> None:
    answer = {**facts()._asdict(), "clock": 1000.0}
    slow = Facts.parse(answer, asked=1000.0, answered=1000.0 + 3 * CLOCK_SECONDS)
    assert slow.clock == 0.0
    quick = Facts.parse(answer, asked=1300.0, answered=1301.0)
    assert quick.clock == pytest.approx(-300.5)


@pytest.mark.parametrize("answer", [{}, [], 5, {"clock": "x"}])
def test_facts_that_are_none_are_one_line_that_names_the_host(
    monkeypatch: pytest.MonkeyPatch, head: Head, answer: Any
) -> None:
    monkeypatch.setattr(asking, "on_host", lambda *_: answer)
    with pytest.raises(HanseError, match=r"^h2: its answer is not what was asked for; "):
        asking.ask(head.ssh, "h2")


def test_of_a_full_disk_is_told_whatever_the_other_hosts_say(
    monkeypatch: pytest.MonkeyPatch, head: Head
) -> None:
    told = {"h1": facts(python="3.12"), "h2": facts(disk={"/tmp": 10**6})}
    monkeypatch.setattr(asking, "ask_all", lambda ssh, hosts: (told, ["h3: does not answer"]))
    [line] = asking.full_disks(head.cluster, head.ssh)
    assert line == "h2: its disk is full: 1 MB free in /tmp, needs 300; free some there"

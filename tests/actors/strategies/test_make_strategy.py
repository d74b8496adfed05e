"""A firm's strategy by name: ours, module:Class or path.py:Class; or a line that says why not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.strategies import STRATEGIES, make_strategy
from actors.strategies.passive import Passive
from services.errors import HanseError

OWN = """
from actors.strategies import DailyPlan, Plan
from services.economy.commands import ViewListings


class Patient(DailyPlan):
    def __init__(self, firm, role, patience=3, **options):
        super().__init__(firm, role, **options)
        if patience < 0:
            raise ValueError("patience must not be negative:\\n  a virtue")
        self.patience = patience

    def day(self) -> Plan:
        yield ViewListings()


class Unrelated:
    def __init__(self, firm, role):
        pass


a_number = 7
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to be in, with a strategy file of one's own; what is imported is forgotten again."""
    (tmp_path / "own_strategy.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def make(name: str, role: str = "roaster", **options: Any) -> Any:
    return make_strategy(name, "roaster_A", role, options, "run.toml")


def complaint(name: str, **options: Any) -> str:
    with pytest.raises(HanseError) as error:
        make(name, **options)
    message = str(error.value)
    assert "\n" not in message
    assert message.startswith("run.toml: firms.roaster_A.")
    return message


@pytest.mark.parametrize("name", sorted(set(STRATEGIES) - {"managed"}))
def test_ours_are_made_by_name_and_trusted(name: str) -> None:
    strategy = make(name)
    assert (strategy.firm, strategy.role, strategy.untrusted) == ("roaster_A", "roaster", False)


def test_options_are_handed_to_the_strategy() -> None:
    assert make("heuristic", markup=2.0).markup == 2.0


@pytest.mark.parametrize("name", ["own_strategy:Patient", "own_strategy.py:Patient"])
def test_ones_own_is_found_by_module_or_by_file_and_watched(here: Path, name: str) -> None:
    strategy = make(name, patience=5)
    assert (type(strategy).__name__, strategy.patience) == ("Patient", 5)
    assert strategy.untrusted


def test_a_file_may_be_named_by_its_whole_path_and_is_loaded_once(here: Path) -> None:
    whole = f"{here / 'own_strategy.py'}:Patient"
    assert type(make(whole)) is type(make("own_strategy.py:Patient"))


def test_trusting_ones_own_class_does_not_spread_to_ours(here: Path) -> None:
    make("own_strategy:Patient")
    assert not Passive("farmer_A", "farmer").untrusted


def test_an_unknown_name_is_told_what_there_is() -> None:
    message = complaint("clever")
    assert "firms.roaster_A.strategy: unknown strategy 'clever'" in message
    assert all(name in message for name in STRATEGIES)
    assert "module:Class or path.py:Class" in message


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no_such_module:Patient", "No module named 'no_such_module'"),
        ("no/such/file.py:Patient", "there is no file"),
        ("broken.py:Patient", "SyntaxError"),
        ("missing.py:Patient", "No module named 'telepathy'"),
        ("missing:Patient", "No module named 'telepathy'"),
        ("leaving.py:Patient", "SystemExit"),
    ],
)
def test_what_cannot_be_imported_is_named_with_the_reason(here: Path, name: str, why: str) -> None:
    (here / "broken.py").write_text("class Patient(:\n")
    (here / "missing.py").write_text("import telepathy\n")
    (here / "leaving.py").write_text("raise SystemExit(1)\n")
    message = complaint(name)
    assert "cannot be imported" in message and why in message
    assert "broken" not in name or "line 1" in message


def test_a_class_that_is_not_there_is_answered_with_those_that_are(here: Path) -> None:
    message = complaint("own_strategy.py:Patent")
    assert "own_strategy.py has no class 'Patent'; its strategies: Patient" in message
    (here / "empty.py").write_text("")
    assert "its strategies: none" in complaint("empty.py:Patient")
    assert "has no class 'a_number'" in complaint("own_strategy.py:a_number")


def test_a_class_that_is_no_strategy_is_refused(here: Path) -> None:
    message = complaint("own_strategy.py:Unrelated")
    assert "is a Unrelated, not a Strategy; derive it from" in message


def test_options_that_do_not_fit_are_refused(here: Path) -> None:
    name = "own_strategy.py:Patient"
    assert "strategy Patient has no option speed" in complaint(name, speed=3)
    assert "patience must not be negative: a virtue" in complaint(name, patience=-1)
    assert complaint("passive", speed=3).startswith("run.toml: firms.roaster_A.options: ")


def test_a_strategy_for_another_role_says_so() -> None:
    assert "is a roaster" in complaint_for("farmer", "repaired")
    assert "only a roaster" in complaint_for("retailer", "importing")


def complaint_for(role: str, name: str) -> str:
    with pytest.raises(HanseError) as error:
        make(name, role)
    return str(error.value)


def test_purchasing_can_only_be_handed_to_a_controller_that_is_named() -> None:
    assert "name the controller" in complaint("managed")
    assert make("managed", controller="buyer").controller == "buyer"

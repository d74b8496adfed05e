"""A firm's strategy by name: ours, module:Class or path.py:Class; or a line that says why not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.strategies import STRATEGIES, make_strategy
from actors.strategies.passive import Passive
from services import messages
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
        ("ending.py:Patient", "GeneratorExit"),
    ],
)
def test_what_cannot_be_imported_is_named_with_the_reason(here: Path, name: str, why: str) -> None:
    (here / "broken.py").write_text("class Patient(:\n")
    (here / "missing.py").write_text("import telepathy\n")
    (here / "leaving.py").write_text("raise SystemExit(1)\n")
    (here / "ending.py").write_text("raise GeneratorExit\n")
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


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("importing", {"max_price": "a"}, "max_price: input should be a valid number, got 'a'"),
        ("importing", {"order_kg": 1.5}, "order_kg: input should be a valid integer, got 1.5"),
        ("random", {"spice": True}, "spice: input should be a valid number, got True"),
        ("heuristic", {"markup": [2.0]}, "markup: input should be a valid number, got [2.0]"),
        ("scripted", {"asks": 5}, "asks: input should be a valid dictionary, got 5"),
        ("scripted", {"asks": {"tea": "x"}}, "asks.tea: input should be a valid number, got 'x'"),
        # what a strategy hands on to the one that it extends
        ("importing", {"asks": 5}, "asks: input should be a valid dictionary, got 5"),
        ("managed", {"controller": 5}, "controller: input should be a valid string, got 5"),
        ("human", {"read": "x"}, "read: input should be callable, got 'x'"),
    ],
)
def test_options_of_ours_must_have_the_right_type(
    name: str, options: dict[str, Any], why: str
) -> None:
    assert complaint(name, **options) == (
        f"run.toml: firms.roaster_A.options: strategy {name!r} cannot be made: {why}"
    )


def test_a_whole_number_will_do_where_a_number_is_asked_for() -> None:
    assert make("importing", max_price=4, asks={"roasted_coffee_kg": 9}).max_price == 4


@pytest.mark.parametrize("error", ["SystemExit(4)", "GeneratorExit", "BaseException('x')"])
def test_a_strategy_that_ends_the_program_when_it_is_made_is_refused(
    here: Path, error: str
) -> None:
    (here / "rude.py").write_text(
        "from actors.strategies import Strategy\n"
        "class Rude(Strategy):\n"
        f"    def __init__(self, firm, role): raise {error}\n"
    )
    assert f"cannot be made: {error.partition('(')[0]}" in complaint("rude.py:Rude")


def test_a_strategy_that_cannot_be_marked_is_refused(here: Path) -> None:
    (here / "stiff.py").write_text(
        "from actors.strategies import Strategy\n"
        "class Stiff(Strategy):\n"
        "    untrusted = property(lambda self: False)\n"
    )
    assert "'untrusted'" in complaint("stiff.py:Stiff")


SHARED = """
from typing import Literal
from actors.strategies import Strategy
from services.messages import Payload


class Rumour(Payload):
    type: Literal["rumour_of_the_loading_test"] = "rumour_of_the_loading_test"


class Gossip(Strategy):
    pass
"""
NEIGHBOUR = """
from shared import Gossip, Rumour


class Louder(Gossip):
    rumour = Rumour
"""


@pytest.fixture
def elsewhere(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that nobody is in, with two files, one of which imports the other by its name."""
    # As in a new process: a payload of the test before would count as another of its name.
    monkeypatch.setattr(messages, "_REGISTRY", dict(messages._REGISTRY))
    folder = here / "elsewhere"
    folder.mkdir()
    (folder / "shared.py").write_text(SHARED)
    (folder / "louder.py").write_text(NEIGHBOUR)
    return folder


@pytest.mark.parametrize("first", ["shared.py:Gossip", "louder.py:Louder"])
def test_a_file_may_import_the_one_beside_it_and_each_is_loaded_once(
    elsewhere: Path, first: str
) -> None:
    path = list(sys.path)
    make(f"{elsewhere}/{first}")
    gossip = make(f"{elsewhere}/shared.py:Gossip")
    louder = make(f"{elsewhere}/louder.py:Louder")
    assert isinstance(louder, type(gossip))
    assert sys.path == path


@pytest.mark.parametrize("names", [("shared.py", "shared"), ("shared", "shared.py")])
def test_a_file_and_its_module_are_one(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, str]
) -> None:
    monkeypatch.chdir(elsewhere)
    first, second = (type(make(f"{name}:Gossip")) for name in names)
    assert first is second
    assert isinstance(make("louder:Louder"), first)


def test_two_files_of_one_name_are_two(elsewhere: Path) -> None:
    other = elsewhere.parent / "other"
    other.mkdir()
    (other / "shared.py").write_text("from actors.strategies import Strategy as Gossip\nRumour = 1")
    (other / "louder.py").write_text(NEIGHBOUR)
    make(f"{elsewhere}/shared.py:Gossip")
    make(f"{other}/shared.py:Gossip")
    assert make(f"{other}/louder.py:Louder").rumour == 1
    assert make(f"{elsewhere}/louder.py:Louder").rumour != 1


def test_a_file_named_like_a_module_of_python_does_not_take_its_place(here: Path) -> None:
    import random

    (here / "random.py").write_text(OWN)
    (here / "user.py").write_text("import random\n" + OWN)
    make("random.py:Patient")
    user = make("user.py:Patient")
    assert sys.modules[type(user).__module__].random is random

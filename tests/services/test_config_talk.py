"""The tables [talk] and [[injections]] of a run file."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.config import RunConfig, TalkConfig, load
from services.errors import HanseError

LEAGUE = '[generate]\nfirms = 12\ntowns = 2\nstrategy = "informed"\n'
ATTACK = '[[injections]]\nkind = "price_rumour"\nday = 8\n'


def write(folder: Path, text: str) -> Path:
    file = folder / "run.toml"
    file.write_text(text)
    return file


def complaint(folder: Path, text: str) -> str:
    with pytest.raises(HanseError) as error:
        load(write(folder, text))
    message = str(error.value)
    assert message.startswith(f"{folder / 'run.toml'}: ") and "\n" not in message
    return message.removeprefix(f"{folder / 'run.toml'}: ")


def test_an_injection_needs_its_kind_and_day_alone(tmp_path: Path) -> None:
    (injection,) = load(write(tmp_path, LEAGUE + ATTACK)).injections
    assert (injection.kind, injection.day, injection.hour) == ("price_rumour", 8, 9)
    assert (injection.hours, injection.origin, injection.options) == (None, None, {})


def test_ones_own_injection_is_meant_relative_to_the_run_file(tmp_path: Path) -> None:
    config = load(write(tmp_path, LEAGUE + ATTACK.replace("price_rumour", "mine.py:Mine")))
    assert config.injections[0].kind == f"{(tmp_path / 'mine.py').as_posix()}:Mine"


def test_talk_and_injections_survive_the_way_through_json(tmp_path: Path) -> None:
    config = load(write(tmp_path, LEAGUE + "[talk]\nrate = 2\n" + ATTACK))
    assert RunConfig.parse(config.dump(), "again") == config
    assert config.talk == TalkConfig(rate=2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            LEAGUE + ATTACK.replace("price_rumour", "price_rumor"),
            "injections[1].kind: 'price_rumor' is not a known injection"
            " (did you mean 'price_rumour'?); allowed: price_rumour, corrupted_memory,",
        ),
        (
            LEAGUE + ATTACK + "[[injections]]\nkind = 'mixed'\nday = 90\n",
            "injections[2].day: day 90 is not in this run; allowed: 0 to 89",
        ),
        (
            LEAGUE + "[[injections]]\nkind = 'mixed'\n",
            "injections[1].day: is missing; give it a value",
        ),
        (
            LEAGUE + ATTACK + "hour = 24\n",
            "injections[1].hour: 24 does not fit; allowed: a whole number from 0 to 23",
        ),
        (
            LEAGUE + ATTACK + "options = { factor = nan }\n",
            "injections[1].options.factor: nan does not fit; allowed: a finite number",
        ),
        (
            LEAGUE + "[talk]\ntrust = 2\n",
            "talk.trust: 2 does not fit; allowed: a number from 0 to 1",
        ),
        (LEAGUE + "[talk]\nboard = true\n", "talk.board: 'board' is not a known key (did you mean"),
        (
            ATTACK,
            'injections: nobody talks in this league; set a firm\'s strategy to "informed"',
        ),
        (
            "[generate]\nfirms = 6\n[talk]\n",
            'talk: nobody talks in this league; set generate.strategy to "informed"',
        ),
    ],
)
def test_a_mistake_is_named_with_its_key_and_the_remedy(
    tmp_path: Path, text: str, expected: str
) -> None:
    assert complaint(tmp_path, text).startswith(expected)

"""Every code with which a command is refused is explained in a sentence."""

import re
from pathlib import Path

import services.economy
from services.economy.refusals import REFUSALS

CODE = re.compile(r'Refusal\(\s*"([a-z_]+)"')


def test_each_code_that_the_rules_use_has_a_sentence() -> None:
    folder = Path(services.economy.__file__).parent
    used = {code for file in folder.glob("*.py") for code in CODE.findall(file.read_text())}
    assert len(used) > 30
    statuses = {"accepted", "rejected", "withdrawn", "expired"}
    assert used | {f"offer_{status}" for status in statuses} == set(REFUSALS)


def test_a_sentence_fits_behind_a_colon() -> None:
    for sentence in REFUSALS.values():
        assert sentence[0].islower() and not sentence.endswith(".")

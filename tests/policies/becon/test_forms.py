import json

import pytest

pytest.importorskip("torch", reason="BECON needs torch: make rl")

from policies.becon.forms import plain, restored
from policies.becon.observation import Layout
from policies.becon.variants import VARIANTS
from services.errors import HanseError

LAYOUT = Layout(features=4, objectives=3, levels=(2, 5), masked=True)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_survives_a_way_through_json(name: str) -> None:
    form = VARIANTS[name].form
    assert restored(json.loads(json.dumps(plain(LAYOUT, form)))) == (LAYOUT, form)


def test_an_unknown_key_is_named_with_what_is_allowed() -> None:
    told = plain(LAYOUT, VARIANTS["becon"].form)
    told["form"]["estimator"]["hiden"] = 3
    with pytest.raises(HanseError, match="estimator: there is no 'hiden'; allowed: belief_sees"):
        restored(told)


def test_the_note_s_baselines_are_all_there() -> None:
    assert set(VARIANTS) == {
        "oracle",
        "exposed",
        "history",
        "filter",
        "fixed",
        "unconstrained",
        "inferred",
        "lagrangian",
        "becon",
    }


def test_only_the_oracle_is_told_the_truth() -> None:
    assert [name for name, variant in VARIANTS.items() if variant.told_truth] == ["oracle"]
